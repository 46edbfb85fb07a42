"""A map of segments as a Python module without dependencies: its formula, and the effects of all segments."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibrant._numerics import links
from calibrant._typing import Floats, Ints
from calibrant.errors import InvalidInputError
from calibrant.export import parity, source
from calibrant.export.expression_graph import DOMAINS
from calibrant.maps.effects import LARGEST_U, WAVES, TermEffects
from calibrant.maps.keys import UNSEEN
from calibrant.maps.segments import SegmentedMap

MOST_CHECKED = 200  # combinations of segments
NEW = "\x1fnew"  # which is none of the segments of a fit

MODULE = '''"""{title}: score and segment to probability.

Written by calibrant from a fitted map. Needs nothing but Python.
"""

from bisect import bisect_left, bisect_right
from math import cos, exp, log, nan, pi, sqrt

KEYS = {keys}
CENTRE, SPREAD = {centre!r}, {spread!r}
SCORES = {scores}
RANKS = {ranks}
# For each term: the places of its keys, its kind, and for each segment the mean and the covariance of its coefficients.
TERMS = (
{terms})


def {name}(score, *segment):
    """Calibrated probability of one score, in the segment of each key; NaN for a score that is not accepted.

    A segment that the fit did not see adds nothing; None is a missing one.
    """
    if len(segment) != len(KEYS):
        raise ValueError("A segment of each key is needed: " + ", ".join(KEYS))
{refusal}    if not {low} <= score <= {high}:
        return nan
{first}    pooled = _pooled(score)
    if not any(value in levels for value, levels in zip(segment, LEVELS)):
        return pooled
    z = _logit(pooled)
    mean, variance = z, 0.0
    for keys, kind, effects in TERMS:
        own = effects.get(tuple(segment[k] for k in keys))
        if own is not None:
            columns = _columns(kind, score, z)
            mean += sum(c * m for c, m in zip(columns, own[0]))
            variance += sum(a * b * v for a, row in zip(columns, own[1]) for b, v in zip(columns, row))
    return _expit(mean / sqrt(1.0 + pi / 8.0 * max(variance, 0.0)))


def _columns(kind, score, z):
    if kind == "line":
        return 1.0, min(max((z - CENTRE) / SPREAD, -{largest!r}), {largest!r})
    place = min(max(bisect_right(SCORES, score), 1), len(SCORES) - 1)
    left, right = SCORES[place - 1], SCORES[place]
    share = min(max((score - left) / (right - left), 0.0), 1.0)
    rank = RANKS[place - 1] + share * (RANKS[place] - RANKS[place - 1])
    return [sqrt(2.0) * cos(pi * rank * j) for j in {waves}]


def _logit(p):
    p = min(max(p, {eps!r}), 1.0 - {eps!r})
    return log(p / (1.0 - p))


def _expit(z):
    return 1.0 / (1.0 + exp(-z))


{functions}

LEVELS = {levels}
TEST_SCORES = {test_scores}
TEST_SEGMENTS = {test_segments}
TEST_PROBABILITIES = {test_probabilities}

if __name__ == "__main__":
    for s, g, p in zip(TEST_SCORES, TEST_SEGMENTS, TEST_PROBABILITIES):
        assert abs({name}(s, *g) - p) <= 1e-9
'''


def segments_to_python(map_: SegmentedMap, *, name: str = "calibrate") -> str:
    """Source of a Python module with one function of a score and its segments; see `to_python`."""
    if not (name.isidentifier() and name.isascii()):
        raise InvalidInputError(f"`name` must be an identifier of letters, digits and underscores; got {name!r}.")
    scores, codes = _probe(map_)
    expected, values = map_.probabilities(scores, codes), _values(map_, codes)
    text = _write(map_, name, scores, values, expected)
    parity.check(lambda _: expected, lambda _: _run(text, name, scores, values), "Python", scores=scores)
    return text


def _write(map_: SegmentedMap, name: str, scores: Floats, values: list[tuple[Any, ...]], expected: Floats) -> str:
    basis, few = map_.basis, slice(None, None, max(1, len(scores) // 9))
    known, ranks = basis.scores.tolist(), basis.ranks.tolist()
    if len(known) == 1:  # a second score, so that there is something to interpolate
        known, ranks = [known[0], known[0] + 1.0], ranks * 2
    low, high = DOMAINS[map_.space]
    title = "".join(ch for ch in map_.method if ch.isalnum() or ch in " _-") or "A calibration map"
    refuses = '    if None in segment:\n        raise ValueError("A segment is missing.")\n'
    functions = [source.write_function(map_.pooled.function, "_pooled")]
    functions += [] if map_.first is None else [source.write_function(map_.first.function, "_first")]
    return MODULE.format(
        title=title,
        keys=repr(map_.keys.names),
        centre=basis.centre,
        spread=basis.spread,
        scores=known,
        ranks=ranks,
        terms="".join(f"    {_term(map_, term)},\n" for term in map_.terms),
        name=name,
        refusal=refuses if map_.missing == "error" else "",
        low=repr(low),
        high=repr(high),
        first="" if map_.first is None else "    score = _first(score)\n",
        largest=LARGEST_U,
        waves=tuple(WAVES.tolist()),
        eps=links.EPS,
        functions="\n\n".join(functions),
        levels="".join(f"{{{', '.join(map(repr, levels))}}}, " for levels in map_.keys.levels).join("()"),
        test_scores=scores[few].tolist(),
        test_segments=values[few],
        test_probabilities=expected[few].tolist(),
    )


def _term(map_: SegmentedMap, term: TermEffects) -> str:
    means, covariances = term.effects.mean.tolist(), term.effects.covariance.tolist()
    effects = {
        tuple(map_.keys.levels[k][number] for k, number in zip(term.keys, level, strict=True)): (mean, covariance)
        for level, mean, covariance in zip(term.levels.tolist(), means, covariances, strict=True)
    }
    return repr((term.keys, term.kind, effects))


def _probe(map_: SegmentedMap) -> tuple[Floats, Ints]:
    """Scores and numbers of segments: every segment of every key, up to some, and ones that the fit did not see."""
    low, high = (0.0, 1.0) if map_.space == "probability" else (-40.0, 40.0)
    scores = np.concatenate((np.linspace(low, high, 101), [1e-9, 1e-4, 1.0 - 1e-9]))
    turns = np.arange(min(max(map_.keys.sizes) + 1, MOST_CHECKED))
    codes = np.column_stack([turns % (size + 1) - 1 for size in map_.keys.sizes])
    return np.tile(scores, len(codes)), np.repeat(codes, len(scores), axis=0)


def _values(map_: SegmentedMap, codes: Ints) -> list[tuple[Any, ...]]:
    """The segments with these numbers."""
    levels = map_.keys.levels
    return [tuple(NEW if c == UNSEEN else levels[k][c] for k, c in enumerate(line)) for line in codes.tolist()]


def _run(text: str, name: str, scores: Floats, values: list[tuple[Any, ...]]) -> Floats:
    namespace: dict[str, Any] = {"__name__": "calibrant_export"}
    exec(compile(text, "<export>", "exec"), namespace)
    return np.array([namespace[name](s, *segment) for s, segment in zip(scores.tolist(), values, strict=True)])
