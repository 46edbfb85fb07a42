"""A mixture of maps as one table: straight pieces on the logit scale within a stated distance of it."""

from __future__ import annotations

import numpy as np

from calibrant._kernels import links
from calibrant._typing import Floats
from calibrant.map_functions import LogitLinear, Mixture, PoissonSteps

__all__ = ["tabulated"]

ON_PROBABILITIES = 1e-5  # largest difference to the mixture, far below what any posterior can tell
ON_LOGITS = 1e-3  # and on the logit scale, where probabilities are too small to show it
EXTREME = float(links.logit(np.array(1.0)))
INNER = 8.0
LARGEST = 28.0  # doubles near 1 are too far apart to say much beyond, except for 1 itself
GRID = np.concatenate(
    (np.arange(-EXTREME, -INNER, 0.06), np.arange(-INNER, INNER, 0.02), np.arange(INNER, LARGEST, 0.06))
)
MOST_ROUNDS = 12


def tabulated(mixture: Mixture) -> LogitLinear:
    """Straight pieces on the logit scale that differ from the mixture of probabilities by 1e-5 or little more.

    One look-up replaces the evaluation of every part, in Python and wherever else the map goes.
    """
    from calibrant._kernels import polyline

    z = _first_nodes(mixture)
    y = links.logit(mixture(links.expit(z)))
    for _ in range(MOST_ROUNDS):
        between = _too_far_apart(z, y)
        if not len(between):
            break
        z, y = np.append(z, between), np.append(y, links.logit(mixture(links.expit(between))))
        order = np.argsort(z, kind="stable")
        z, y = z[order], y[order]
    # Half of the budget is for the thinning, the other half for what happens between nodes.
    kept = polyline.simplify(z, y, 0.5 * _budget(y))
    return LogitLinear(z[kept], y[kept], 0.0, 0.0)


def _budget(y: Floats) -> Floats:
    margin = links.expit(y) * links.expit(-y)
    return np.minimum(ON_PROBABILITIES / np.maximum(margin, ON_PROBABILITIES), ON_LOGITS)


def _first_nodes(mixture: Mixture) -> Floats:
    """Logits over all possible scores: a grid, the knots of the parts, and the middles between steps."""
    nodes = [GRID]
    for part in mixture.parts:
        if isinstance(part, LogitLinear):
            nodes.append(part.x)
        elif isinstance(part, PoissonSteps):  # its own knots also say where it turns, which takes long to find
            nodes += [links.logit(part.x), links.logit(0.5 * (part.x[1:] + part.x[:-1]))]
        else:
            nodes.append(links.logit(part.knots()))
    z = np.concatenate(nodes)
    return np.append(np.unique(z[z <= LARGEST]), EXTREME)


def _too_far_apart(z: Floats, y: Floats) -> Floats:
    """Middles of the gaps beside nodes that a straight line between their neighbours would miss."""
    share = (z[1:-1] - z[:-2]) / (z[2:] - z[:-2])
    missed = np.abs(y[:-2] + share * (y[2:] - y[:-2]) - y[1:-1])
    # Halving both gaps divides the distance by four; what is left lies between the nodes.
    turning = np.concatenate(([False], 0.25 * missed > 0.25 * _budget(y[1:-1]), [False]))
    gaps = np.flatnonzero(turning[1:] | turning[:-1])
    middle: Floats = 0.5 * (z[gaps] + z[gaps + 1])
    # A jump between nearly equal scores is one piece.
    return middle[(z[gaps + 1] - z[gaps] > 1e-9 * (1.0 + np.abs(middle))) & (middle < LARGEST)]
