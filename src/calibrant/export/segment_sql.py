"""A map of segments as one SQL expression: a CASE over the segments, with the expression of a map for each."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from calibrant._optional import require
from calibrant._typing import Floats
from calibrant.errors import InvalidInputError
from calibrant.export import parity
from calibrant.export.sql import SqlAlgebra, check_dialect, column_node, expression_of, run_expression, scientific
from calibrant.maps.keys import UNSEEN
from calibrant.maps.score import CalibrationMap
from calibrant.maps.segments import SegmentedMap

CALLER = "calibrant.export.to_sql"
MOST_PIECES = 10_000  # some 300 characters each: three megabytes, which take a minute


def segments_to_sql(
    map_: SegmentedMap, *, dialect: str = "duckdb", column: str = "score", by: Sequence[str] | None = None
) -> str:
    """One SQL expression of a score column and of the columns `by` of segments; see `to_sql`."""
    sqlglot = require("sqlglot", "tables", CALLER)
    check_dialect(dialect)
    names = tuple(map_.keys.names if by is None else by)
    if len(names) != len(map_.keys.names):
        raise InvalidInputError(
            f"`by` must name a column for each key of the fit, {', '.join(map_.keys.names)}; got {len(names)}."
        )
    maps = _maps(map_)
    algebra = SqlAlgebra(sqlglot.exp, dialect)
    text: str = _Writer(map_, maps, column, names, algebra).write().sql(dialect=dialect)
    scores, segments, expected = _probe(map_, maps)
    columns = {column: scores} | dict(zip(names, segments, strict=True))
    parity.check(
        lambda _: expected, lambda _: run_expression(text, dialect, columns), f"SQL ({dialect})", scores=scores
    )
    return f"{text} /* calibrant test vector {_vector(scores, segments, expected)} */"


def _maps(map_: SegmentedMap) -> dict[tuple[int, ...], CalibrationMap]:
    """The map of each combination of segments; each key has one more that the fit did not see, if there can be one."""
    numbers = [[*range(size), *([UNSEEN] if _can_be_new(map_, k) else [])] for k, size in enumerate(map_.keys.sizes)]
    n_maps = int(np.prod([len(one) for one in numbers], dtype=float))
    maps = {codes: map_.map_at(np.array(codes)) for codes in product(*numbers)} if n_maps <= MOST_PIECES else {}
    n_pieces = sum(len(own.function.knots()) + 1 for own in maps.values())
    if not maps or n_pieces > MOST_PIECES:
        what = f"{n_maps} maps" + (f" of {n_pieces} pieces together" if maps else "")
        raise InvalidInputError(
            f"A map of segments must have at most {MOST_PIECES} pieces to become SQL; this one has {what}. Use fewer "
            "keys, export to Python, or use `calibrant.engines.apply_file`."
        )
    return maps


def _can_be_new(map_: SegmentedMap, k: int) -> bool:
    """Whether a value of key `k` can be one that the fit did not see: not where true and false are known."""
    levels = map_.keys.levels[k]
    can_be_null = map_.missing == "segment" and None not in levels
    return can_be_null or not (map_.keys.kinds[k] == "booleans" and {True, False} <= set(levels))


@dataclass(frozen=True)
class _Writer:
    """Writes nested CASEs: one for the segments of each key, and inside them the maps."""

    map_: SegmentedMap
    maps: dict[tuple[int, ...], CalibrationMap]
    column: str
    names: Sequence[str]
    algebra: SqlAlgebra

    def write(self, chosen: tuple[int, ...] = ()) -> Any:
        """The CASE over the segments of the next key, or the expression of the map where all of them are chosen."""
        k = len(chosen)
        if k == len(self.names):
            return expression_of(self.maps[chosen], self.column, self.algebra)
        exp = self.algebra.exp
        key = column_node(self.names[k], exp)
        is_null = exp.Is(this=key.copy(), expression=exp.Null())
        branches = []
        if self.map_.missing == "error":  # as in Python, where a missing segment is refused
            branches.append(exp.If(this=is_null, true=exp.Null()))
        for code, level in enumerate(self.map_.keys.levels[k]):
            question = is_null if level is None else exp.EQ(this=key.copy(), expression=_literal(level, exp))
            branches.append(exp.If(this=question, true=self.write((*chosen, code))))
        new = self.write((*chosen, UNSEEN)) if _can_be_new(self.map_, k) else None
        return exp.Case(ifs=branches, default=new)


def _literal(level: Any, exp: Any) -> Any:
    if isinstance(level, bool):
        return exp.Boolean(this=level)
    if isinstance(level, str):
        return exp.Literal.string(level)
    text = str(abs(level)) if isinstance(level, int) else scientific(abs(level))
    literal = exp.Literal.number(text)
    return exp.Neg(this=literal) if level < 0 else literal


def _probe(map_: SegmentedMap, maps: dict[tuple[int, ...], CalibrationMap]) -> tuple[Floats, list[list[Any]], Floats]:
    """Scores, columns of segments, and the probabilities of their maps, for all maps below each other."""
    parts = [parity.probe(own) for own in maps.values()]
    expected = np.concatenate([own(scores) for own, scores in zip(maps.values(), parts, strict=True)])
    rows = [codes for codes, scores in zip(maps, parts, strict=True) for _ in scores]
    segments = [[_value(map_, k, codes[k]) for codes in rows] for k in range(len(map_.keys.names))]
    return np.concatenate(parts), segments, expected


def _value(map_: SegmentedMap, k: int, code: int) -> Any:
    """The segment with a number, or a value that the fit did not see."""
    if code != UNSEEN:
        return map_.keys.levels[k][code]
    known = [level for level in map_.keys.levels[k] if level is not None]
    kind = map_.keys.kinds[k]
    if kind == "booleans":
        return next((value for value in (True, False) if value not in known), None)
    if kind == "numbers":
        return max(known) + 1
    return max(known, default="") + "~"


def _vector(scores: Floats, segments: list[list[Any]], expected: Floats) -> str:
    """A few rows with their probabilities, as one line of JSON that does not end the comment."""
    rows = np.linspace(0, len(scores) - 1, 9).astype(int).tolist()
    vector = {
        "scores": scores[rows].tolist(),
        "segments": [[column[row] for column in segments] for row in rows],
        "probabilities": expected[rows].tolist(),
    }
    return json.dumps(vector).replace("*/", "* /")
