"""One reader for all saved maps: of two classes, of several, and of segments."""

from __future__ import annotations

from calibrant._files import AnyPath
from calibrant.maps import matrix, score, segments
from calibrant.maps.files import read_model, read_part, restore
from calibrant.maps.matrix import MatrixMap
from calibrant.maps.posterior_table import PosteriorTable
from calibrant.maps.score import CalibrationMap, PosteriorMap
from calibrant.maps.segments import SegmentedMap, restore_segments

__all__ = ["load"]

VERSIONS = {one.FORMAT: one.VERSION for one in (score, matrix, segments)}


def load(path: AnyPath) -> CalibrationMap | MatrixMap | SegmentedMap:
    """Read a saved map and check that it still computes what it computed when it was saved.

    Loading runs no code from the file. A file that is damaged, cut short, of another program, or of a newer
    version raises `ModelFileError`. The checksum notices damage; it is not a signature.

    Returns
    -------
    CalibrationMap; a PosteriorMap where a Bayesian calibrator saved the file with its posterior; a MatrixMap or
    SegmentedMap where a calibrator of several classes or of segments did

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
    document = read_model(path, VERSIONS)
    if document["format"] == matrix.FORMAT:
        return restore(MatrixMap.from_dict, document, path, matrix.REPLAY_TOLERANCE)
    if document["format"] == segments.FORMAT:
        return restore_segments(document, path)
    map_ = restore(CalibrationMap.from_dict, document, path, score.REPLAY_TOLERANCE)
    if "posterior" not in document:
        return map_
    table = read_part(PosteriorTable.from_dict, document["posterior"], path)
    return PosteriorMap(map_.function, map_.space, map_.monotone, map_.method, map_.fitted_range, posterior=table)
