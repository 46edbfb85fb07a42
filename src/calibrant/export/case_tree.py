"""A map's graph as a balanced decision tree with closed formulas in its leaves, for languages without arrays.

SQL has no table lookup inside an expression, so a search becomes nested yes/no questions, log2(pieces) deep, and
every leaf is a formula with its own numbers. A search of a computed value is asked only about the edges that the value
can reach, so a chain of maps has as many leaves as both together, not their product.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from calibrant._typing import Floats
from calibrant.export.expression_graph import (
    ARITHMETIC,
    SCORE,
    Node,
    Number,
    Operation,
    Pick,
    Score,
    Search,
    operation,
    walk,
)

Interval: TypeAlias = tuple[float, float]


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


def fold(root: Node, score: Any, algebra: Any) -> Any:
    """Write a tree in a language, whose `algebra` can write a number, `apply` an operation and `split` a value.

    ``split(value, edge, below, above)`` is `below` where value <= edge, else `above`.
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
    return score


def decide(root: Node, domain: Interval) -> Node:
    """The same function without searches, for scores in `domain`.

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
    low, high = _interval(first.of, domain)
    edges = first.edges[(first.edges >= low) & (first.edges < high)]

    def branch(start: int, stop: int) -> Node:
        if start == stop:
            below = edges[start - 1] if start else low
            above = edges[stop] if stop < len(edges) else high
            # Edges outside the reach of the value decide as at its end; inside, every value up to `above` agrees.
            leaf = _picked(root, first, float(above))
            inside = (float(below), float(above)) if isinstance(first.of, Score) else domain
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


def _interval(root: Node, domain: Interval) -> Interval:
    """Bounds of a value without searches, by interval arithmetic, widened a little for rounding."""
    if root is SCORE:
        return domain
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
            bounds[id(node)] = domain
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
