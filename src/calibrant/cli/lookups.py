"""A map as SQL that DuckDB runs at the speed of a few look-ups, whatever the number of its pieces.

A CASE over hundreds of pieces costs DuckDB microseconds for each row, a constant list is copied for every block of
rows, and a join loses the order of the rows. Lists in a table of one row have none of these costs: a cross join hands
them to every block by reference. A search among edges then is one look-up in a list of equally wide buckets and a few
steps of bisection inside the bucket. Every comparison is with the exact edge, so no score falls on the wrong side.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calibrant._typing import Floats, Ints
from calibrant.cli.tables import quoted
from calibrant.maps import CalibrationMap
from calibrant.programs import DOMAINS, Node, Number, Operation, Pick, Score, Search, evaluate, lower, walk

__all__ = ["Lookups"]

SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
COMPARISONS = {"min": "<", "max": ">"}
FUNCTIONS = {"exp": "exp", "log": "ln"}
SIZES = (256, 1024, 4096, 16384, 65536)
FEW = (
    3  # edges in a bucket; two steps of bisection in small lists cost less than a look-up in one that leaves the cache
)
BESIDE = 1e-6  # of a bucket
PREFIX = "calibrant "  # of hidden columns

Interval = tuple[float, float]
Expression = tuple[str, int]  # SQL, and the stage from which on it can be written


class Lookups:
    """Collects lists and stages of hidden columns; each stage sees the columns of the stages before it."""

    def __init__(self) -> None:
        self.lists: dict[str, list[Any]] = {}
        self.stages: list[list[str]] = []

    def add(self, map_: CalibrationMap, score: str) -> Expression:
        """The probability that a map gives to the SQL expression `score`; NULL for a score that it refuses."""
        low, high = (number(end) for end in DOMAINS[map_.space])
        # A score that is refused is missing from the start, and so cannot fail in the casts and look-ups below.
        value = self.column(f"CASE WHEN ({score}) BETWEEN {low} AND {high} THEN ({score})::DOUBLE END", 0)
        root = lower(map_.form)
        nodes = list(walk(root))
        uses = Counter(id(parent) for node in nodes for parent in node.parents())
        guides = _guides(nodes)
        known: dict[int, Expression] = {}
        for node in _ordered(nodes, guides):
            if isinstance(node, Score):
                known[id(node)] = value
            elif isinstance(node, Number):
                known[id(node)] = number(node.value), 0
            elif isinstance(node, Search):
                place = self._search(node, known, guides.get(id(node)), DOMAINS[map_.space])
                picks = [pick for pick in nodes if isinstance(pick, Pick) and pick.search is node]
                known |= self._picked(place, picks)
            elif isinstance(node, Operation):
                text, stage = self._operation(node, known)
                known[id(node)] = self.column(text, stage) if uses[id(node)] > 1 else (text, stage)
        text, stage = known[id(root)]
        if any(isinstance(node, Operation) and node.kind in COMPARISONS for node in nodes):
            # Comparisons choose their second operand where the first is missing; all else keeps it missing.
            text = f"CASE WHEN {value[0]} IS NOT NULL THEN {text} END"
        return self.column(text, max(stage, value[1]))

    def column(self, text: str, stage: int) -> Expression:
        """A hidden column that is computed in a stage and can be used in the next one."""
        while len(self.stages) <= stage:
            self.stages.append([])
        name = quoted(f"{PREFIX}{stage}.{len(self.stages[stage])}")
        self.stages[stage].append(f"{text} AS {name}")
        return name, stage + 1

    def query(self, rows: str, lists: str, columns: dict[str, str], kept: list[str]) -> str:
        """A SELECT of the kept columns of `rows` and of new ones, name → expression."""
        inner = f"SELECT * FROM {rows} CROSS JOIN {lists}" if self.lists else f"SELECT * FROM {rows}"
        for stage in self.stages:
            inner = f"SELECT *, {', '.join(stage)} FROM ({inner})"
        shown = [*map(quoted, kept), *(f"{text} AS {quoted(name)}" for name, text in columns.items())]
        return f"SELECT {', '.join(shown)} FROM ({inner})"

    def _search(self, node: Search, known: dict[int, Expression], guide: Node | None, domain: Interval) -> Expression:
        """How many edges lie below a value: those in lower buckets, and by bisection those in its own.

        The bucket is found by the value or, where that leaves fewer edges in a bucket, by its guide.
        """
        edges = node.edges
        if len(edges) == 0:
            return "0", 0
        value = by = self._named(known[id(node.of)])
        buckets = Buckets.of(edges, domain if isinstance(node.of, Score) else None)
        if guide is not None and buckets.most > FEW:
            guided = Buckets.guided(evaluate(guide, edges))
            if guided.most < buckets.most:
                buckets, by = guided, self._named(known[id(guide)])
        place = "0", value[1]
        if buckets.scale > 0.0:
            place = self.column(f"{self._list(buckets.before.tolist())}[{buckets.sql(by[0])}]", max(by[1], value[1]))
        padded = self._list([*edges.tolist(), *[float("inf")] * (2 * buckets.most)])
        for step in (2**power for power in reversed(range(buckets.most.bit_length()))):
            name = place[0]
            place = self.column(f"{name} + {step} * ({padded}[{name} + {step}] < {value[0]})::INTEGER", place[1])
        return place

    def _picked(self, place: Expression, picks: list[Pick]) -> dict[int, Expression]:
        """The numbers that one search picks: one look-up in a list of records costs less than one in each table."""
        if len(picks) == 1:
            return {id(picks[0]): (f"{self._list(picks[0].table.tolist())}[{place[0]} + 1]", place[1])}
        tables = [pick.table.tolist() for pick in picks]
        records = [{f"f{i}": entry for i, entry in enumerate(row)} for row in zip(*tables, strict=True)]
        record, stage = self.column(f"{self._list(records)}[{place[0]} + 1]", place[1])
        return {id(pick): (f"{record}.f{i}", stage) for i, pick in enumerate(picks)}

    def _operation(self, node: Operation, known: dict[int, Expression]) -> Expression:
        parts = [known[id(part)] for part in node.of]
        if node.kind in COMPARISONS:
            # least and greatest are several times slower than CASE; a value that is named twice gets a column.
            parts = [self._named(part) for part in parts]
        texts = [text for text, _ in parts]
        return _texts(node.kind, texts), max(stage for _, stage in parts)

    def _named(self, value: Expression) -> Expression:
        """The same value as a column or a number."""
        is_plain = value[0].startswith(('"', "CAST(")) and value[0].count("(") <= 1
        return value if is_plain else self.column(*value)

    def _list(self, values: list[Any]) -> str:
        name = f"{PREFIX}list {len(self.lists)}"
        self.lists[name] = values
        return quoted(name)


def _texts(kind: str, texts: list[str]) -> str:
    if kind in SIGNS:
        return f"({f' {SIGNS[kind]} '.join(texts)})"
    if kind in COMPARISONS:
        first, second = texts
        return f"CASE WHEN {first} {COMPARISONS[kind]} {second} THEN {first} ELSE {second} END"
    return f"{FUNCTIONS[kind]}({texts[0]})"


def _guides(nodes: list[Node]) -> dict[int, Node]:
    """For a search whose line runs over another number than the searched one: that number, of search → guide.

    The logit that a map's lines run over spreads knots evenly that crowd at 0 and 1 as probabilities.
    """
    found: dict[int, Node] = {}
    for node in nodes:
        if isinstance(node, Operation) and node.kind == "sub":
            first, second = node.of
            if isinstance(second, Pick) and isinstance(second.search, Search) and isinstance(first, Operation):
                search, below = second.search, list(walk(first))
                if search.of in below and not any(isinstance(part, Search) for part in below):
                    found[id(search)] = first
    return found


def _ordered(nodes: list[Node], guides: dict[int, Node]) -> Iterator[Node]:
    """Every node once, a guide before its search."""
    seen: set[int] = set()
    for node in nodes:
        for step in (*(walk(guides[id(node)]) if id(node) in guides else ()), node):
            if id(step) not in seen:
                seen.add(id(step))
                yield step


@dataclass(frozen=True)
class Buckets:
    """Equally wide pieces of the range of some edges.

    Attributes
    ----------
    low, high : float
        The outer edges; what lies beyond them belongs to the first and the last bucket.
    scale : float
        Buckets for each unit; 0 where the range is too wide or too narrow for arithmetic, and there are none.
    before : ndarray
        How many edges lie in lower buckets, for each bucket.
    most : int
        The largest number of edges in a bucket.
    covers : bool
        Whether no value lies outside the buckets.
    """

    low: float
    high: float
    scale: float
    before: Ints
    most: int
    covers: bool = False

    @classmethod
    def of(cls, edges: Floats, domain: Interval | None) -> Buckets:
        """As few buckets as leave few edges in each, or the most that are allowed.

        Buckets that cover the domain of the values spare each value the question whether it lies between the edges.
        """
        if domain is not None and domain[1] - domain[0] <= 1.0:
            for n in SIZES[:-1]:
                counts = _counts((edges - domain[0]) * n, n)
                if counts.max() <= FEW:
                    return cls(*domain, float(n), np.cumsum(counts) - counts, int(counts.max()), covers=True)
        low, high = float(edges[0]), float(edges[-1])
        for n in SIZES:
            with np.errstate(over="ignore", divide="ignore"):
                scale = float(n / (edges[-1] - edges[0]))
            if not 0.0 < scale < np.inf:
                return cls(low, high, 0.0, np.zeros(1, dtype=np.intp), len(edges))
            counts = _counts((edges - low) * scale, n)
            if counts.max() <= FEW:
                break
        return cls(low, high, scale, np.cumsum(counts) - counts, int(counts.max()))

    @classmethod
    def guided(cls, guides: Floats) -> Buckets:
        """Buckets of another number than the searched one, which is known at the edges.

        Its logarithms may be rounded differently in the engine, so a bucket also counts edges right beside it.
        """
        found = cls.of(guides, None)
        if found.scale == 0.0 or (np.diff(guides) < 0.0).any():
            return replace(found, most=len(guides))
        places = (guides - found.low) * found.scale
        n = np.arange(len(found.before))
        before = np.searchsorted(places, n - (0.5 + BESIDE))
        until = np.searchsorted(places, n + (0.5 + BESIDE), side="right")
        before[-1], until[-1] = min(before[-1], len(guides)), len(guides)
        return replace(found, before=before, most=int((until - before).max()))

    def sql(self, value: str) -> str:
        """The number of a value's bucket, from 1.

        The cast rounds as numpy does. Bounds by CASE are several times faster than by least and greatest; NaN is
        greater than all numbers here, and so does not reach the cast.
        """
        low, high = number(self.low), number(self.high)
        if self.covers:
            above = value if self.low == 0.0 else f"({value} - {low})"
            return f"({above} * {number(self.scale)})::INTEGER + 1"
        inside = f"(({value} - {low}) * {number(self.scale)})::INTEGER"
        beyond = f"({value} >= {high})::INTEGER * {len(self.before) - 1}"
        return f"CASE WHEN {value} > {low} AND {value} < {high} THEN {inside} ELSE {beyond} END + 1"


def _counts(places: Floats, n: int) -> Ints:
    """How many edges lie in each of the buckets 0 … n."""
    own = np.clip(np.rint(places), 0, n).astype(np.intp)
    return np.bincount(own, minlength=n + 1)


def number(value: float) -> str:
    """A double that SQL reads exactly."""
    return f"CAST('{float(value)!r}' AS DOUBLE)"
