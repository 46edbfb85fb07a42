"""Calibration errors of a curve: kernel smoothing, loess, or a binomial process."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import fft

from calibrant import _limits, _validation
from calibrant._numerics import binomial_process, bins, links
from calibrant._numerics.beta import expectation, sign_changes
from calibrant._numerics.piecewise import halve
from calibrant._typing import Floats
from calibrant.errors import InvalidInputError
from calibrant.metrics.reading import of_tally
from calibrant.tally import Tally

SMALLEST_WIDTH = 0.001
N_FINE = 2**14  # a grid so fine that sharing a cell between its two nearest points does not count
REACH = 8.6  # cosines beyond REACH / (π width) are damped below 1e-16
NARROWEST = 1e-6  # a narrower spread of scores is one score to the integral


@of_tally
def smooth_calibration_error(tally: Tally, *, width: float | None = None) -> float:
    """Mean size of the residuals p − y after smoothing along p by a reflected Gaussian kernel (smECE).

    Unlike binned errors it changes continuously with the scores, and it stays within constant factors of the distance
    to the nearest calibrated predictor. What the kernel moves beyond 0 and 1 is folded back, so no mass is lost, and no
    value exceeds mean ``|p − y|``.

    Parameters
    ----------
    y_true : array-like of shape (n,) or Tally
        Labels; or a tally in place of all data.
    y_prob : array-like of shape (n,)
        Probabilities of the positive class.
    width : float, optional
        Standard deviation of the kernel, in [0.001, 1]. By default the width that equals the error.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights.
    pos_label : label, optional
        The positive class, where the labels are not bool, {0, 1} or {-1, 1}.

    Returns
    -------
    float

    References
    ----------
    Błasiok and Nakkiran 2024, "Smooth ECE: Principled Reliability Diagrams via Kernel Smoothing".

    Examples
    --------
    >>> from calibrant import metrics, simulate
    >>> data = simulate.from_truth("D1", 5000)
    >>> round(metrics.smooth_calibration_error(data.labels, data.scores), 3)
    0.127
    """
    if width is not None and not SMALLEST_WIDTH <= width <= 1.0:
        raise InvalidInputError(f"`width` must lie in [{SMALLEST_WIDTH:g}, 1]; got {width!r}.")
    spectrum = Spectrum(tally)
    return spectrum.error_at(spectrum.fixed_point() if width is None else width)


class Spectrum:
    """The cosine transform of the residuals, from which the error at any width follows.

    Reflection at 0 and 1 makes every cosine of the score an eigenfunction of the smoothing, so one transform serves all
    widths. Cells reach a grid through prefix sums: O(m) once, then O(g log m + g log g) for a grid of g points.
    """

    def __init__(self, tally: Tally) -> None:
        residuals = tally.scores * tally.totals - tally.positives
        lower = np.minimum((tally.scores * N_FINE).astype(np.intp), N_FINE - 1)
        share = tally.scores * N_FINE - lower  # of a cell that goes to the upper of its two nearest points
        on_grid: Floats = np.bincount(lower, (1.0 - share) * residuals, N_FINE + 1).astype(np.float64)
        on_grid += np.bincount(lower + 1, share * residuals, N_FINE + 1)
        # DCT-I counts the ends once and the rest twice.
        on_grid[[0, -1]] *= 2.0
        self.cosines = fft.dct(on_grid, type=1) / tally.total

    def error_at(self, width: float) -> float:
        """∫ |smoothed residual| over [0, 1], for widths of at least 0.001."""
        n_modes = min(int(REACH / (np.pi * width)) + 2, N_FINE)
        n_grid = max(1024, 2 ** int(np.ceil(np.log2(2 * n_modes))))
        damped = np.zeros(n_grid + 1)
        k = np.arange(n_modes)
        damped[:n_modes] = self.cosines[:n_modes] * np.exp(-0.5 * np.square(np.pi * width * k))
        smoothed = np.abs(fft.dct(damped, type=1))
        # A density of mean one: half of the transform's scale, then the trapezium rule.
        return float(0.5 * (smoothed.sum() - 0.5 * (smoothed[0] + smoothed[-1])) / n_grid)

    def fixed_point(self) -> float:
        """The width that equals its own error, to six digits, but at least 0.001: the error falls as widths grow."""
        return float(halve(lambda width: width < self.error_at(width), SMALLEST_WIDTH, 1.0, 20)[0])


@of_tally
def integrated_calibration_index(tally: Tally, *, span: float = 0.75, degree: int = 2) -> float:
    """Mean ``|p − loess(p)|``, loess being a smooth curve of the outcomes over the probabilities (ICI).

    The curve is a local polynomial with tricube weights, by default quadratic over the nearest 75 % of the rows, as
    in R's ``loess``; its values are kept within [0, 1]. More than 1024 distinct scores are joined to as many cells
    of equal mass first.

    Parameters
    ----------
    y_true : array-like of shape (n,) or Tally
        Labels; or a tally in place of all data.
    y_prob : array-like of shape (n,)
        Probabilities of the positive class.
    span : float
        Share of the rows that each local fit sees, in (0, 1].
    degree : {0, 1, 2}
        Degree of the local polynomial.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights.
    pos_label : label, optional
        The positive class, where the labels are not bool, {0, 1} or {-1, 1}.

    Returns
    -------
    float

    References
    ----------
    Austin and Steyerberg 2019, "The Integrated Calibration Index (ICI) and related metrics for quantifying the
    calibration of logistic regression models".

    Examples
    --------
    >>> from calibrant import metrics, simulate
    >>> data = simulate.from_truth("underconfident", 20_000)  # the true error is 0.0943
    >>> round(metrics.integrated_calibration_index(data.labels, data.scores), 2)
    0.09
    """
    return Gaps.of(tally, span, degree).mean()


@of_tally
def calibration_error_quantile(tally: Tally, *, quantile: float = 0.9, span: float = 0.75, degree: int = 2) -> float:
    """A quantile of ``|p − loess(p)|`` over the rows: E50 with ``quantile=0.5``, E90 with 0.9, Emax with 1.

    The other parameters are those of `integrated_calibration_index`.

    Examples
    --------
    >>> from calibrant import metrics, simulate
    >>> data = simulate.from_truth("underconfident", 20_000)
    >>> e50, e90 = (metrics.calibration_error_quantile(data.labels, data.scores, quantile=q) for q in (0.5, 0.9))
    >>> 0 < e50 < e90
    True
    """
    if not 0.0 <= quantile <= 1.0:
        raise InvalidInputError(f"`quantile` must lie in [0, 1]; got {quantile!r}.")
    return Gaps.of(tally, span, degree).quantile(quantile)


class Gaps(NamedTuple):
    """``|p − loess(p)|`` in cells of given mass, and the curve there."""

    sizes: Floats
    mass: Floats
    scores: Floats
    curve: Floats

    @classmethod
    def of(cls, tally: Tally, span: float = 0.75, degree: int = 2, max_cells: int = _limits.LOESS_CELLS) -> Gaps:
        """Fit the curve, to at most so many cells."""
        from calibrant._compiled import loess

        _validation.check_number("span", span, "share")
        if degree not in (0, 1, 2):
            raise InvalidInputError(f"`degree` must be 0, 1 or 2; got {degree!r}.")
        cells = tally.coarsen(max_cells)
        fitted = loess.fit(cells.scores, cells.positives / cells.totals, cells.totals, span, degree)
        curve = np.clip(fitted, 0.0, 1.0)
        return cls(np.abs(curve - cells.scores), cells.totals, cells.scores, curve)

    def mean(self) -> float:
        """The mean over rows: ICI."""
        return float(self.sizes @ self.mass / self.mass.sum())

    def quantile(self, share: float) -> float:
        """The smallest gap that at least a share of the rows does not exceed: E50, E90, Emax."""
        return float(bins.weighted_quantiles(self.sizes, self.mass, share))


@of_tally
def tce_bpm(tally: Tally, *, p: float = 1.0) -> float:
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
        return float((at_scores @ tally.totals / tally.total) ** (1.0 / p))
    a_1 = mean * (mean * (1.0 - mean) / variance - 1.0)
    a_2 = a_1 * (1.0 - mean) / mean
    return float(expectation(lambda z: np.abs(gap(z)) ** p, a_1, a_2, sign_changes(gap)) ** (1.0 / p))
