"""A map's graph as a balanced decision tree with closed formulas in its leaves, for languages without arrays.

SQL has no table lookup inside an expression, so a search becomes nested yes/no questions, log2(pieces) deep, and
every leaf is a formula with its own numbers. A search of a computed value is asked only about the edges that the value
can reach, so a chain of maps has as many leaves as both together, not their product. A map of segments is a choice
among the trees of its segments. A map of many pieces is first made one of fewer: every piece is a line of text.
"""

from dataclasses import dataclass, replace
from itertools import product
from typing import Any, TypeAlias

import numpy as np

from calibrant.errors import InvalidInputError
from calibrant.export import expression_graph as graph
from calibrant.export import parity
from calibrant.maps.base import domain
from calibrant.maps.functions import Chain, MapFunction, Step
from calibrant.maps.keys import UNSEEN
from calibrant.maps.score import CalibrationMap
from calibrant.maps.segments import SegmentedMap
from calibrant.maps.tabulate import thin as thin_function

MOST_PIECES = 400  # of one map
MOST_TOGETHER = 10_000  # of all segments; some 300 characters each: three megabytes, which take a minute
TOLERANCES = np.geomspace(1e-6, 1e-2, 17)  # of probabilities; the smallest that will do is taken
Interval: TypeAlias = tuple[float, float]
SegmentMaps: TypeAlias = dict[tuple[int, ...], CalibrationMap]


@dataclass(frozen=True, eq=False)
class Split(graph.Node):
    """Of a value and two branches: the first where the value is at most `edge`, else the second."""

    edge: float


def maps_of_segments(map_: SegmentedMap) -> SegmentMaps:
    """The map of each combination of segments; each key has one more that the fit did not see, if there can be one."""
    codes = [[*range(size), *([UNSEEN] if _can_be_new(map_, k) else [])] for k, size in enumerate(map_.keys.sizes)]
    n_maps = int(np.prod([len(segments) for segments in codes], dtype=float))
    maps = {chosen: map_.map_at(np.array(chosen)) for chosen in product(*codes)} if n_maps <= MOST_TOGETHER else {}
    n_pieces = sum(len(segment_map.function.knots()) + 1 for segment_map in maps.values())
    if not maps or n_pieces > MOST_TOGETHER:
        what = f"{n_maps} maps" + (f" of {n_pieces} pieces together" if maps else "")
        raise InvalidInputError(
            f"A map of segments must have at most {MOST_TOGETHER} pieces to become SQL; this one has {what}. Use fewer "
            "keys, or `calibrant.engines.apply_file`."
        )
    return maps


def tree_of_maps(map_: Any, maps: SegmentMaps, chosen: tuple[int, ...] = ()) -> graph.Node:
    """A choice by the segment of the next key, or the tree of the map where the segments of all keys are chosen."""
    k = len(chosen)
    if chosen in maps:
        return decide(graph.lower(maps[chosen].function), domain(map_.space))
    # As in Python, where a missing segment is refused.
    branches: dict[Any, graph.Node] = {None: graph.NOTHING} if map_.missing == "error" else {}
    for code, level in enumerate(map_.keys.levels[k]):
        branches[level] = tree_of_maps(map_, maps, (*chosen, code))
    new = tree_of_maps(map_, maps, (*chosen, UNSEEN)) if _can_be_new(map_, k) else graph.NOTHING
    return graph.Choice(k + 1, tuple(branches), of=(*branches.values(), new))


def _can_be_new(map_: SegmentedMap, k: int) -> bool:
    """Whether a value of key `k` can be one that the fit did not see: not where true and false are known."""
    levels = map_.keys.levels[k]
    can_be_null = map_.missing == "segment" and None not in levels
    return can_be_null or not (map_.keys.kinds[k] == "booleans" and {True, False} <= set(levels))


def value_of(map_: SegmentedMap, k: int, code: int) -> Any:
    """The segment of key `k` with a number, or a value that the fit did not see."""
    if code != UNSEEN:
        return map_.keys.levels[k][code]
    known = [level for level in map_.keys.levels[k] if level is not None]
    kind = map_.keys.kinds[k]
    if kind == "booleans":
        return next((value for value in (True, False) if value not in known), None)
    if kind == "numbers":
        return max(known) + 1
    return max(known, default="") + "~"


