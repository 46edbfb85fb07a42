"""Unlabelled rows, merged into cells of nearly one score; cost depends on the cells, never on the rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from calibrant import _limits, _validation
from calibrant._numerics import bins
from calibrant._typing import ArrayLike, Bools, Floats, HasPosterior
from calibrant.errors import InvalidInputError
from calibrant.estimates.quantities import Outcomes, Quantity
from calibrant.tally import Tally

TARGETS = ("probabilities", "scores")


def count_scores(scores: ArrayLike, sample_weight: ArrayLike | None = None) -> Tally:
    """Count rows without labels; the positives of the tally are all zero, and nothing looks at them.

    Parameters
    ----------
    scores : array-like of shape (n,), (n, 1) or (n, 2)
        The scores of the unlabelled rows.
    sample_weight : array-like of shape (n,), optional
        Numbers of rows: a weight of 3 is the row three times.

    Returns
    -------
    Tally

    Examples
    --------
    >>> from calibrant.estimates import count_scores
    >>> count_scores([0.2, 0.8, 0.8]).totals.tolist()
    [1.0, 2.0]
    """
    array = _validation.check_scores(scores)
    weights = _validation.check_weights(sample_weight, len(array))
    if len(array) == 0:
        raise InvalidInputError("`scores` must have at least one row; got 0.")
    counts = np.ones(len(array)) if weights is None else weights
    kept = counts > 0.0
    return Tally(*bins.group_sums(array[kept], np.zeros(int(kept.sum())), counts[kept]))


def as_unlabelled(scores: ArrayLike | Tally) -> Tally:
    """Return the tally of some scores, or the tally given in their place, whose labels do not matter."""
    tally = scores if isinstance(scores, Tally) else count_scores(scores)
    if len(tally) == 0:
        raise InvalidInputError("Estimates need at least one unlabelled row; the tally is empty.")
    return tally


class Cells(NamedTuple):
    """Unlabelled rows in cells, sorted by what is said of them.

    Attributes
    ----------
    scores, values, totals : ndarray of shape (m,)
        Their scores, what is judged (the scores, or the probabilities of the fitted map), and their numbers.
    called : ndarray of shape (m,)
        Whether they are called positive.
    threshold : float
        From which value on.
    """

    scores: Floats
    values: Floats
    totals: Floats
    called: Bools
    threshold: float

    def outcomes(self, probabilities: Floats, rng: np.random.Generator | None = None) -> Outcomes:
        """Return the expected outcomes under the probabilities of each cell, (d, m); with a generator, drawn ones."""
        positives = probabilities * self.totals if rng is None else _draw_positives(probabilities, self.totals, rng)
        return Outcomes(self.values, self.called, self.totals, positives, self.threshold)


def make_cells(
    model: HasPosterior,
    tally: Tally,
    quantities: Sequence[Quantity],
    target: str,
    threshold: float | None,
) -> Cells:
    """Merge rows into cells; rows that are called positive never share a cell with others."""
    _validation.check_choice("target", target, TARGETS)
    limit = check_threshold(quantities, target, threshold)
    losses = [quantity.title for quantity in quantities if quantity.probabilities]
    if losses and target == "scores":
        _validation.check_unit_interval(tally.scores, "scores", f"The {losses[0]} of scores")
    called = (tally.scores if target == "scores" else model.predict(tally.scores)) >= limit
    sides = [(_rows(tally, mask), flag) for mask, flag in ((~called, False), (called, True)) if mask.any()]
    parts = [(side.coarsen(_limits.ESTIMATE_CELLS // len(sides)), flag) for side, flag in sides]
    scores = np.concatenate([side.scores for side, _ in parts])
    values = scores if target == "scores" else model.predict(scores)
    flags = np.concatenate([np.full(len(side), flag) for side, flag in parts])
    order = np.argsort(values, kind="stable")
    totals = np.concatenate([side.totals for side, _ in parts])
    return Cells(scores[order], values[order], totals[order], flags[order], limit)


def check_threshold(quantities: Sequence[Quantity], target: str, threshold: float | None) -> float:
    """Return the threshold; a half unless stated, but net benefit, whose exchange rate it is, must be told."""
    deciding = [quantity for quantity in quantities if quantity.decides]
    if threshold is None:
        if any(quantity.probabilities for quantity in deciding):
            raise InvalidInputError("`threshold` must be given for the net benefit: it says what a false alarm costs.")
        return 0.5
    if not deciding:
        raise InvalidInputError(f"`threshold` has no part in the {quantities[0].title}; leave it out.")
    if target == "probabilities" or any(quantity.probabilities for quantity in deciding):
        return _validation.check_number("threshold", threshold, "rate")
    return float(_validation.as_floats(threshold, "threshold"))


def _rows(tally: Tally, mask: Bools) -> Tally:
    return Tally(tally.scores[mask], tally.positives[mask], tally.totals[mask])


def _draw_positives(probabilities: Floats, totals: Floats, rng: np.random.Generator) -> Floats:
    """Draw how many rows of each cell are positive, (d, m); what exceeds a whole number is a row of that weight."""
    whole = np.floor(totals + 1e-9)
    part = np.maximum(totals - whole, 0.0)
    drawn: Floats = rng.binomial(whole.astype(np.int64), probabilities).astype(np.float64)
    if (part > 1e-9).any():
        drawn += part * (rng.random(probabilities.shape) < probabilities)
    return drawn
