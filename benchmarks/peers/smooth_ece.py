"""SmoothECE as the versions of its authors' package relplot compute it, to compare with figures from that package.

Its reflection loses half of the mass that lies at 0 and 1. Versions 1.0 and 1.0.1, in which the published tables were
made, are therefore too low; versions 1.0.2 and 1.0.3 divide by the density that is left, and can be far too high. Away
from the ends both agree with `calibrant.metrics.smooth_calibration_error` to three digits or so.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
from scipy import fft

from calibrant import Tally
from calibrant._typing import Floats
from calibrant.metrics.curve_errors import SMALLEST_WIDTH


class Prefix:
    """Running sums of mass, mass · score, residual and residual · score over sorted cells."""

    def __init__(self, scores: Floats, positives: Floats, totals: Floats) -> None:
        self.scores = scores
        residuals = scores * totals - positives
        columns = (totals, totals * scores, residuals, residuals * scores)
        self.mass, self.mass_score, self.residual, self.residual_score = (
            np.concatenate(([0.0], np.cumsum(column))) for column in columns
        )

    def on_grid(self, n_points: int) -> tuple[Floats, Floats]:
        """Residual and mass shared linearly between the two nearest of `n_points` even points on [0, 1]."""
        starts = np.searchsorted(self.scores, np.arange(n_points) / (n_points - 1), side="left")
        starts[0], starts[-1] = 0, len(self.scores)
        return (
            _shared(np.diff(self.residual[starts]), np.diff(self.residual_score[starts])),
            _shared(np.diff(self.mass[starts]), np.diff(self.mass_score[starts])),
        )


def _shared(weight: Floats, weight_score: Floats) -> Floats:
    upper = len(weight) * weight_score - np.arange(len(weight)) * weight
    out = np.zeros(len(weight) + 1)
    out[:-1] = weight - upper
    out[1:] += upper
    return out


def relplot_1_0_3(tally: Tally, width: float | None = None) -> float:
    """SmoothECE as relplot 1.0.2 and 1.0.3 compute it."""
    return _at_width(partial(relplot_error, Prefix(tally.scores, tally.positives, tally.totals)), width)


def relplot_1_0_1(tally: Tally, width: float | None = None) -> float:
    """SmoothECE as relplot 1.0 and 1.0.1 computed it."""
    return _at_width(FirstRelplot(Prefix(tally.scores, tally.positives, tally.totals)), width)


def _at_width(error: Callable[[float], float], width: float | None) -> float:
    return error(relplot_width(error) if width is None else width)


def relplot_error(prefix: Prefix, width: float) -> float:
    """The error at one width as relplot 1.0.2 and 1.0.3 compute it, but for their 1e-4 added to the density."""
    n_points = max(2000, round(20 / width)) // 2 + 1
    residual, mass = _smooth(*prefix.on_grid(n_points), width)
    grid = np.linspace(0.0, 1.0, n_points)
    at = np.linspace(0.0, 1.0, max(round(10 / width), 200))
    return float(np.abs(np.interp(at, grid, residual)).sum() / np.interp(at, grid, mass).sum())


class FirstRelplot:
    """The error as relplot 1.0 and 1.0.1 computed it; the grid only ever becomes finer while widths are tried."""

    def __init__(self, prefix: Prefix) -> None:
        self.prefix, self.n_points = prefix, 200

    def __call__(self, width: float) -> float:
        """The error at this width."""
        while round(20 / width) > self.n_points:
            self.n_points *= 4
        residual, _ = _smooth(*self.prefix.on_grid(self.n_points), width)
        return float(np.abs(residual).sum() / self.n_points / self.prefix.mass[-1])


def _smooth(residual: Floats, mass: Floats, width: float) -> tuple[Floats, Floats]:
    n = len(mass)
    kernel = np.exp(-np.square(np.linspace(0.0, 1.0, n) - 0.5) / (2.0 * width**2)) / (np.sqrt(2.0 * np.pi) * width)
    columns = residual + 1j * mass
    extended = np.concatenate((columns[:0:-1], columns, columns[-2::-1]))
    # The middle of a circular convolution is free of its wrap-around, so no padding by the kernel's length is needed.
    length = fft.next_fast_len(len(extended))
    product = fft.ifft(fft.fft(extended, length) * fft.fft(kernel, length))
    first = n - 1 + n // 2
    smoothed = product[first : first + n]
    return smoothed.real, smoothed.imag


def relplot_width(error: Callable[[float], float]) -> float:
    """The width at which the error falls below the width itself, by the authors' ten halvings of (0, 1]."""

    def small(width: float) -> bool:
        return width < SMALLEST_WIDTH or width < error(width)

    if small(1.0):
        return 1.0
    high, low = 1.0, 0.0
    for _ in range(10):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if small(middle) else (low, middle)
    return high
