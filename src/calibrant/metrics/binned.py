"""Calibration errors from bins: expected, maximum, adaptive, debiased, and with as many bins as rise."""

from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from calibrant import _limits
from calibrant._numerics import bins as bin_rule
from calibrant._typing import Floats, Ints
from calibrant._validation import check_choice
from calibrant.errors import InvalidInputError
from calibrant.metrics.reading import of_tally
from calibrant.tally import Tally

STRATEGIES = ("uniform", "quantile", "cells")
AUTO = "auto"


class Bins(NamedTuple):
    """Mean score, share of positives, and mass (number of rows) of each bin that holds rows."""

    score: Floats
    rate: Floats
    mass: Floats

    @property
    def gap(self) -> Floats:
        """Mean score minus share of positives."""
        return self.score - self.rate

    @property
    def share(self) -> Floats:
        """Share of all rows."""
        return self.mass / self.mass.sum()

    def norm(self, p: float) -> float:
        """The L^p norm of the gaps over the rows; infinity gives the largest gap."""
        if not p >= 1.0:
            raise InvalidInputError(f"`p` must be at least 1 (infinity gives the maximum); got {p!r}.")
        sizes = np.abs(self.gap)
        return float(sizes.max() if np.isinf(p) else (self.share @ sizes**p) ** (1.0 / p))


def binned(tally: Tally, n_bins: int | str, strategy: str) -> Bins:
    """Join cells to bins by the one bin rule; empty bins do not exist. O(m)."""
    if check_choice("strategy", strategy, STRATEGIES) == "cells":
        return Bins(tally.scores, tally.positives / tally.totals, tally.totals)
    return sums_from(tally, bin_starts(tally, bin_number(n_bins, tally.total), strategy))


def bin_starts(tally: Tally, n_bins: int, strategy: str) -> Ints:
    """The first cell of each bin that has rows."""
    if strategy == "quantile":
        return bin_rule.equal_mass_starts(tally.totals, n_bins)
    # The cells are sorted, so a bin, closed on the right, begins behind the last score that is at most its lower edge.
    first = np.searchsorted(tally.scores, bin_rule.equal_width_edges(n_bins), side="right")
    return np.unique(np.concatenate(([0], first[first < len(tally)])))


def sums_from(tally: Tally, starts: Ints) -> Bins:
    """The bins that begin at the given cells."""
    mass = np.add.reduceat(tally.totals, starts)
    score = np.add.reduceat(tally.scores * tally.totals, starts) / mass
    return Bins(score, np.add.reduceat(tally.positives, starts) / mass, mass)


def bin_number(n_bins: Any, total: float, most: float = np.inf) -> int:
    """The number of bins: as given, or with "auto" the cube root of the number of rows, rounded up, at most `most`."""
    if isinstance(n_bins, str) and n_bins == AUTO:
        return int(np.clip(np.ceil(np.cbrt(total) - 1e-9), 1, most))
    if isinstance(n_bins, bool) or not isinstance(n_bins, Integral) or n_bins < 1:
        raise InvalidInputError(f"`n_bins` must be a positive integer or 'auto'; got {n_bins!r}.")
    return int(n_bins)


