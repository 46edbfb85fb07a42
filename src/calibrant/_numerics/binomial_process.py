"""The curve of binomial process modelling: Algorithm 1 of Dong et al. 2025, on the cells of a tally.

How to call it::

    alpha, beta, c = fit_curve(scores, positives, totals)     # a tally's three columns, scores in [0, 1]

The curve of eq. 12, 1 / (1 + s^-α (1 - s)^β e^c), is `calibrant.maps.functions.Beta(alpha, beta, -c)`.

What differs from the authors' program, which differs from the printed algorithm: every bin counts (theirs skips
the highest bin of each binning), each with its weight |b|/|D|; α and β stay non-negative; gradients are exact
(theirs searches without them); and there is no smallest N (theirs fails under 240 rows).
"""

import numpy as np
from scipy.optimize import minimize

from calibrant._numerics import bins, links
from calibrant._typing import Floats, Ints

N_BINNINGS = 10
ROWS_PER_BIN = (100, 20)  # of the coarsest and of the finest binning: the authors' N//100 and N//20 bins
MANY_BINS = 20_000  # in all binnings together
BOUNDS = ((0.0, None), (0.0, None), (None, None))  # of α, β and c
PRECISION = {"ftol": 1e-14, "gtol": 1e-9, "maxiter": 500}
FEWEST_BINS = (3, 10)  # where N is too small for that: three bins determine three parameters (Theorem 4)


def bin_counts(total: float, n_cells: int) -> Ints:
    """How many bins each binning has: at most ten different numbers, for any number of rows."""
    ends = [
        min(max(int(total) // rows, fewest), n_cells) for rows, fewest in zip(ROWS_PER_BIN, FEWEST_BINS, strict=True)
    ]
    return np.unique(np.linspace(ends[0], ends[1], N_BINNINGS).round().astype(np.intp))


def pooled_bins(scores: Floats, positives: Floats, totals: Floats) -> tuple[Floats, Floats, Floats]:
    """Mean score, accuracy and weight |b|/|D| of every bin of every equal-mass binning, one after another.

    Weights sum to one over all binnings together. O(m) for each binning.
    """
    columns = []
    counts = bin_counts(float(totals.sum()), len(scores))
    for n_bins in counts:
        starts = bins.equal_mass_starts(totals, int(n_bins))
        mass = np.add.reduceat(totals, starts)
        mean = np.clip(np.add.reduceat(scores * totals, starts) / mass, 0.0, 1.0)
        columns.append((mean, np.add.reduceat(positives, starts) / mass, mass / totals.sum() / len(counts)))
    mean, accuracy, weight = (np.concatenate(parts) for parts in zip(*columns, strict=True))
    return mean, accuracy, weight


def fit_curve(scores: Floats, positives: Floats, totals: Floats) -> tuple[float, float, float]:
    """(α, β, c) that minimise Algorithm 1's Σ_B Σ_b |b|/|D| exp((g(s_b) - acc_b)²) with α, β ≥ 0.

    The sum is not convex, so L-BFGS-B starts at the identity (1, 1, 0) and at the constant base rate and the
    better end counts. Cells must be sorted by score. O(m) for each of ten binnings and each step.
    """
    mean, accuracy, weight = pooled_bins(scores, positives, totals)
    design = np.asfortranarray(np.column_stack((*links.log_odds_features(mean), np.full(len(mean), -1.0))))
    base = float(links.logit(np.array(positives.sum() / totals.sum())))
    starts = [np.array([1.0, 1.0, 0.0]), np.array([0.0, 0.0, -base])]
    if len(mean) > MANY_BINS:
        # The coarsest binning alone decides between the ends, and is so near that few passes over all bins remain.
        few = slice(0, int(bin_counts(float(totals.sum()), len(scores))[0]))
        starts = [_best(starts, design[few], accuracy[few], weight[few] / weight[few].sum())]
    alpha, beta, c = _best(starts, design, accuracy, weight).tolist()
    return alpha, beta, c


def _best(starts: list[Floats], design: Floats, accuracy: Floats, weight: Floats) -> Floats:
    ends = [
        minimize(_loss, start, (design, accuracy, weight), "L-BFGS-B", jac=True, bounds=BOUNDS, options=PRECISION)
        for start in starts
    ]
    return min(ends, key=lambda end: float(end.fun)).x


def _loss(theta: Floats, design: Floats, accuracy: Floats, weight: Floats) -> tuple[float, Floats]:
    g = links.expit(design @ theta)
    residual = g - accuracy
    p_b = weight * np.exp(residual**2)
    return float(p_b.sum()), design.T @ (2.0 * p_b * residual * g * (1.0 - g))
