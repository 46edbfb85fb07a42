"""Where to look for the piece of a map: equally wide buckets of scores with few edges in each.

A search among sorted edges is then one look-up in a list of buckets and a few steps of bisection inside the bucket.
Every comparison is with the exact edge, so no score falls on the wrong side. Lists are kept short: two more look-ups
in lists that stay in the processor's cache cost less than one in a list that does not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from calibrant._typing import Floats, Ints
from calibrant.export.expression_graph import (
    LARGEST_LOGIT,
    Node,
    Number,
    Operation,
    Pick,
    Score,
    Search,
    evaluate,
    walk,
)

__all__ = ["Buckets", "Interval", "choose", "guides_of", "is_bound_of_logits", "ordered"]

SIZES = (256, 1024, 4096, 16384, 65536)
SHORT = 1024  # so many buckets stay in the cache whatever else does
FEW = 3  # edges in a bucket
WIDER = 4  # times as many buckets are worth that they cover all values
BESIDE = 1e-6  # of a bucket
Interval = tuple[float, float]


def choose(
    search: Search, guide: Node | None, domain: Interval, sizes: tuple[int, ...] = SIZES
) -> tuple[Buckets, Node]:
    """Buckets for a search, and the value that tells the bucket: the searched one, or its guide if that is better."""
    buckets = Buckets.of(search.edges, domain if isinstance(search.of, Score) else None, sizes)
    if guide is not None and buckets.most > FEW and np.isfinite(np.subtract(*domain)):
        ends = evaluate(guide, np.array(domain))
        guided = Buckets.guided(evaluate(guide, search.edges), (float(ends[0]), float(ends[1])), sizes)
        if guided.most < buckets.most:
            return guided, guide
    return buckets, search.of


def guides_of(nodes: list[Node]) -> dict[int, Node]:
    """For a search of scores whose lines run over another number, a function of the score: that number.

    The logit that a map's lines run over spreads knots evenly that crowd at 0 and 1 as probabilities.
    """
    found: dict[int, Node] = {}
    for node in nodes:
        if isinstance(node, Operation) and node.kind == "sub":
            first, second = node.of
            if isinstance(second, Pick) and isinstance(second.search, Search) and isinstance(first, Operation):
                search, below = second.search, list(walk(first))
                if isinstance(search.of, Score) and not any(isinstance(part, Search) for part in below):
                    found[id(search)] = first
    return found


def is_bound_of_logits(node: Operation) -> bool:
    """Whether it keeps an exponential from overflowing; in DuckDB that is infinite, and 1 / (1 + ∞) is 0, as wanted."""
    bound = node.of[-1]
    return node.kind in ("min", "max") and isinstance(bound, Number) and abs(bound.value) == LARGEST_LOGIT


def ordered(nodes: list[Node], guides: dict[int, Node]) -> Iterator[Node]:
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
    def of(cls, edges: Floats, domain: Interval | None, sizes: tuple[int, ...] = SIZES) -> Buckets:
        """As few buckets as leave few edges in each, or the most that are allowed.

        Buckets that cover the domain of the values spare each value the question whether it lies between the edges.
        """
        low, high = float(edges[0]), float(edges[-1])
        found = _divided(edges, low, high, sizes)
        whole = None if domain is None else _divided(edges, *domain, sizes)
        covers = whole is not None and (found is None or _is_as_good(whole[1], found[1]))
        if covers and domain is not None:
            (low, high), found = domain, whole
        if found is None:
            return cls(low, high, 0.0, np.zeros(1, dtype=np.intp), len(edges))
        scale, counts = found
        return cls(low, high, scale, np.cumsum(counts) - counts, int(counts.max()), covers)

    @classmethod
    def guided(cls, guides: Floats, domain: Interval, sizes: tuple[int, ...] = SIZES) -> Buckets:
        """Buckets of another number than the searched one, which is known at the edges.

        Its logarithms may be rounded differently in the engine, so a bucket also counts edges right beside it.
        """
        found = cls.of(guides, domain, sizes)
        if found.scale == 0.0 or (np.diff(guides) < 0.0).any():
            return replace(found, most=len(guides))
        places = (guides - found.low) * found.scale
        n = np.arange(len(found.before))
        before = np.searchsorted(places, n - (0.5 + BESIDE))
        until = np.searchsorted(places, n + (0.5 + BESIDE), side="right")
        before[-1], until[-1] = min(before[-1], len(guides)), len(guides)
        return replace(found, before=before, most=int((until - before).max()))


def _is_as_good(whole: Ints, inner: Ints) -> bool:
    """Whether buckets that cover all values are not too many, nor hold too many edges."""
    return len(whole) <= WIDER * len(inner) and bool(whole.max() <= max(FEW, inner.max()))


def _divided(edges: Floats, low: float, high: float, sizes: tuple[int, ...]) -> tuple[float, Ints] | None:
    """Buckets for each unit between two bounds, and how many edges lie in each; None if the bounds do not allow any."""
    few = None
    for n in sizes:
        with np.errstate(over="ignore", divide="ignore"):
            scale = float(n / (np.float64(high) - low))
        if not 0.0 < scale < np.inf:
            return None
        own = np.clip(np.rint((edges - low) * scale), 0, n).astype(np.intp)
        found = scale, np.bincount(own, minlength=n + 1)
        if found[1].max() == 1:  # one step of bisection
            return found if few is None or n <= SHORT else few
        if few is None and (found[1].max() <= FEW or n == sizes[-1]):  # two steps, or more
            few = found
    return few
