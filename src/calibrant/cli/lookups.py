"""A map as SQL that DuckDB runs at the speed of a few look-ups, whatever the number of its pieces.

A CASE over hundreds of pieces costs DuckDB microseconds for each row, a constant list is copied for every block of
rows, and a join loses the order of the rows. Lists in a table of one row have none of these costs: a cross join hands
them to every block by reference. `calibrant.engines.scoring` does the same inside one expression, where no table can
be joined; stages of columns, as here, look each number up once.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from calibrant.cli.tables import quoted
from calibrant.engines.buckets import Buckets, Interval, choose, guides_of, is_bound_of_logits, ordered
from calibrant.export.expression_graph import DOMAINS, Node, Number, Operation, Pick, Score, Search, lower, walk
from calibrant.maps import CalibrationMap

__all__ = ["Lookups"]

SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
COMPARISONS = {"min": "<", "max": ">"}
FUNCTIONS = {"exp": "exp", "log": "ln"}
PREFIX = "calibrant "  # of hidden columns

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
        root = lower(map_.function)
        nodes = list(walk(root))
        uses = Counter(id(parent) for node in nodes for parent in node.parents())
        guides = guides_of(nodes)
        known: dict[int, Expression] = {}
        for node in ordered(nodes, guides):
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
        """How many edges lie below a value: those in lower buckets, and by bisection those in its own."""
        edges = node.edges
        if len(edges) == 0:
            return "0", 0
        value = self._named(known[id(node.of)])
        buckets, place_of = choose(node, guide, domain)
        by = known[id(place_of)] = self._named(known[id(place_of)])
        place = "0", value[1]
        if buckets.scale > 0.0:
            place = self.column(
                f"{self._list(buckets.before.tolist())}[{_bucket(buckets, by[0])}]", max(by[1], value[1])
            )
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
        if is_bound_of_logits(node):
            return parts[0]
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


def number(value: float) -> str:
    """A double that SQL reads exactly."""
    return f"CAST('{float(value)!r}' AS DOUBLE)"


def _bucket(buckets: Buckets, value: str) -> str:
    """The number of a value's bucket, from 1, as in `calibrant.engines.buckets`.

    Bounds by CASE are several times faster than by least and greatest; NaN is greater than all numbers here, and so
    does not reach the cast.
    """
    low, high = number(buckets.low), number(buckets.high)
    if buckets.covers:
        above = value if buckets.low == 0.0 else f"({value} - {low})"
        return f"({above} * {number(buckets.scale)})::INTEGER + 1"
    inside = f"(({value} - {low}) * {number(buckets.scale)})::INTEGER"
    beyond = f"({value} >= {high})::INTEGER * {len(buckets.before) - 1}"
    return f"CASE WHEN {value} > {low} AND {value} < {high} THEN {inside} ELSE {beyond} END + 1"
