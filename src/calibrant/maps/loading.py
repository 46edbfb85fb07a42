"""One reader for saved maps of every kind."""

import numpy as np

from calibrant._files import AnyPath
from calibrant.errors import ModelFileError
from calibrant.maps.base import FrozenMap
from calibrant.maps.files import read_model, reading
from calibrant.maps.matrix import MatrixMap
from calibrant.maps.panel import PanelMap
from calibrant.maps.score import CalibrationMap
from calibrant.maps.segments import SegmentedMap

KINDS: dict[str, type[FrozenMap]] = {cls.kind: cls for cls in (CalibrationMap, MatrixMap, SegmentedMap, PanelMap)}


def load(path: AnyPath) -> FrozenMap:
    """Read a saved map and check that it still computes what it computed when it was saved.

    Loading runs no code from the file. A file that is damaged, cut short, of another program, or of a newer
    version raises `ModelFileError`. The checksum notices damage; it is not a signature.

    Returns
    -------
    CalibrationMap, MatrixMap, SegmentedMap or PanelMap
        With intervals and draws where a Bayesian calibrator saved it with its posterior.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from calibrant import PlattScaling, load
    >>> calibrator = PlattScaling().fit([0.1, 0.4, 0.6, 0.9], [0, 1, 0, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "map.json"
    ...     calibrator.save(path)
    ...     load(path) == calibrator.map_
    True
    """
    document = read_model(path)
    cls = KINDS.get(document.get("kind", ""))
    if cls is None:
        raise ModelFileError(f"{path} holds a map of the kind {document.get('kind')!r}; known are {', '.join(KINDS)}.")
    with reading(path):
        map_, vector = cls.from_dict(document["map"]), document["test_vector"]
        now, then = map_.replay(vector), np.asarray(vector["probabilities"], dtype=np.float64)
        difference = float(np.abs(now - then).max()) if now.shape == then.shape else np.inf
        if "posterior" in document:
            map_ = map_.with_posterior(document["posterior"])
    if not difference <= map_.tolerance:
        raise ModelFileError(
            f"{path} gives other probabilities here than where it was saved (difference {difference:.2g}). "
            "Do not use it; save the model again with this version."
        )
    return map_