@of_tally
def expected_calibration_error(
    tally: Tally, *, n_bins: int | str = 15, strategy: str = "uniform", p: float = 1.0
) -> float:
    """Gap between mean probability and share of positives in each bin, averaged over the rows (ECE).

    The estimate is biased upwards where bins hold few rows: a perfectly calibrated model does not reach 0. Compare
    models by a proper score, not by this; see `debiased_calibration_error` for a correction.

    Parameters
    ----------
    y_true : array-like of shape (n,) or Tally
        Labels; or a tally in place of all data.
    y_prob : array-like of shape (n,)
        Probabilities of the positive class.
    n_bins : int or "auto"
        Number of bins; "auto" takes the cube root of the number of rows, rounded up.
    strategy : {"uniform", "quantile", "cells"}
        Bins of equal width, bins of nearly equal mass that never split equal scores, or one bin for each distinct
        score (for scores that take few values).
    p : float
        The gaps enter as an L^p norm; 1 is the usual ECE, infinity the maximum.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights.
    pos_label : label, optional
        The positive class, where the labels are not bool, {0, 1} or {-1, 1}.

    Returns
    -------
    float

    References
    ----------
    Naeini, Cooper, Hauskrecht 2015; Guo, Pleiss, Sun, Weinberger 2017.

    Examples
    --------
    >>> from calibrant import metrics
    >>> round(metrics.expected_calibration_error([0, 1, 1, 1], [0.1, 0.2, 0.7, 0.8], n_bins=2), 3)
    0.3
    """
    return binned(tally, n_bins, strategy).norm(p)


@of_tally
def maximum_calibration_error(tally: Tally, *, n_bins: int | str = 15, strategy: str = "uniform") -> float:
    """The largest gap of any bin (MCE); the parameters are those of `expected_calibration_error`.

    One bin with a single row decides it; with ``strategy="quantile"`` no bin is that small.

    Examples
    --------
    >>> from calibrant import metrics
    >>> round(metrics.maximum_calibration_error([0, 1, 1, 1], [0.1, 0.2, 0.7, 0.8], n_bins=2), 3)
    0.35
    """
    return binned(tally, n_bins, strategy).norm(np.inf)


@of_tally
def adaptive_calibration_error(tally: Tally, *, n_bins: int | str = 15) -> float:
    """The gap of equal-mass bins, each bin counting the same (ACE).

    Without ties it equals the ECE with ``strategy="quantile"`` up to the rounding of bin sizes. For several classes see
    `class_wise_calibration_error`. The parameters are those of `expected_calibration_error`.

    References
    ----------
    Nixon, Dusenberry, Zhang, Jerfel, Tran 2019, "Measuring Calibration in Deep Learning".

    Examples
    --------
    >>> from calibrant import metrics
    >>> round(metrics.adaptive_calibration_error([0, 1, 1, 1], [0.1, 0.2, 0.7, 0.8], n_bins=2), 3)
    0.3
    """
    return float(np.abs(binned(tally, n_bins, "quantile").gap).mean())


@of_tally
def debiased_calibration_error(
    tally: Tally, *, n_bins: int | str = 15, strategy: str = "quantile", p: int = 2
) -> float:
    """ECE minus the part that noise alone adds.

    With ``p=2`` each bin's squared gap loses the estimated variance of its share of positives, rate (1 − rate) /
    (mass − 1), which makes the squared error unbiased (Ferro and Fricker; Bröcker); a bin of one row counts 0, a
    negative sum counts 0, and the root of the sum is returned. With ``p=1`` the error becomes 2 ECE − E[ECE*], where
    ECE* has the share of positives of each bin redrawn from its normal approximation: the correction of Kumar et al.,
    here as an exact expectation instead of a simulation. It can be negative.

    Parameters
    ----------
    y_true : array-like of shape (n,) or Tally
        Labels; or a tally in place of all data.
    y_prob : array-like of shape (n,)
        Probabilities of the positive class.
    n_bins : int or "auto"
        Number of bins.
    strategy : {"quantile", "uniform", "cells"}
        How bins are cut; see `expected_calibration_error`.
    p : {2, 1}
        The norm.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights, counted as numbers of rows.
    pos_label : label, optional
        The positive class, where the labels are not bool, {0, 1} or {-1, 1}.

    Returns
    -------
    float

    References
    ----------
    Bröcker 2012; Ferro and Fricker 2012; Kumar, Liang, Ma 2019, "Verified Uncertainty Calibration".

    Examples
    --------
    >>> from calibrant import metrics, simulate
    >>> data = simulate.from_truth("nearly_calibrated", 1000)  # its true L2 error is 0.0046
    >>> round(metrics.expected_calibration_error(data.labels, data.scores, strategy="quantile", p=2), 4)
    0.0542
    >>> round(metrics.debiased_calibration_error(data.labels, data.scores), 4)
    0.008
    """
    bins = binned(tally, n_bins, strategy)
    if p == 2:
        return float(np.sqrt(max(float(bins.share @ _unbiased_square(bins)), 0.0)))
    if p == 1:
        return float(bins.share @ (2.0 * np.abs(bins.gap) - _expected_gap(bins)))
    raise InvalidInputError(f"`p` must be 1 or 2 for the debiased error; got {p!r}.")


