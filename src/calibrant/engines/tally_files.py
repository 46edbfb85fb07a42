"""Tallies as files, so that shards computed anywhere can be added up."""

import os
from collections.abc import Iterable

from calibrant._files import AnyPath
from calibrant.engines.tables import find_files
from calibrant.errors import InvalidInputError
from calibrant.maps.files import reading_kind, write_model
from calibrant.tally import Tally

KIND = "tally"


def save(tally: Tally, path: AnyPath) -> None:
    """Write a tally as JSON with a checksum; the file appears whole or not at all.

    Examples
    --------
    >>> import tempfile, os
    >>> from calibrant import Tally, engines
    >>> tally = Tally.from_arrays([0.2, 0.8, 0.8], [0, 0, 1])
    >>> path = os.path.join(tempfile.mkdtemp(), "monday.json")
    >>> engines.save(tally, path)
    >>> engines.load(path) == tally
    True
    """
    write_model(path, {"kind": KIND, KIND: tally.to_dict()})


def load(path: AnyPath) -> Tally:
    """Read a tally that `save` wrote; a damaged or foreign file raises `ModelFileError`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from calibrant import Tally, engines
    >>> tally = Tally.from_arrays([0.2, 0.7], [0, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "tally.json"
    ...     engines.save(tally, path)
    ...     engines.load(path) == tally
    True
    """
    with reading_kind(path, KIND) as document:
        return Tally.from_dict(document[KIND])


def merge(paths: AnyPath | Iterable[AnyPath], *, max_cells: int | None = None) -> Tally:
    """The sum of saved tallies.

    Parameters
    ----------
    paths : path, glob, or several paths
        Files that `save` wrote.
    max_cells : int, optional
        Coarsen the running sum to this many cells, so that memory stays bounded over any number of shards.

    Returns
    -------
    Tally

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from calibrant import Tally, engines
    >>> monday, tuesday = Tally.from_arrays([0.2, 0.7], [0, 1]), Tally.from_arrays([0.2], [1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     engines.save(monday, Path(folder) / "monday.json")
    ...     engines.save(tuesday, Path(folder) / "tuesday.json")
    ...     engines.merge(f"{folder}/*.json") == monday + tuesday
    True
    """
    names = find_files(os.fspath(paths)) if isinstance(paths, str | os.PathLike) else list(paths)
    if not names:
        raise InvalidInputError("`paths` must name at least one saved tally; got none.")
    total = Tally.empty()
    for name in names:
        total = total + load(name)
        if max_cells is not None:
            total = total.coarsen(max_cells)
    return total