def decide(root: graph.Node, within: Interval) -> graph.Node:
    """The same function without searches, for scores `within` an interval.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.maps.functions import Step
    >>> from calibrant.export.expression_graph import lower
    >>> tree = decide(lower(Step([0.5], [0.1, 0.8])), (0.0, 1.0))
    >>> tree.edge, tree.of[1].value, tree.of[2].value
    (0.5, 0.1, 0.8)
    """
    # Operands come first, so nothing that the first search looks at contains a search.
    first = next((node for node in graph.walk(root) if isinstance(node, graph.Search)), None)
    if first is None:
        return root
    low, high = _interval(first.of[0], within)
    edges = first.edges[(first.edges >= low) & (first.edges < high)]

    def branch(start: int, stop: int) -> graph.Node:
        if start == stop:
            below = edges[start - 1] if start else low
            above = edges[stop] if stop < len(edges) else high
            # Edges outside the reach of the value decide as at its end; inside, every value up to `above` agrees.
            leaf = _picked(root, first, float(above))
            inside = (float(below), float(above)) if isinstance(first.of[0], graph.Score) else within
            return decide(leaf, inside)
        middle = (start + stop) // 2
        return Split(float(edges[middle]), of=(*first.of, branch(start, middle), branch(middle + 1, stop)))

    return branch(0, len(edges))


def _picked(root: graph.Node, search: graph.Search, value: float) -> graph.Node:
    """The graph with the search answered as for `value`."""
    place = int(np.searchsorted(search.edges, value, side="left"))

    def answered(node: graph.Node, *parents: graph.Node) -> graph.Node:
        if isinstance(node, graph.Pick) and node.of[0] is search:
            return graph.Number(float(node.table[place]))
        return graph.rebuilt(node, *parents)

    return graph.fold(root, answered)


def _interval(root: graph.Node, within: Interval) -> Interval:
    """Bounds of a value without searches, by interval arithmetic, widened a little for rounding."""
    if isinstance(root, graph.Score):
        return within

    def bounds(node: graph.Node, *parents: Interval) -> Interval:
        if isinstance(node, graph.Number):
            return node.value, node.value
        if isinstance(node, graph.Operation):
            return _operation_bounds(node.kind, parents)
        if isinstance(node, Split | graph.Choice):
            ends = np.array(parents[1:] if isinstance(node, Split) else parents)
            return float(ends.min()), float(ends.max())
        return within

    low, high = graph.fold(root, bounds)
    slack = 1e-9 * max(abs(low), abs(high), 1.0)
    return (low - slack, high + slack)


def _operation_bounds(kind: str, of: tuple[Interval, ...]) -> Interval:
    corners = np.array(list(product(*of))).T
    with np.errstate(all="ignore"):
        ends = graph.ARITHMETIC[kind](*corners)
    if np.isnan(ends).any() or (kind == "div" and of[1][0] <= 0.0 <= of[1][1]):
        return (-np.inf, np.inf)
    return (float(ends.min()), float(ends.max()))


def thin(map_: CalibrationMap) -> tuple[CalibrationMap, float]:
    """A map of at most `MOST_PIECES` pieces, and its largest distance from the given one: 0 where that is short itself.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant import CalibrationMap
    >>> from calibrant.maps.functions import Linear
    >>> x = np.linspace(0.0, 1.0, 2001)
    >>> short, off = thin(CalibrationMap(Linear(x, x**2), "probability"))
    >>> len(short.function.x) < 400, off < 1e-5
    (True, True)
    """
    if _pieces(map_.function) <= MOST_PIECES:
        return map_, 0.0
    for tolerance in TOLERANCES:
        shorter = replace(map_, function=thin_function(map_.function, tolerance))
        if _pieces(shorter.function) <= MOST_PIECES:
            scores = parity.probe(map_)
            return shorter, float(np.abs(shorter(scores) - map_(scores)).max())
    raise InvalidInputError(
        f"This map has {_pieces(map_.function)} pieces, and {MOST_PIECES} cannot follow it within {TOLERANCES[-1]:g}. "
        "Export it to Python or ONNX, or fit a smoother method."
    )


def _pieces(function: MapFunction) -> int:
    if isinstance(function, Chain):
        return sum(_pieces(part) for part in function.parts)
    return len(function.values) if isinstance(function, Step) else len(function.knots())
