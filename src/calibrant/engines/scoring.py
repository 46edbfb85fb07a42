"""A map as an Ibis expression: the engine computes the calibrated column where the scores are."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibrant._optional import require
from calibrant.engines.buckets import Buckets, Interval, choose, guides_of, is_bound_of_logits, ordered
from calibrant.engines.columns import as_number
from calibrant.engines.sources import column as column_of
from calibrant.engines.sources import ibis_number as number
from calibrant.errors import InvalidInputError
from calibrant.export.case_tree import decide, fold
from calibrant.export.expression_graph import DOMAINS, SCORE, Node, Number, Operation, Pick, Score, Search, lower, walk
from calibrant.maps import CalibrationMap

__all__ = ["apply"]

SHORT_LISTS = (256, 1024, 4096)  # of buckets: DuckDB copies a constant list for every 2048 rows
MOST_EDGES = 7  # in a bucket: every step of bisection doubles the length of the expression
MOST_PICKS = 6  # each repeats its search


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

    Notes
    -----
    In DuckDB a piece of the map is found by look-ups in constant lists, elsewhere by a balanced CASE. A map of 200
    pieces costs DuckDB 45 to 80 ns for each row and thread, twice that on the logit scale, where reading and adding up
    a score costs 5 ns: one look-up in a list is already 7 ns, and finding and evaluating a piece takes four to seven.
    ``benchmarks.speed.engines`` prints these times.

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
    column = as_number(column_of(table, score, "score"), score)
    low, high = DOMAINS[map_.space]
    inside = column.between(number(low), number(high))
    missing = ibis.null().cast("float64")
    root = lower(map_.function)
    if _engine(table, ibis) == "duckdb":
        lookups = _Lookups(ibis, root, (low, high))
        if lookups.suits():
            # A score that is refused is missing from the start, and so is all that is computed from it.
            return lookups.write(ibis.ifelse(inside, column, missing))
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
    so there is none.
    """

    def __init__(self, ibis: Any, root: Node, domain: Interval) -> None:
        super().__init__(ibis)
        self.root = root
        nodes = list(walk(root))
        self.guides = guides_of(nodes)
        searches = [node for node in nodes if isinstance(node, Search) and len(node.edges)]
        self.chosen = {id(node): self._chosen(node, domain) for node in searches}
        self.is_simple = all(search.of is SCORE for search in searches)
        types = ibis.expr.datatypes
        signature = ((types.Array(types.float64), types.int64), types.float64)
        self.extract = ibis.udf.scalar.builtin(_entry, name="list_extract", signature=signature)

    def _chosen(self, node: Search, domain: Interval) -> tuple[Buckets, Node]:
        guide = self.guides.get(id(node))
        found = choose(node, guide, domain, SHORT_LISTS)
        return found if found[0].most <= MOST_EDGES else choose(node, guide, domain)

    def suits(self) -> bool:
        """Whether the map has edges, all among the scores, in lists that are searched in few steps."""
        found = [buckets for buckets, _ in self.chosen.values()]
        n_picks = sum(isinstance(node, Pick) for node in walk(self.root))
        if not (found and self.is_simple and n_picks <= MOST_PICKS):
            return False
        return max(x.most for x in found) <= MOST_EDGES

    def write(self, value: Any) -> Any:
        """The graph, with every search as a look-up in buckets and a bisection among the edges of one."""
        known: dict[int, Any] = {}
        nodes = list(walk(self.root))
        for node in ordered(nodes, self.guides):
            if isinstance(node, Score):
                known[id(node)] = value
            elif isinstance(node, Number):
                known[id(node)] = number(node.value)
            elif isinstance(node, Operation):
                parts = [known[id(part)] for part in node.of]
                known[id(node)] = parts[0] if is_bound_of_logits(node) else self.apply(node.kind, *parts)
            elif isinstance(node, Search):
                known[id(node)] = self._search(node, known)
            elif isinstance(node, Pick):
                known[id(node)] = self._entry_of(node.table, known[id(node.search)])
        chooses = any(isinstance(node, Operation) and node.kind in ("min", "max") for node in nodes)
        # least and greatest pass over a missing value; adding 0, which is missing with the score, does not.
        return known[id(self.root)] + (value - value) if chooses else known[id(self.root)]

    def _search(self, node: Search, known: dict[int, Any]) -> Any:
        """How many edges lie below the score."""
        place = self.ibis.literal(0, type="int32")
        if id(node) not in self.chosen:
            return place
        buckets, by = self.chosen[id(node)]
        if buckets.scale > 0.0:
            bucket = (known[id(by)] - number(buckets.low)) * number(buckets.scale)
            if not buckets.covers:
                bucket = self.apply("max", self.apply("min", bucket, number(len(buckets.before) - 1)), number(0.0))
            place = self._entry_of(buckets.before, bucket.cast("int32")).cast("int32")
        padded = np.concatenate((node.edges, np.full(2 * buckets.most, np.inf)))
        for step in (2**power for power in reversed(range(buckets.most.bit_length()))):
            place = place + (self._entry_of(padded, place + (step - 1)) < known[id(SCORE)]).cast("int32") * step
        return place

    def _entry_of(self, table: np.ndarray[Any, Any], place: Any) -> Any:
        """An entry of a list, counted from 0. The list is a text, because a bare decimal would be rounded twice."""
        text = ", ".join(map(repr, table.astype(np.float64).tolist()))
        return self.extract(self.ibis.literal(f"[{text}]").cast("array<float64>"), place + 1)


def _entry(values: Any, place: Any) -> Any:
    """The body of `list_extract` is DuckDB's."""
