"""Fit again to old and new rows without having the old rows."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from calibrant.calibrators.base import Calibrator
from calibrant.errors import InvalidInputError
from calibrant.tally import Tally

__all__ = ["update"]


def update(
    calibrator: Calibrator, old: Tally, new: Tally, *, forgetting: float = 1.0, max_cells: int | None = 4096
) -> tuple[Any, Tally]:
    """Fit again to old and new rows without having the old rows.

    Parameters
    ----------
    calibrator : Calibrator
        The method; it is copied, not changed.
    old, new : Tally
        What was counted before, and what came since.
    forgetting : float
        What an old row counts now, above 0 and at most 1. With one update a day, 0.97 halves a row's weight in
        about three weeks.
    max_cells : int, optional
        Bound on the cells of the sum.

    Returns
    -------
    calibrator : Calibrator
        Fitted to the sum.
    tally : Tally
        The sum, to be the `old` of the next update.

    Examples
    --------
    >>> from calibrant import IsotonicCalibration, Tally
    >>> from calibrant.monitoring import update
    >>> old, new = Tally.from_arrays([1, 2], [0, 1]), Tally.from_arrays([1, 2], [1, 1])
    >>> calibrator, tally = update(IsotonicCalibration(target_correction=False), old, new, forgetting=0.5)
    >>> tally.totals.tolist(), calibrator.predict([1]).round(3).tolist()
    ([1.5, 1.5], [0.667])
    """
    if not 0.0 < forgetting <= 1.0:
        raise InvalidInputError(f"`forgetting` must lie above 0 and be at most 1; got {forgetting!r}.")
    total = old.scaled(forgetting) + new
    if max_cells is not None:
        total = total.coarsen(max_cells)
    return clone(calibrator).fit_tally(total), total
