"""A map as an Ibis expression: the engine computes the calibrated column where the scores are."""

from __future__ import annotations

from typing import Any

from calibrant._optional import require
from calibrant.decisions import decide, fold
from calibrant.engines.columns import as_number
from calibrant.engines.keys import number
from calibrant.engines.sources import Source
from calibrant.errors import InvalidInputError
from calibrant.maps import CalibrationMap
from calibrant.programs import DOMAINS, lower

__all__ = ["apply"]


def apply(map_: CalibrationMap, table: Any, *, score: str) -> Any:
    """The calibrated probability of a column, as an expression that the engine evaluates.

    A score that the map would refuse in Python (NULL, NaN, infinite, or outside [0, 1] for a map of
    probabilities) gives NULL.

    Parameters
    ----------
    map_ : CalibrationMap
        The map of a fitted calibrator, ``calibrator.map_``.
    table : Ibis table
        A table of any backend; ``ibis.memtable(frame)`` makes one of a data frame.
    score : str
        Name of the score column.

    Returns
    -------
    Ibis column expression of float64
        Equal to ``map_(scores)`` within 1e-12. Use it in ``table.mutate(p=...)`` or in an aggregation.

    Examples
    --------
    >>> import ibis
    >>> import pyarrow as pa
    >>> from calibrant import IsotonicCalibration, engines
    >>> map_ = IsotonicCalibration().fit([0.1, 0.4, 0.6, 0.9], [0, 0, 1, 1]).map_
    >>> table = ibis.memtable(pa.table({"p": [0.1, 0.5, None]}))
    >>> table.mutate(q=engines.apply(map_, table, score="p")).schema()["q"]
    Float64(nullable=True)
    """
    ibis = require("ibis", "tables", "calibrant.engines.apply")
    if not isinstance(table, ibis.expr.types.Table):
        raise InvalidInputError(
            f"`table` must be an Ibis table; got {type(table).__name__}. For a data frame, pass `ibis.memtable(frame)`."
        )
    column = as_number(Source(table).column(score, "score"), score)
    algebra = _IbisAlgebra(ibis)
    low, high = DOMAINS[map_.space]
    body = fold(decide(lower(map_.form), (low, high)), column, algebra)
    inside = column.between(number(low), number(high))
    return ibis.cases((inside, body), else_=ibis.null().cast("float64"))


class _IbisAlgebra:
    """Writes the tree of a map as an Ibis expression."""

    def __init__(self, ibis: Any) -> None:
        self.ibis = ibis

    def number(self, value: float) -> Any:
        """A double."""
        return number(value)

    def apply(self, kind: str, *operands: Any) -> Any:
        """An operator or a function."""
        first, *rest = operands
        if kind in ("exp", "log"):
            return first.exp() if kind == "exp" else first.ln()
        if kind in ("min", "max"):
            return (self.ibis.least if kind == "min" else self.ibis.greatest)(first, *rest)
        name = "truediv" if kind == "div" else kind
        return getattr(first, f"__{name}__")(*rest)

    def split(self, value: Any, edge: Any, below: Any, above: Any) -> Any:
        """A question of the balanced CASE."""
        return self.ibis.ifelse(value <= edge, below, above)
