"""A map as a small graph of arithmetic: the one description from which it is written in every other language.

A graph has six kinds of nodes: scores, numbers, operations, the search of a value among sorted edges, the number that a
search picks from a table, and the choice by what stands in a column. Nodes are shared by identity, so a value that is
needed twice is one node. The graph of a map of several classes has arrays beside numbers, and a few operations on them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from calibrant._numerics import links
from calibrant._typing import Floats
from calibrant.errors import InvalidInputError
from calibrant.maps import functions
from calibrant.maps.base import LARGEST
from calibrant.maps.matrix import MatrixMap
from calibrant.maps.score import first_double

LARGEST_LOGIT = 500.0  # exp(500) is far from overflow, and expit(-500) is 0 for every purpose


@dataclass(frozen=True, eq=False)
class Node:
    """A value in the graph, and those that it is computed from. The operators build operations."""

    of: tuple[Node, ...] = field(default=(), kw_only=True)

    def __add__(self, other: Node | Floats | float) -> Node:
        return operation("add", self, other)

    def __sub__(self, other: Node | Floats | float) -> Node:
        return operation("sub", self, other)

    def __rsub__(self, other: float) -> Node:
        return operation("sub", other, self)

    def __mul__(self, other: Node | Floats | float) -> Node:
        return operation("mul", self, other)

    def __rtruediv__(self, other: float) -> Node:
        return operation("div", other, self)

    def __truediv__(self, other: Node | Floats | float) -> Node:
        return operation("div", self, other)


@dataclass(frozen=True, eq=False)
class Score(Node):
    """The score that the map is given; of several, the one in a column."""

    column: int = 0


@dataclass(frozen=True, eq=False)
class Number(Node):
    """A constant."""

    value: float


@dataclass(frozen=True, eq=False)
class Array(Node):
    """Constants, for the rows of a matrix."""

    value: Floats


@dataclass(frozen=True, eq=False)
class Operation(Node):
    """add, sub, mul, div, min, max of two values; exp, log of one.

    For the rows of a matrix, too: tanh, `log_softmax` of each row, `softmax` along the third axis, the `highest` of
    each row, (n, 1), a `column` for each entry, (n, K, 1), and `einsum`, the sums of products of its `equation`.
    """

    kind: str
    equation: str = ""


@dataclass(frozen=True, eq=False)
class Search(Node):
    """The number of sorted `edges` that lie below a value: the bin rule of `calibrant._numerics.bins`."""

    edges: Floats


@dataclass(frozen=True, eq=False)
class Pick(Node):
    """The number of a table at the place that a search found."""

    table: Floats


@dataclass(frozen=True, eq=False)
class Choice(Node):
    """The branch of what a row has in a column, where None is missing; the last branch for all else."""

    column: int
    levels: tuple[Any, ...]


SCORE = Score()
NOTHING = Number(np.nan)  # where there is no probability
Function: TypeAlias = Callable[..., Any]
ARITHMETIC: dict[str, Function] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "min": np.minimum,
    "max": np.maximum,
    "exp": np.exp,
    "log": np.log,
}


def operation(kind: str, *operands: Node | Floats | float) -> Node:
    """An operation, or its result where all operands are numbers."""
    nodes = tuple(map(_as_node, operands))
    values = [x.value for x in nodes if isinstance(x, Number)]
    if len(values) == len(nodes):
        return Number(float(ARITHMETIC[kind](*values)))
    if kind == "mul" and 0.0 in values:  # scores are finite, so this is exact
        return Number(0.0)
    if (kind == "mul" and 1.0 in values) or (kind == "add" and 0.0 in values):
        return nodes[0] if isinstance(nodes[1], Number) else nodes[1]
    return Operation(kind, of=nodes)


def _as_node(value: Node | Floats | float) -> Node:
    if isinstance(value, Node):
        return value
    return Array(value) if isinstance(value, np.ndarray) else Number(float(value))


def walk(root: Node) -> Iterator[Node]:
    """Every node once, operands before what is computed from them."""
    seen: set[int] = set()
    stack: list[tuple[Node, bool]] = [(root, False)]
    while stack:
        node, ready = stack.pop()
        if ready:
            yield node
        elif id(node) not in seen:
            seen.add(id(node))
            stack.append((node, True))
            stack.extend((parent, False) for parent in reversed(node.of))


def fold(root: Node, write: Callable[..., Any]) -> Any:
    """Write a graph in a language: `write` is given every node once, and what it wrote for the parents of the node."""
    written: dict[int, Any] = {}
    for node in walk(root):
        written[id(node)] = write(node, *(written[id(parent)] for parent in node.of))
    return written[id(root)]


def rebuilt(node: Node, *parents: Node) -> Node:
    """The node with other parents; where they are the same, itself, so that shared values stay shared."""
    if all(a is b for a, b in zip(node.of, parents, strict=True)):
        return node
    return operation(node.kind, *parents) if isinstance(node, Operation) else replace(node, of=parents)


def lower(function: functions.MapFunction) -> Node:
    """The graph of a function."""
    return share(lowered(function, SCORE))


def share(root: Node) -> Node:
    """The same graph, in which no operation on the same values occurs twice."""
    known: dict[Any, Node] = {}

    def shared(node: Node, *parents: Node) -> Node:
        new = rebuilt(node, *parents)
        if isinstance(new, Number):
            return known.setdefault(new.value, new)
        if isinstance(new, Operation):
            return known.setdefault((new.kind, *map(id, parents)), new)
        return known.setdefault((id(new.of[0]), new.edges.tobytes()), new) if isinstance(new, Search) else new

    return fold(root, shared)


def lowered(function: functions.MapFunction, x: Node) -> Node:
    """The graph of a function of a value."""
    rule = LOWERINGS.get(type(function))
    if rule is None:
        raise InvalidInputError(
            f"The function {function.name!r} cannot leave Python: it has no rule in "
            "calibrant.export.expression_graph.LOWERINGS. Add one, or fit a function that has."
        )
    return rule(function, x)


def linear(function: functions.Linear, x: Node) -> Node:
    """Straight lines between points."""
    # numpy.interp starts a piece at its knot, so the edge is the double before the knot.
    return _pieces(x, x, np.nextafter(function.x, -np.inf), _lines(function.x, function.y, 0.0, 0.0))


def logits_of(function: functions.MapFunction, x: Node) -> Node:
    """The logit of a function of a value, without a detour over the probability where that can be."""
    if isinstance(function, functions.Chain):
        return logits_of(function.parts[-1], _chain(functions.Chain(function.parts[:-1]), x))
    if not isinstance(function, functions.LogitLinear):
        return logit(lowered(function, x))
    # Searching the probability, not its logit, keeps the logarithm out of all comparisons.
    return _pieces(x, logit(x), _last_below(function.x), _logit_lines(function))


def logits_at(function: functions.MapFunction, z: Node) -> Node:
    """The logit of a function of the probability with this logit."""
    if not isinstance(function, functions.LogitLinear):
        return logits_of(function, expit(z))
    return _pieces(z, z, np.nextafter(function.x, -np.inf), _logit_lines(function))


def _logit_lines(function: functions.LogitLinear) -> Lines:
    return _lines(function.x, function.y, function.slope_below, function.slope_above)


def _chain(function: functions.Chain, x: Node) -> Node:
    for part in function.parts:
        x = lowered(part, x)
    return x


def lower_matrix(map_: MatrixMap) -> Node:
    """The graph of a map of several classes, from rows of scores, (n, K), to probabilities, (n, K).

    With ℓ the tempered log-probabilities and u = ℓ clipped to the bounds of the map, every one of its M members has K
    logits, and all of them are linear in the same few features. A curve that is straight between knots is a sum of
    ramps, each rising from 0 to 1 between two neighbouring knots; so no language needs a search.
    """
    scores = operation("log", operation("max", SCORE, map_.floor)) if map_.space == "probability" else SCORE
    ell = operation("log_softmax", scores * map_.inverse_temperature)
    u = clip(ell, max(map_.low, -LARGEST), min(map_.high, LARGEST))
    members, n_classes = map_.members, len(map_.classes)
    logits = _product("nk,m->nmk", ell, np.array([1.0 + member.slope for member in members]))

    def stacked(name: str, *shape: int) -> Floats | None:
        """A part of all members, zero where a member does not have it; None where no member has it."""
        parts: list[Floats] = [getattr(member, name) for member in members]
        return np.array([x if x.size else np.zeros(shape) for x in parts]) if any(x.size for x in parts) else None

    if (bias := stacked("bias", n_classes)) is not None:
        logits = logits + bias
    if (curve := stacked("curve", len(map_.curve_knots))) is not None:
        logits = logits + _curves("nkj,mj->nmk", ell, map_.curve_knots, curve) + curve[:, :1]
    if (own := stacked("class_curves", n_classes, len(map_.class_knots))) is not None:
        logits = logits + _curves("nkj,mkj->nmk", ell, map_.class_knots, own) + own[:, :, 0]
    if (gate := stacked("gate", len(map_.gate_knots))) is not None:
        heights = _curves("nkj,mj->nm", _log_odds(operation("highest", ell)), map_.gate_knots, gate) + gate[:, 0]
        logits = logits + _product("nm,nk->nmk", heights, u)
    for name, features, shape in [
        ("vector", u, (n_classes,)),
        ("matrix", u, (n_classes, n_classes)),
        ("confusion", operation("exp", ell), (n_classes, n_classes)),
    ]:
        if (part := stacked(name, *shape)) is not None:
            logits = logits + _product("nk,mk->nmk" if part.ndim == 2 else "ni,mki->nmk", features, part)
    if (joint := stacked("joint", n_classes, len(map_.landmarks))) is not None:
        gaps = operation("column", u) - map_.landmarks.T
        near = operation("exp", _product("nkl,nkl->nl", gaps, gaps) * (-0.5 / map_.reach**2))
        logits = logits + _product("nl,mkl->nmk", near, joint)
    weights = np.array([member.weight for member in members])
    return _product("nmk,m->nk", operation("softmax", logits), weights)


def _product(equation: str, left: Node, right: Node | Floats) -> Node:
    return Operation("einsum", equation, of=(left, _as_node(right)))


def clip(x: Node, low: float, high: float) -> Node:
    """A value within two ends."""
    return operation("max", operation("min", x, high), low)


def _curves(equation: str, x: Node, knots: Floats, values: Floats) -> Node:
    """How far curves with these values at the knots have risen at x."""
    if len(knots) == 1:  # constants
        knots, values = knots + np.arange(2.0), np.repeat(values, 2, axis=-1)
    ramps = clip((operation("column", x) - knots[:-1]) / np.diff(knots), 0.0, 1.0)
    return _product(equation, ramps, np.diff(values))


def _log_odds(log_p: Node) -> Node:
    """The log-odds, at most 35, from log p: 1 - exp(x) is -2 t / (1 - t) with t = tanh(x / 2), to the last digits."""
    t = operation("tanh", operation("min", log_p, 0.0) * 0.5)
    return log_p - operation("log", operation("max", (t * -2.0) / (1.0 - t), 1e-15))


def _log(x: Node) -> Node:
    # max(p, EPS) and max(1 - p, EPS) is the clipping of `links.clip`: 1 - (1 - EPS) is EPS exactly.
    return operation("log", operation("max", x, links.EPS))


def logit(x: Node) -> Node:
    """ln(p / (1 - p)) of a clipped probability."""
    return _log(x) - _log(1.0 - x)


def expit(z: Node) -> Node:
    """1 / (1 + exp(-z))."""
    return 1.0 / (operation("exp", clip(0.0 - z, -LARGEST_LOGIT, LARGEST_LOGIT)) + 1.0)


Lines: TypeAlias = tuple[Floats, Floats, Floats]


def _lines(x: Floats, y: Floats, below: float, above: float) -> Lines:
    """Origin, value there and slope of each piece of a broken line, with the two ends."""
    with np.errstate(over="ignore"):  # a gap near the smallest double
        steep = np.clip(np.diff(y) / np.diff(x), -LARGEST, LARGEST)
    slopes = np.concatenate(([below], steep, [above]))
    return np.concatenate((x[:1], x)), np.concatenate((y[:1], y)), slopes


def _pieces(searched: Node, x: Node, edges: Floats, lines: Lines) -> Node:
    """The line of the piece that `searched` lies in, value + slope · (x - origin)."""
    reachable = slice(int((edges == -np.inf).sum()), len(edges) + 1 - int((edges == np.inf).sum()))
    origin, value, slope = (column[reachable] for column in lines)
    search = (Search(edges[np.isfinite(edges)], of=(searched,)),)
    flat = slope == 0.0  # 0 · x is 0 for every finite x; a far origin must not make it overflow
    return Pick(value, of=search) + Pick(slope, of=search) * (x - Pick(np.where(flat, 0.0, origin), of=search))


def _last_below(logits: Floats) -> Floats:
    """The largest probability whose logit lies below each value, found among all doubles; ±inf where none or all."""
    none, everything = links.logit(np.zeros(1)) >= logits, links.logit(np.ones(1)) < logits
    first = first_double(lambda scores: links.logit(scores) >= logits, np.zeros(len(logits)), np.ones(len(logits)))
    return np.where(none, -np.inf, np.where(everything, np.inf, np.nextafter(first, -np.inf)))


#: How each function becomes arithmetic; a function of your own gets its rule, from (function, score) to a node, here.
LOWERINGS: dict[type[functions.MapFunction], Callable[[Any, Node], Node]] = {
    functions.Identity: lambda _, x: x,
    functions.Step: lambda f, x: Pick(f.values, of=(Search(f.edges, of=(x,)),)),
    functions.Linear: linear,
    functions.LogitLinear: lambda f, x: expit(logits_of(f, x)),
    functions.Sigmoid: lambda f, x: expit((logit(x) if f.link == "logit" else x) * f.slope + f.intercept),
    functions.Beta: lambda f, x: expit(_log(x) * f.a - _log(1.0 - x) * f.b + f.c),
    functions.Chain: _chain,
}
