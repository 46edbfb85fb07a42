"""Any function of the score as one table of straight pieces, within a stated distance of it.

One look-up replaces the evaluation of the function, in Python and wherever else the map goes.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from calibrant._numerics import links
from calibrant._typing import Floats, Ints
from calibrant.maps.functions import Chain, Linear, LogitLinear, MapFunction, Step

Function: TypeAlias = Callable[[Floats], Floats]

ON_PROBABILITIES = 1e-5  # largest difference to the function, far below what any posterior can tell
ON_LOGITS = 1e-3  # and on the logit scale, where probabilities are too small to show it
EXTREME = float(links.logit(np.array(1.0)))
INNER = 8.0
LARGEST = 28.0  # doubles near 1 are too far apart to say much beyond, except for 1 itself
GRID = np.concatenate(
    (np.arange(-EXTREME, -INNER, 0.06), np.arange(-INNER, INNER, 0.02), np.arange(INNER, LARGEST, 0.06))
)
CLOSE = 1e-9  # a jump between scores nearer than this, on the logit scale or as a share of the range, is one piece
MOST_ROUNDS = 12
TINY = float(np.finfo(np.float64).tiny)
WIDEST = float(np.finfo(np.float64).max) / 8.0


def mix(weights: Sequence[float] | Floats, functions: Sequence[Function]) -> Function:
    """Return the function Σ weights[i] · functions[i](score); the weights are non-negative and sum to one."""

    def mixture(scores: Floats) -> Floats:
        total = sum((w * part(scores) for w, part in zip(weights, functions, strict=True)), 0.0 * scores)
        return np.clip(total, 0.0, 1.0)

    return mixture


def tabulate_mixture(weights: Floats, parts: Sequence[MapFunction]) -> LogitLinear:
    """Tabulate a mixture of maps of probabilities, whose knots say where it may bend."""
    return tabulate_logits(mix(weights, parts), np.concatenate([logits_of_knots(part) for part in parts]))


def logits_of_knots(function: MapFunction) -> Floats:
    """Where a function of probabilities may bend, on the logit scale."""
    return function.x if isinstance(function, LogitLinear) else links.logit(function.knots())


def tabulate_logits(
    function: Function, logits: Floats | None = None, tolerance: float = ON_PROBABILITIES
) -> LogitLinear:
    """Straight pieces on the logit scale that differ from a function of [0, 1] by `tolerance` or little more.

    `logits` are places where the function may bend, besides those of a grid over all possible scores.
    """

    def on_logits(z: Floats) -> Floats:
        return links.logit(function(links.expit(z)))

    def budget(y: Floats) -> Floats:
        return _on_logits(y, tolerance, ON_LOGITS)

    z = GRID if logits is None else np.concatenate((GRID, logits))
    z = np.append(np.unique(z[z <= LARGEST]), EXTREME)
    return LogitLinear(*_follow(on_logits, z, budget, CLOSE, LARGEST), 0.0, 0.0)


def _on_logits(y: Floats, tolerance: float, most: float) -> Floats:
    """How far logits may be off so that their probabilities are off by `tolerance`, and at most so far."""
    margin = links.expit(y) * links.expit(-y)
    return np.minimum(tolerance / np.maximum(margin, tolerance), most)


def tabulate_scores(function: Function, nodes: Floats, tolerance: float = ON_PROBABILITIES) -> Linear:
    """Straight pieces that differ from a function by `tolerance` or little more, constant outside the `nodes`.

    The nodes increase; between two of them the function must be so simple that its bends show at the nodes.
    """

    def budget(y: Floats) -> Floats:
        return np.full(len(y), tolerance)

    return Linear(*_follow(function, nodes, budget, CLOSE * (0.5 * nodes[-1] - 0.5 * nodes[0]), np.inf))


def _follow(function: Function, x: Floats, budget: Function, closest: float, largest: float) -> tuple[Floats, Floats]:
    """Add nodes up to `largest`, in gaps wider than `closest`, until straight lines follow; keep those that matter."""
    y = function(x)
    for _ in range(MOST_ROUNDS):
        between = _too_far_apart(x, y, budget(y[1:-1]), closest)
        between = between[between < largest]
        if not len(between):
            break
        x, y = np.append(x, between), np.append(y, function(between))
        order = np.argsort(x, kind="stable")
        x, y = x[order], y[order]
    kept = _simplify(x, y, budget(y))
    return x[kept], y[kept]


def _too_far_apart(x: Floats, y: Floats, budget: Floats, closest: float) -> Floats:
    """Middles of the gaps beside nodes that a straight line between their neighbours would miss."""
    half = 0.5 * x  # so that differences stay finite
    gaps = np.diff(half)
    share = gaps[:-1] / np.maximum(half[2:] - half[:-2], TINY)
    missed = np.abs(y[:-2] + share * (y[2:] - y[:-2]) - y[1:-1])
    # Halving both gaps divides the distance by four; what is left lies between the nodes.
    turning = np.concatenate(([False], missed > budget, [False]))
    beside = np.flatnonzero((turning[1:] | turning[:-1]) & (gaps > 0.5 * closest))
    return half[beside] + half[beside + 1]


def _simplify(x: Floats, y: Floats, budget: Floats) -> Ints | slice:
    """Choose the nodes to keep; all of them where their distances are beyond the reach of doubles."""
    from calibrant._compiled import polyline

    if len(x) < 3 or 0.25 * x[-1] - 0.25 * x[0] > WIDEST or np.diff(x).min() < TINY:
        return slice(None)
    # Half of the budget is for the thinning, the other half for what happens between nodes.
    return polyline.simplify(x, y, 0.5 * budget)


def thin(function: MapFunction, tolerance: float) -> MapFunction:
    """A function of fewer pieces within `tolerance` of another one, and within a hundredfold on the logit scale."""
    from calibrant._compiled import polyline

    if isinstance(function, Chain):
        return Chain(tuple(thin(part, tolerance) for part in function.parts))
    if isinstance(function, Step):
        return _thin_steps(function, tolerance)
    if not isinstance(function, Linear | LogitLinear):
        return function
    x, y, straight = function.x, function.y, isinstance(function, Linear)
    budget = np.full(len(x), tolerance) if straight else _on_logits(y, tolerance, 100.0 * tolerance)
    kept = polyline.simplify(x, y, budget)
    return replace(function, x=x[kept], y=y[kept])


def _thin_steps(function: Step, tolerance: float) -> Step:
    """Neighbouring steps that are all within the tolerance of their middle, as one."""
    starts, middles = [0], []
    low = high = function.values[0]
    for i, value in enumerate(function.values):
        if max(high, value) - min(low, value) > 2.0 * tolerance:
            middles.append(0.5 * (low + high))
            starts.append(i)
            low = high = value
        low, high = min(low, value), max(high, value)
    edges: Floats = function.edges[np.array(starts[1:], dtype=int) - 1]
    return Step(edges, np.array([*middles, 0.5 * (low + high)]))
