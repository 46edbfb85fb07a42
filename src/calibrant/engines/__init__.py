"""Tallies counted where the rows are: files, data frames, databases, clusters.

One aggregation, written once in Narwhals: DuckDB runs it on files; Spark, Dask, Polars, pandas, DuckDB or an Ibis
backend runs it on its own tables. Python receives the cells, never the rows.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from calibrant.engines.files import load, merge, save
    from calibrant.engines.tally_table import tally

__all__ = ["load", "merge", "save", "tally"]

_HOME = {"load": "files", "merge": "files", "save": "files", "tally": "tally_table"}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'calibrant.engines' has no attribute {name!r}")
    return getattr(import_module(f"calibrant.engines.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
