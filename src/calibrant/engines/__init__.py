"""Tallies counted where the rows are: files, data frames, databases, clusters.

One aggregation, written once in Narwhals: DuckDB runs it on files; Spark, Dask, Polars, pandas, DuckDB or an Ibis
backend runs it on its own tables. Python receives the cells, never the rows.
"""

from typing import TYPE_CHECKING

from calibrant import _lazy

if TYPE_CHECKING:
    from calibrant.engines.file_apply import apply_file as apply_file
    from calibrant.engines.files import load as load
    from calibrant.engines.files import merge as merge
    from calibrant.engines.files import save as save
    from calibrant.engines.tables import open_table as open_table
    from calibrant.engines.tally_table import tally as tally

__getattr__, __dir__, __all__ = _lazy.attach(
    __name__,
    {"file_apply": "apply_file", "files": "load merge save", "tables": "open_table", "tally_table": "tally"},
)
