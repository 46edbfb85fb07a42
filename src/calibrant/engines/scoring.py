"""A map as an Ibis expression: the engine computes the calibrated column where the scores are."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibrant._optional import require
from calibrant._typing import Floats
from calibrant.decisions import decide, fold
from calibrant.engines.buckets import Buckets, Interval, choose
from calibrant.engines.columns import as_number
from calibrant.engines.keys import number
from calibrant.engines.sources import Source
from calibrant.errors import InvalidInputError
from calibrant.maps import CalibrationMap
from calibrant.programs import DOMAINS, Node, Number, Operation, Pick, Score, Search, lower, walk

__all__ = ["apply"]

MOST_BUCKETS = 4096  # DuckDB copies a constant list for every 2048 rows


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
    low, high = DOMAINS[map_.space]
    inside = column.between(number(low), number(high))
    missing = ibis.null().cast("float64")
    root = lower(map_.form)
    if _engine(table, ibis) == "duckdb" and _Lookups.suit(root, (low, high)):
        # A score that is refused is missing from the start, and so is all that is computed from it.
        return _Lookups(ibis).write(root, ibis.ifelse(inside, column, missing), (low, high))
    body = fold(decide(root, (low, high)), column, _IbisAlgebra(ibis))
    return ibis.cases((inside, body), else_=missing)


def _engine(table: Any, ibis: Any) -> str:
    """The name of the engine that runs a table; a table that belongs to none yet gets what all of them know."""
    try:
        return str(table.get_backend().name)
    except ibis.IbisError:
        return ""


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


class _Lookups(_IbisAlgebra):
    """Writes a map for DuckDB as look-ups in constant lists.

    The same value occurs many times in such an expression. DuckDB computes it once for each row, but not inside a CASE;
    so there is none, and only maps are written that need none: steps and lines over probabilities, and their mixtures.
    """

    def __init__(self, ibis: Any) -> None:
        super().__init__(ibis)
        types = ibis.expr.datatypes
        signature = ((types.Array(types.float64), types.int64), types.float64)
        self.extract = ibis.udf.scalar.builtin(_entry, name="list_extract", signature=signature)

    @staticmethod
    def suit(root: Node, domain: Interval) -> bool:
        """Whether the map has edges, all among the scores, and its expression is neither long nor needs a CASE."""
        nodes = list(walk(root))
        searches = [node for node in nodes if isinstance(node, Search)]
        plain = all(node.kind in ("add", "sub", "mul") for node in nodes if isinstance(node, Operation))
        if not (plain and searches and all(isinstance(node.of, Score) for node in searches)):
            return False
        found = [choose(node, None, domain)[0] for node in searches]
        return all(buckets.covers for buckets in found) and sum(len(x.before) for x in found) <= MOST_BUCKETS

    def write(self, root: Node, value: Any, domain: Interval) -> Any:
        """The graph, with every search as a look-up in buckets and a bisection among the edges of one."""
        known: dict[int, Any] = {}
        for node in walk(root):
            if isinstance(node, Score):
                known[id(node)] = value
            elif isinstance(node, Number):
                known[id(node)] = number(node.value)
            elif isinstance(node, Operation):
                known[id(node)] = self.apply(node.kind, *(known[id(part)] for part in node.of))
            elif isinstance(node, Search):
                known[id(node)] = self._search(node.edges, value, choose(node, None, domain)[0])
            elif isinstance(node, Pick):
                known[id(node)] = self._entry_of(node.table, known[id(node.search)])
        return known[id(root)]

    def _search(self, edges: Floats, value: Any, buckets: Buckets) -> Any:
        """How many edges lie below the value."""
        bucket = ((value - number(buckets.low)) * number(buckets.scale)).cast("int32")
        place = self._entry_of(buckets.before, bucket).cast("int32")
        padded = np.concatenate((edges, np.full(2 * buckets.most, np.inf)))
        for step in (2**power for power in reversed(range(buckets.most.bit_length()))):
            place = place + (self._entry_of(padded, place + (step - 1)) < value).cast("int32") * step
        return place

    def _entry_of(self, table: np.ndarray[Any, Any], place: Any) -> Any:
        """An entry of a list, counted from 0. The list is a text, because a bare decimal would be rounded twice."""
        text = ", ".join(map(repr, table.astype(np.float64).tolist()))
        return self.extract(self.ibis.literal(f"[{text}]").cast("array<float64>"), place + 1)


def _entry(values: Any, place: Any) -> Any:
    """The body of `list_extract` is DuckDB's."""
