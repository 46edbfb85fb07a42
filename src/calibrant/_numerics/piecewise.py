"""Curves: lines through points, the nearest curve that never falls, fewer points for a smooth one, and crossings."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from calibrant._numerics import links
from calibrant._typing import Floats, Ints

ON_PROBABILITIES = 5e-7  # largest difference of expit of the straight pieces to expit of the curve
CLOSE = 1e-6  # nodes nearer than this are one
ON_LOGITS = 1e-3  # and of the logits, where probabilities are too small to show it


def interpolate(scores: Floats, x: Floats, y: Floats) -> Floats:
    """Straight lines between the points (x, y), constant outside; x increases strictly. Of curves y (d, n), all."""
    if y.ndim > 1:  # a place counts the points before a score, and as a fraction how far it is on to the next one
        places = interpolate(scores, x, np.arange(len(x), dtype=np.float64))
        left = places.astype(int)
        begin, found = y[:, left], y[:, np.minimum(left + 1, len(x) - 1)]
        found -= begin  # in place, as there may be gigabytes
        found *= places - left
        found += begin
        return found
    found = np.interp(scores, x, y)
    if not np.isfinite(found).all():  # a slope between two points overflowed: no score is far from either
        nearest = y[np.maximum(np.searchsorted(x, scores, side="right") - 1, 0)]
        return np.where(np.isfinite(found), found, nearest)
    return found


def halve(is_below: Callable[[Any], Any], low: Any, high: Any, steps: int) -> tuple[Any, Any]:
    """Bring `low` and `high`, numbers or arrays, together around where `is_below` turns from true to false."""
    for _ in range(steps):
        middle = 0.5 * (low + high)
        below = is_below(middle)
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return low, high


def nearest_monotone(y: Floats) -> Floats:
    """The non-decreasing sequence with the smallest largest difference to y, along the last axis.

    It is the middle between the highest value so far and the lowest value to come (isotonic regression in the
    maximum norm). A sequence that rises already stays as it is, and no rising truth gets farther away. O(n).
    """
    so_far = np.maximum.accumulate(y, axis=-1)
    to_come = np.minimum.accumulate(y[..., ::-1], axis=-1)[..., ::-1]
    return 0.5 * (so_far + to_come)


def second_differences(x: Floats) -> Floats:
    """The matrix of second divided differences at x, each weighted by the stretch that it stands for, (n − 2, n)."""
    gap = np.diff(x)
    slopes = np.diff(np.eye(len(x)), axis=0) / gap[:, None]
    return np.diff(slopes, axis=0) / np.sqrt(0.5 * (gap[1:] + gap[:-1]))[:, None]


def straight_pieces(x: Floats, y: Floats, breaks: Floats) -> tuple[Floats, Floats]:
    """Points of straight pieces that follow the curve through the nodes (x, y).

    The curve is a cubic spline between neighbouring `breaks`, which are nodes and where it may bend; each stretch
    needs four nodes. Points are as close as the local curvature needs. O(nodes + points).
    """
    from scipy.interpolate import CubicSpline  # a loaded map interpolates too, and needs numpy alone

    parts = []
    for low, high in pairwise(np.searchsorted(x, breaks)):
        kept = low + _apart(x[low : high + 1])
        here, there = x[kept], y[kept]
        curve = CubicSpline(here, there)
        # A chord of length h differs from the curve by at most h² |y''| / 8.
        margin = links.expit(there) * links.expit(-there)
        budget = np.minimum(ON_PROBABILITIES / np.maximum(margin, ON_PROBABILITIES), ON_LOGITS)
        density = np.sqrt(np.abs(curve(here, 2)) / (8.0 * budget))
        count = np.concatenate(([0.0], np.cumsum(np.diff(here) * np.maximum(density[1:], density[:-1]))))
        points = np.interp(np.linspace(0.0, 1.0, int(count[-1]) + 2), count / max(count[-1], 1.0), here)
        points[0], points[-1] = here[0], here[-1]
        points = np.unique(points)
        parts.append((points[:-1], curve(points[:-1])))
    px, py = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return np.append(px, x[-1]), np.append(py, y[-1])


def _apart(x: Floats) -> Ints:
    """The nodes that are not too close to the one before for a third derivative to survive rounding; both ends stay."""
    kept = np.flatnonzero(np.diff(x, prepend=-np.inf) > CLOSE)
    if len(kept) > 1 and x[-1] - x[kept[-1]] <= CLOSE:
        kept = kept[:-1]
    return np.append(kept, len(x) - 1)
