"""A map's graph as a balanced decision tree with closed formulas in its leaves, for languages without arrays.

SQL has no table lookup inside an expression, so a search becomes nested yes/no questions, log2(pieces) deep, and
every leaf is a formula with its own numbers. A search of a computed value is asked only about the edges that the value
can reach, so a chain of maps has as many leaves as both together, not their product. A map of segments is a choice
among the trees of its segments.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, TypeAlias

import numpy as np

from calibrant._typing import Floats
from calibrant.errors import InvalidInputError
from calibrant.export.expression_graph import (
    ARITHMETIC,
    SCORE,
    Node,
    Number,
    Operation,
    Pick,
    Score,
    Search,
    domain,
    lower,
    operation,
    walk,
)
from calibrant.maps.keys import UNSEEN
from calibrant.maps.score import CalibrationMap
from calibrant.maps.segments import SegmentedMap

MOST_PIECES = 10_000  # of all segments together; some 300 characters each: three megabytes, which take a minute
Interval: TypeAlias = tuple[float, float]
SegmentMaps: TypeAlias = dict[tuple[int, ...], CalibrationMap]


@dataclass(frozen=True, eq=False)
class Split(Node):
    """`below` where the value is at most `edge`, else `above`."""

    of: Node
    edge: float
    below: Node
    above: Node

    def parents(self) -> tuple[Node, ...]:
        """The value that is compared, and both branches."""
        return (self.of, self.below, self.above)


@dataclass(frozen=True, eq=False)
class Choice(Node):
    """The branch of the value that a row has in a column; `otherwise` for all others, or nothing."""

    column: int
    branches: Mapping[Any, Node | None]
    otherwise: Node | None

    def parents(self) -> tuple[Node, ...]:
        """All branches."""
        return tuple(node for node in (*self.branches.values(), self.otherwise) if node is not None)


def fold(root: Node, score: Any, algebra: Any) -> Any:
    """Write a tree in a language, whose `algebra` can write a number, `apply` an operation, `split` and `choose`.

    ``split(value, edge, below, above)`` is `below` where value <= edge, else `above`;
    ``choose(column, branches, otherwise)`` is the branch of the value in a column.
    """
    written: dict[int, Any] = {}
    for node in walk(root):
        written[id(node)] = _write(node, score, algebra, lambda x: written[id(x)])
    return written[id(root)]


def _write(node: Node, score: Any, algebra: Any, of: Callable[[Node], Any]) -> Any:
    if isinstance(node, Number):
        return algebra.number(node.value)
    if isinstance(node, Operation):
        return algebra.apply(node.kind, *map(of, node.of))
    if isinstance(node, Split):
        return algebra.split(of(node.of), algebra.number(node.edge), of(node.below), of(node.above))
    if isinstance(node, Choice):
        branches = {value: branch and of(branch) for value, branch in node.branches.items()}
        return algebra.choose(node.column, branches, node.otherwise and of(node.otherwise))
    return score


def tree_of(map_: CalibrationMap) -> Node:
    """The tree of a map, for scores that it accepts."""
    return decide(lower(map_.function), domain(map_.space))


def maps_of_segments(map_: SegmentedMap) -> SegmentMaps:
    """The map of each combination of segments; each key has one more that the fit did not see, if there can be one."""
    codes = [[*range(size), *([UNSEEN] if _can_be_new(map_, k) else [])] for k, size in enumerate(map_.keys.sizes)]
    n_maps = int(np.prod([len(segments) for segments in codes], dtype=float))
    maps = {chosen: map_.map_at(np.array(chosen)) for chosen in product(*codes)} if n_maps <= MOST_PIECES else {}
    n_pieces = sum(len(segment_map.function.knots()) + 1 for segment_map in maps.values())
    if not maps or n_pieces > MOST_PIECES:
        what = f"{n_maps} maps" + (f" of {n_pieces} pieces together" if maps else "")
        raise InvalidInputError(
            f"A map of segments must have at most {MOST_PIECES} pieces to become SQL; this one has {what}. Use fewer "
            "keys, or `calibrant.engines.apply_file`."
        )
    return maps


def tree_of_segments(map_: SegmentedMap, maps: SegmentMaps, chosen: tuple[int, ...] = ()) -> Node:
    """A choice by the segment of the next key, or the tree of the map where the segments of all keys are chosen."""
    k = len(chosen)
    if k == len(map_.keys.names):
        return tree_of(maps[chosen])
    # As in Python, where a missing segment is refused.
    branches: dict[Any, Node | None] = {None: None} if map_.missing == "error" else {}
    for code, level in enumerate(map_.keys.levels[k]):
        branches[level] = tree_of_segments(map_, maps, (*chosen, code))
    new = tree_of_segments(map_, maps, (*chosen, UNSEEN)) if _can_be_new(map_, k) else None
    return Choice(k, branches, new)


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


def decide(root: Node, within: Interval) -> Node:
    """The same function without searches, for scores `within` an interval.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.maps.functions import Step
    >>> from calibrant.export.expression_graph import lower
    >>> tree = decide(lower(Step([0.5], [0.1, 0.8])), (0.0, 1.0))
    >>> tree.edge, tree.below.value, tree.above.value
    (0.5, 0.1, 0.8)
    """
    # Operands come first, so nothing that the first search looks at contains a search.
    first = next((node for node in walk(root) if isinstance(node, Search)), None)
    if first is None:
        return root
    low, high = _interval(first.of, within)
    edges = first.edges[(first.edges >= low) & (first.edges < high)]

    def branch(start: int, stop: int) -> Node:
        if start == stop:
            below = edges[start - 1] if start else low
            above = edges[stop] if stop < len(edges) else high
            # Edges outside the reach of the value decide as at its end; inside, every value up to `above` agrees.
            leaf = _picked(root, first, float(above))
            inside = (float(below), float(above)) if isinstance(first.of, Score) else within
            return decide(leaf, inside)
        middle = (start + stop) // 2
        return Split(first.of, float(edges[middle]), branch(start, middle), branch(middle + 1, stop))

    return branch(0, len(edges))


def _picked(root: Node, search: Search, value: float) -> Node:
    """The graph with the search answered as for `value`."""
    place = int(np.searchsorted(search.edges, value, side="left"))
    new: dict[int, Node] = {}
    for node in walk(root):
        if isinstance(node, Pick) and node.search is search:
            new[id(node)] = Number(float(node.table[place]))
        elif isinstance(node, Operation):
            operands = [new[id(x)] for x in node.of]
            # The old node where nothing in it changed, so that shared values stay shared.
            same = all(a is b for a, b in zip(node.of, operands, strict=True))
            new[id(node)] = node if same else operation(node.kind, *operands)
        elif isinstance(node, Pick):
            new[id(node)] = Pick(new[id(node.search)], node.table)
        elif isinstance(node, Search):
            new[id(node)] = Search(new[id(node.of)], node.edges)
        else:
            new[id(node)] = node
    return new[id(root)]


def _interval(root: Node, within: Interval) -> Interval:
    """Bounds of a value without searches, by interval arithmetic, widened a little for rounding."""
    if root is SCORE:
        return within
    bounds: dict[int, Interval] = {}
    for node in walk(root):
        if isinstance(node, Number):
            bounds[id(node)] = (node.value, node.value)
        elif isinstance(node, Operation):
            bounds[id(node)] = _operation_bounds(node.kind, [bounds[id(x)] for x in node.of])
        elif isinstance(node, Split):
            below, above = bounds[id(node.below)], bounds[id(node.above)]
            bounds[id(node)] = (min(below[0], above[0]), max(below[1], above[1]))
        else:
            bounds[id(node)] = within
    low, high = bounds[id(root)]
    slack = 1e-9 * max(abs(low), abs(high), 1.0)
    return (low - slack, high + slack)


def _operation_bounds(kind: str, of: list[Interval]) -> Interval:
    corners: Floats = np.array([[x, y] for x in of[0] for y in (of[1] if len(of) == 2 else (0.0,))])
    with np.errstate(all="ignore"):
        ends = ARITHMETIC[kind](corners[:, 0], corners[:, 1]) if len(of) == 2 else ARITHMETIC[kind](corners[:, 0])
    if np.isnan(ends).any() or (kind == "div" and of[1][0] <= 0.0 <= of[1][1]):
        return (-np.inf, np.inf)
    return (float(ends.min()), float(ends.max()))
