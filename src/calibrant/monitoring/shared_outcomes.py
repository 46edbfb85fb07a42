"""A check of whether rows of one period share their outcome, as all forecasts of one recession do."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence

import numpy as np
from scipy import special

from calibrant._typing import Floats
from calibrant.tally import Tally

__all__ = ["deviation_of", "move_together", "warn_if_together"]

LARGE, LARGE_BY_CHANCE = 1.959964 * 2**0.5, 0.05  # a difference of two residuals that one in twenty exceeds
LEAST_VARIANCE = 1e-12  # all probabilities 0 or 1
RARE = 1e-4  # probability of a warning about independent rows, at one look
MESSAGE = (
    "Rows of one period seem to share their outcome: whole periods miss their probabilities by far more than chance, "
    "now above and now below. E-values then grow too fast; start again with `clustered=True`."
)


def deviation_of(probabilities: Floats, rows: Tally) -> float:
    """Standard deviation of the number of positives of a period, if its rows are independent."""
    variance = float((probabilities * (1.0 - probabilities)) @ rows.totals)
    return math.sqrt(max(variance, LEAST_VARIANCE))


def move_together(residuals: Sequence[float]) -> bool:
    """Whether residuals of periods, one after the other, differ by more than independent rows allow.

    The difference of two neighbours is normal with variance 2, whatever the two have in common; so a map that is wrong
    in the same way in both does not matter. Large ones are counted and not added up: one of them may be the day on
    which the world changed.
    """
    pairs = np.asarray(residuals, dtype=np.float64)[: 2 * (len(residuals) // 2)].reshape(-1, 2)
    n_large = np.count_nonzero(np.abs(pairs[:, 1] - pairs[:, 0]) > LARGE)
    return bool(n_large > 0 and special.bdtrc(n_large - 1, len(pairs), LARGE_BY_CHANCE) < RARE)


def warn_if_together(before: Sequence[float], now: Sequence[float], stacklevel: int = 3) -> None:
    """Warn once, at the period with which it shows."""
    if move_together(now) and not move_together(before):
        warnings.warn(MESSAGE, UserWarning, stacklevel=stacklevel)