def _unbiased_square(bins: Bins) -> Floats:
    many = bins.mass >= 2.0
    variance = bins.rate * (1.0 - bins.rate) / np.where(many, bins.mass - 1.0, 1.0)
    return np.where(many, np.square(bins.gap) - variance, 0.0)


def _expected_gap(bins: Bins) -> Floats:
    """E|X| for X ~ N(gap, rate (1 − rate) / mass): the mean of a folded normal distribution."""
    deviation = np.sqrt(bins.rate * (1.0 - bins.rate) / bins.mass)
    certain = deviation == 0.0
    z = bins.gap / np.where(certain, 1.0, deviation)
    folded = deviation * np.sqrt(2.0 / np.pi) * np.exp(-0.5 * z**2) + bins.gap * special.erf(z / np.sqrt(2.0))
    return np.where(certain, np.abs(bins.gap), folded)


@of_tally
def sweep_calibration_error(tally: Tally, *, p: float = 1.0) -> float:
    """ECE with the number of bins chosen by the data (ECE sweep).

    Starting with one, the number of equal-mass bins grows until the shares of positives no longer rise from bin to
    bin; the last number for which they did is used. Where even single scores rise, each score is a bin; otherwise the
    search ends at 4096 bins.

    Parameters
    ----------
    y_true : array-like of shape (n,) or Tally
        Labels; or a tally in place of all data.
    y_prob : array-like of shape (n,)
        Probabilities of the positive class.
    p : float
        The gaps enter as an L^p norm; infinity gives the maximum.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights.
    pos_label : label, optional
        The positive class, where the labels are not bool, {0, 1} or {-1, 1}.

    Returns
    -------
    float

    References
    ----------
    Roelofs, Cain, Shlens, Mozer 2022, "Mitigating Bias in Calibration Error Estimation", Algorithm 1.

    Examples
    --------
    >>> from calibrant import metrics
    >>> round(metrics.sweep_calibration_error([0, 1, 0, 1, 1, 1], [0.2, 0.4, 0.5, 0.6, 0.8, 0.9]), 4)
    0.1667
    """
    rising = bool((np.diff(tally.positives / tally.totals) >= 0.0).all())
    bins = binned(tally, 1, "cells") if rising else binned(tally, _most_rising(tally), "quantile")
    return bins.norm(p)


def _most_rising(tally: Tally) -> int:
    """The last number of bins before the shares of positives fall. O(b log m) for each number b."""
    mass = np.concatenate(([0.0], np.cumsum(tally.totals)))
    positives = np.concatenate(([0.0], np.cumsum(tally.positives)))
    middle = 0.5 * (mass[1:] + mass[:-1]) / mass[-1]
    for n_bins in range(2, min(_limits.SWEEP_BINS, len(tally)) + 1):
        if not _rises(mass, positives, middle, n_bins):
            return n_bins - 1
    return min(_limits.SWEEP_BINS, len(tally))


def _rises(mass: Floats, positives: Floats, middle: Floats, n_bins: int) -> bool:
    inner = np.searchsorted(middle, np.arange(1, n_bins) / n_bins, side="left")
    edges = np.unique(np.concatenate(([0], inner, [len(middle)])))
    rates = np.diff(positives[edges]) / np.diff(mass[edges])
    return bool((np.diff(rates) >= 0.0).all())
