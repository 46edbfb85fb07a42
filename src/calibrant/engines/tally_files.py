"""Tallies as files, so that shards computed anywhere can be added up."""

import json
import os
from collections.abc import Iterable
from pathlib import Path

from calibrant._files import write_atomically
from calibrant.engines.table_files import find_files
from calibrant.errors import InvalidInputError, ModelFileError
from calibrant.tally import Tally

FORMAT = "calibrant-tally"
VERSION = 1
AnyPath = str | os.PathLike[str]


def save(tally: Tally, path: AnyPath) -> None:
    """Write a tally as JSON; the file appears whole or not at all.

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
    content = {"format": FORMAT, "version": VERSION, **tally.to_dict()}
    write_atomically(path, json.dumps(content, allow_nan=False))


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
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:  # of the json module and of UTF-8
        raise ModelFileError(f"{path} is not a saved tally, or it was cut short ({error}).") from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ModelFileError(f"{path} is not a tally that calibrant saved.")
    version = int(content.get("version", 0))
    if version > VERSION:
        raise ModelFileError(f"{path} has file version {version}; this calibrant reads up to {VERSION}.")
    return Tally.from_dict(content)


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
