"""The synthetic task of the Bayes-Iso paper, with its truth in closed form."""

from __future__ import annotations

import numpy as np
from scipy.special import beta

from calibrant._typing import Floats
from calibrant.simulate.base import Seed, Simulation, check_rows, simulation

__all__ = ["bayes_iso"]


def bayes_iso(n: int, *, rng: Seed = 0) -> Simulation:
    """Negatives from Beta(1, 3), positives from ½ Beta(1.5, 3) + ½ Beta(30, 3), half of the rows positive.

    The true map rises, is nearly flat, and rises again. A perfect calibrator has a Brier score of about .162 and a
    log-loss of about .473.

    Parameters
    ----------
    n : int
        Number of rows; n // 2 are positive.
    rng : int, numpy.random.Generator or None
        The seed or generator; the same seed gives the same rows.

    Returns
    -------
    Simulation

    References
    ----------
    Allikivi and Kull 2019, "Non-parametric Bayesian Isotonic Calibration", section 4.1.

    Examples
    --------
    >>> from calibrant import simulate
    >>> data = simulate.bayes_iso(6, rng=0)
    >>> data.labels.tolist(), data.scores.round(3).tolist()
    ([1, 1, 0, 1, 0, 0], [0.953, 0.375, 0.129, 0.955, 0.001, 0.217])
    """
    rows, generator = check_rows(n), np.random.default_rng(rng)
    n_positive = rows // 2
    negatives = generator.beta(1, 3, rows - n_positive)
    low = generator.random(n_positive) < 0.5
    positives = np.where(low, generator.beta(1.5, 3, n_positive), generator.beta(30, 3, n_positive))
    order = generator.permutation(rows)
    scores = np.concatenate((negatives, positives))[order]
    labels = np.repeat((False, True), (rows - n_positive, n_positive))[order]
    return simulation(scores, labels, _posterior(scores))


def _posterior(scores: Floats) -> Floats:
    # All three densities share the factor (1 − s)², which cancels.
    positive = 0.5 * scores**0.5 / beta(1.5, 3) + 0.5 * scores**29 / beta(30, 3)
    out: Floats = positive / (positive + 1.0 / beta(1, 3))
    return out
