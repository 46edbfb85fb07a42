"""Tallies from any engine, and maps applied where the data live.

One aggregation, expressed once in the words of Ibis: DuckDB runs it on files and data frames, by itself; Spark or any
other Ibis backend where the table already is. Python receives the cells, never the rows.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from calibrant.engines.file_apply import apply_file
    from calibrant.engines.files import load, merge, save
    from calibrant.engines.scoring import apply
    from calibrant.engines.tables import open_table
    from calibrant.engines.tallying import tally

__all__ = ["apply", "apply_file", "load", "merge", "open_table", "save", "tally"]

_HOME = {
    "apply": "scoring",
    "apply_file": "file_apply",
    "load": "files",
    "merge": "files",
    "open_table": "tables",
    "save": "files",
    "tally": "tallying",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'calibrant.engines' has no attribute {name!r}")
    return getattr(import_module(f"calibrant.engines.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
