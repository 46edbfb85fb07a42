"""TCE_bpm: the calibration error of a fitted continuous curve."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibrant import _limits
from calibrant._kernels import beta_integral, links
from calibrant._typing import ArrayLike, Floats
from calibrant.errors import InvalidInputError
from calibrant.metrics.base import as_tally
from calibrant.tally import Tally

__all__ = ["tce_bpm"]

NARROWEST = 1e-6  # a narrower spread of scores is one score to the integral


def tce_bpm(
    y_true: ArrayLike | Tally,
    y_prob: ArrayLike | None = None,
    *,
    p: float = 1.0,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """The L^p distance from the score to a fitted binomial-process curve, over a fitted Beta distribution of scores.

    Algorithm 2 of the paper: Algorithm 1 fits the curve, moments fit the Beta distribution, and the integral is taken
    in the logit of the score, exact to about ten digits (the authors' program sums over a grid of scores, which is
    coarse where the distribution has poles at 0 and 1). It is as good as those two fits: scores that do not follow a
    Beta distribution, or a truth that is not monotone, are outside of what it can see.

    Parameters
    ----------
    y_true : array-like of shape (n,) or Tally
        Labels; or a tally in place of all data.
    y_prob : array-like of shape (n,)
        Probabilities of the positive class.
    p : float
        The norm, finite.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights.
    pos_label : label, optional
        The positive class, where the labels are not bool, {0, 1} or {-1, 1}.

    Returns
    -------
    float

    References
    ----------
    Dong, Jiang, Pan, Yu 2025, "Combining Priors with Experience: Confidence Calibration Based on Binomial Process
    Modeling", Algorithm 2.

    Examples
    --------
    >>> from calibrant import metrics, simulate
    >>> data = simulate.from_truth("D1", 20_000)  # the true error is 0.1307
    >>> round(metrics.tce_bpm(data.labels, data.scores), 2)
    0.13
    """
    if not 1.0 <= p < np.inf:
        raise InvalidInputError(f"`p` must be a finite number of at least 1; got {p!r}.")
    tally = as_tally(y_true, y_prob, sample_weight, pos_label)
    return float(_mean_power(tally, p) ** (1.0 / p))


def _mean_power(tally: Tally, p: float) -> float:
    from calibrant._kernels import binomial_process

    cells = tally.coarsen(_limits.BINOMIAL_PROCESS_CELLS)
    alpha, beta, c = binomial_process.fit_curve(cells.scores, cells.positives, cells.totals)

    def gap(z: Floats) -> Floats:
        # Eq. 12 in z = logit s, where ln s = −ln(1 + e^−z) and ln(1 − s) = −ln(1 + e^z).
        return links.expit(beta * np.logaddexp(0.0, z) - alpha * np.logaddexp(0.0, -z) - c) - links.expit(z)

    mean = float(tally.scores @ tally.totals / tally.total)
    variance = float(np.square(tally.scores - mean) @ tally.totals / tally.total)
    if variance < NARROWEST**2 or mean * (1.0 - mean) - variance < NARROWEST**2:
        # One score, or only 0 and 1: no Beta distribution, but the sum over the scores is exact.
        at_scores = np.abs(gap(links.logit(tally.scores))) ** p
        return float(at_scores @ tally.totals / tally.total)
    a_1 = mean * (mean * (1.0 - mean) / variance - 1.0)
    a_2 = a_1 * (1.0 - mean) / mean
    return beta_integral.expectation(lambda z: np.abs(gap(z)) ** p, a_1, a_2, beta_integral.sign_changes(gap))
