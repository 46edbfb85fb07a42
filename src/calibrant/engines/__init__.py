"""Tallies counted where the rows are: files, data frames, databases, clusters.

One aggregation, written once in Narwhals: DuckDB runs it on files; Spark, Dask, Polars, pandas, DuckDB or an Ibis
backend runs it on its own tables. Python receives the cells, never the rows.
"""

from calibrant import _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
