"""Tallies as files, so that shards computed anywhere can be added up."""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from calibrant._files import replacing, write_atomically
from calibrant._optional import require
from calibrant.engines.table_files import find_files
from calibrant.errors import InvalidInputError, ModelFileError
from calibrant.tally import Tally

FORMAT = "calibrant-tally"
VERSION = 1
AnyPath = str | os.PathLike[str]


def save(tally: Tally, path: AnyPath) -> None:
    """Write a tally as Parquet or JSON, as the ending of `path` says; the file appears whole or not at all.

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
    if _ending(path) == ".json":
        content = {"format": FORMAT, "version": VERSION, **tally.to_dict()}
        write_atomically(path, json.dumps(content, allow_nan=False))
        return
    parquet = require("pyarrow.parquet", "tables", "calibrant.engines.save")
    arrow = require("pyarrow", "tables", "calibrant.engines.save")
    table = arrow.table({name: getattr(tally, name) for name in ("scores", "positives", "totals")})
    table = table.replace_schema_metadata({"format": FORMAT, "version": str(VERSION)})
    with replacing(path) as temporary:
        parquet.write_table(table, temporary)


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
    read = _read_json if _ending(path) == ".json" else _read_parquet
    try:
        content = read(path)
    except ValueError as error:  # of the json module, of UTF-8 and of pyarrow
        raise ModelFileError(f"{path} is not a saved tally, or it was cut short ({error}).") from error
    if content.get("format") != FORMAT:
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


def _ending(path: AnyPath) -> str:
    ending = Path(path).suffix.lower()
    if ending not in (".json", ".parquet"):
        raise InvalidInputError(f"`path` of a tally must end in .parquet or .json; got {str(path)!r}.")
    return ending


def _read_json(path: AnyPath) -> dict[str, Any]:
    content = json.loads(Path(path).read_text(encoding="utf-8"))
    return content if isinstance(content, dict) else {}


def _read_parquet(path: AnyPath) -> dict[str, Any]:
    table = require("pyarrow.parquet", "tables", "calibrant.engines.load").read_table(path)
    metadata = {key.decode(): value.decode() for key, value in (table.schema.metadata or {}).items()}
    return metadata | {name: table.column(name).to_numpy() for name in table.column_names}
