"""Straight pieces for a smooth curve on the logit scale, with a bound on the error; and the nearest rising curve."""

from itertools import pairwise

import numpy as np
from scipy.interpolate import CubicSpline

from calibrant._numerics import links
from calibrant._typing import Floats, Ints

ON_PROBABILITIES = 5e-7  # largest difference of expit of the straight pieces to expit of the curve
CLOSE = 1e-6  # nodes nearer than this are one
ON_LOGITS = 1e-3  # and of the logits, where probabilities are too small to show it


def straight_pieces(x: Floats, y: Floats, breaks: Floats) -> tuple[Floats, Floats]:
    """Points of straight pieces that follow the curve through the nodes (x, y).

    The curve is a cubic spline between neighbouring `breaks`, which are nodes and where it may bend; each stretch
    needs four nodes. Points are as close as the local curvature needs. O(nodes + points).
    """
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


def nearest_monotone(y: Floats) -> Floats:
    """The non-decreasing sequence with the smallest largest difference to y, along the last axis.

    It is the middle between the highest value so far and the lowest value to come (isotonic regression in the
    maximum norm). A sequence that rises already stays as it is, and no rising truth gets farther away. O(n).
    """
    so_far = np.maximum.accumulate(y, axis=-1)
    to_come = np.minimum.accumulate(y[..., ::-1], axis=-1)[..., ::-1]
    out: Floats = 0.5 * (so_far + to_come)
    return out


def cumulative_corrections(scores: Floats, positives: Floats, totals: Floats, n_knots: int) -> Floats:
    """How much the spline of Gupta et al. (2021) adds to the score of each cell, for cells sorted by score.

    With t the share of rows up to a score, h(t) is the cumulative sum of (label - score) divided by N. A natural
    cubic spline with evenly spaced knots is fitted to h by least squares over the rows; since
    h'(t) = P(y = 1 | s(t)) - s(t), its derivative is the correction. O(m · knots²).
    """
    total = totals.sum()
    ends = np.concatenate(([0.0], np.cumsum(totals) / total))
    heights = np.concatenate(([0.0], np.cumsum(positives - scores * totals) / total))
    knots = np.linspace(0.0, 1.0, min(n_knots, len(scores) + 1))
    if len(knots) == 2:
        return np.full(len(scores), heights[-1])
    basis = CubicSpline(knots, np.eye(len(knots)), bc_type="natural")
    weight = np.sqrt(np.concatenate((totals[:1], totals)))
    coefficients = np.linalg.lstsq(basis(ends) * weight[:, None], heights * weight, rcond=None)[0]
    middle = 0.5 * (ends[1:] + ends[:-1])
    out: Floats = basis(middle, 1) @ coefficients
    return out
