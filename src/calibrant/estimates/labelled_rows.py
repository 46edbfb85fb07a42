"""What a fitted model remembers of its labelled rows, and whether unlabelled rows lie among them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant import _limits
from calibrant._numerics import links
from calibrant._numerics.logistic import adjust_curves
from calibrant._typing import Floats, HasPosterior
from calibrant.errors import InvalidInputError
from calibrant.tally import Tally, row_count

LEAST_SHARE = 0.005  # fewer rows outside move no answer
RARE = 0.01  # probability that as many rows lie outside by chance
OFF_LEVEL = 0.5  # deviation of the prior of a map's level, in logits: twelve points around one half


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """What a calibrator remembers of the rows that it was fitted to.

    Attributes
    ----------
    cells : Tally
        The rows, in at most 512 cells.
    low, high : float
        The range of their scores.

    Examples
    --------
    >>> from calibrant import Tally
    >>> from calibrant.estimates.labelled_rows import LabelledRows
    >>> rows = LabelledRows.of(Tally.from_arrays([0.2, 0.4, 0.6], [0, 1, 1]))
    >>> rows.share_outside(Tally.from_arrays([0.1, 0.3, 0.5, 0.7], [0, 0, 0, 0]))
    0.5
    """

    cells: Tally
    low: float
    high: float

    @classmethod
    def of(cls, tally: Tally) -> LabelledRows:
        """Remember the rows of a tally."""
        cells = tally.coarsen(_limits.LABELLED_CELLS)
        return cls(cells, float(tally.scores[0]), float(tally.scores[-1]))

    def share_outside(self, unlabelled: Tally) -> float:
        """Share of the rows whose score lies outside the range of the labelled ones."""
        outside = (unlabelled.scores < self.low) | (unlabelled.scores > self.high)
        return float(unlabelled.totals[outside].sum()) / unlabelled.total

    def warn_of(self, share: float) -> str:
        """Warn in a sentence if more rows lie outside than chance leaves there; otherwise the text is empty.

        Of rows drawn as the n labelled ones were, the share outside their range has a Beta(2, n − 1) distribution.
        """
        from scipy.special import betaincinv

        rows = max(self.cells.total, 2.0)
        if share <= max(LEAST_SHARE, float(betaincinv(2.0, rows - 1.0, 1.0 - RARE))):
            return ""
        return (
            f"{100 * share:.2g} % of the rows have scores outside {self.low:.4g} … {self.high:.4g}, the range of the "
            f"{row_count(self.cells.total)} labelled rows; there the answer rests on the model alone. Label some."
        )


def check_posterior(model: Any) -> None:
    """Refuse a model that cannot draw maps."""
    if not (hasattr(model, "sample_maps") and hasattr(model, "predict") and getattr(model, "has_posterior", True)):
        raise InvalidInputError(
            f"This needs a posterior over maps (`sample_maps`); {type(model).__name__} has none. Use a Bayesian "
            "method such as Blend, and save it with its posterior."
        )


def labelled_rows(model: Any) -> LabelledRows | None:
    """Return what a model remembers of its labelled rows, if anything."""
    rows = getattr(model, "labelled_", None)
    return rows if isinstance(rows, LabelledRows) else None


def outside(model: Any, unlabelled: Tally) -> tuple[float | None, str]:
    """Return the share of rows outside the labelled range, and a warning where it matters."""
    rows = labelled_rows(model)
    if rows is None:
        return None, ""
    share = rows.share_outside(unlabelled)
    return share, rows.warn_of(share)


def draw_levelled_maps(
    model: HasPosterior, scores: Floats, n_draws: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """The fitted map at `scores`, (n,), and draws of it, (n_draws, n), at the level that the labelled rows ask for.

    Whatever a map assumes about each row, its sum over the labelled rows should be the number of positives there, but
    for chance. Its prior holds it near the score, which is good for the error of a row and bad for that of a sum, in
    which the pull of all rows adds up. So the labels have another say: a shift of each map on the logit scale, whose
    prior is normal, with few labels a fraction of what they lack and with many all of it, as in prediction-powered
    inference. A model that remembers no labelled rows is taken as it is.
    """
    rows = labelled_rows(model)
    known = np.empty(0) if rows is None else rows.cells.scores
    at = np.concatenate((known, scores))
    draws = np.clip(model.sample_maps(at, n_draws, rng), 0.0, 1.0)
    fitted = np.asarray(model.predict(at))[None, :]
    if rows is None:
        return fitted[0], draws

    def levelled(maps: Floats, generator: np.random.Generator | None) -> Floats:
        logits, ones = links.logit(maps), np.ones((len(known), 1))
        given = (logits[:, : len(known)], ones, rows.cells.positives, rows.cells.totals)
        shifts = adjust_curves(*given, scale=OFF_LEVEL, rng=generator)
        return links.expit(logits[:, len(known) :] + shifts)

    return levelled(fitted, None)[0], levelled(draws, rng)
