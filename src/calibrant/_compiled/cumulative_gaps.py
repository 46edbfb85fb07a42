"""What calibration errors need of the cumulative gaps Σ (y − p), in one pass over the sorted cells."""

from calibrant._compiled import fallback
from calibrant._typing import Floats

fallback.warn_if_slow(__file__)


def find_range(scores: Floats, positives: Floats, totals: Floats) -> tuple[float, float]:
    """The lowest and the highest cumulative gap; before the first cell it is 0. O(m)."""
    gap = low = high = 0.0
    for i in range(len(scores)):
        gap += positives[i] - scores[i] * totals[i]
        low = min(low, gap)
        high = max(high, gap)
    return low, high


def integrate(scores: Floats, positives: Floats, totals: Floats) -> tuple[float, float, float]:
    """The gap of all cells, and the integrals over [first score, last score] of the gap so far and of its square. O(m).

    Between two scores the gap so far is that of the cells up to the lower one.
    """
    gap = plain_integral = square_integral = 0.0
    last = len(scores) - 1
    for i in range(last):
        gap += positives[i] - scores[i] * totals[i]
        width = (scores[i + 1] - scores[i]) * gap
        plain_integral += width
        square_integral += width * gap
    return gap + (positives[last] - scores[last] * totals[last]), plain_integral, square_integral
