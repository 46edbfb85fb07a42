"""SmoothECE: the residuals smoothed by a reflected Gaussian kernel, at the width that equals the error.

Reflection at 0 and 1 makes every cosine of the score an eigenfunction of the smoothing, so one cosine transform of the
residuals serves all widths. The others repeat the grids of the authors' package relplot, whose reflection loses half
of the mass that lies at 0 and 1. Cells reach a grid through prefix sums: O(m) once, then O(g log m + g log g) for each
grid of g points.
"""

from collections.abc import Callable

import numpy as np
from scipy import fft

from calibrant._typing import Floats

SMALLEST_WIDTH = 0.001
N_FINE = 2**14  # a grid so fine that sharing a cell between its two nearest points does not count
REACH = 8.6  # cosines beyond REACH / (π width) are damped below 1e-16


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
        at = np.searchsorted(self.scores, np.arange(n_points) / (n_points - 1), side="left")
        at[0], at[-1] = 0, len(self.scores)
        return (
            _shared(np.diff(self.residual[at]), np.diff(self.residual_score[at])),
            _shared(np.diff(self.mass[at]), np.diff(self.mass_score[at])),
        )


def _shared(weight: Floats, weight_score: Floats) -> Floats:
    upper = len(weight) * weight_score - np.arange(len(weight)) * weight
    out = np.zeros(len(weight) + 1)
    out[:-1] = weight - upper
    out[1:] += upper
    return out


class Spectrum:
    """The cosine transform of the residuals, from which the error at any width follows."""

    def __init__(self, prefix: Prefix) -> None:
        residual, _ = prefix.on_grid(N_FINE + 1)
        # DCT-I counts the ends once and the rest twice.
        residual[[0, -1]] *= 2.0
        self.cosines = fft.dct(residual, type=1) / prefix.mass[-1]

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
        low, high = SMALLEST_WIDTH, 1.0
        for _ in range(20):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if middle < self.error_at(middle) else (low, middle)
        return low


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
