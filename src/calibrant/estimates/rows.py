"""What a fitted model remembers of its labelled rows, and unlabelled rows in cells of nearly one score.

Cost depends on the cells, never on the rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, cast

import numpy as np

from calibrant import _limits, _validation
from calibrant._numerics import bins, links
from calibrant._numerics.logistic import adjust_curves
from calibrant._typing import ArrayLike, Bools, Floats, HasPosterior, Ints
from calibrant.errors import InvalidInputError
from calibrant.estimates.quantities import Outcomes, Quantity
from calibrant.intervals import Interval
from calibrant.tally import Tally

LEAST_SHARE = 0.005  # fewer rows outside move no answer
RARE = 0.01  # probability that as many rows lie outside by chance
OFF_LEVEL = 0.5  # deviation of the prior of a map's level, in logits: twelve points around one half
TARGETS = ("probabilities", "scores")


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
    >>> from calibrant.estimates.rows import LabelledRows
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
            f"{100 * share:.3g} % of the rows have scores outside {self.low:.4g} … {self.high:.4g}, the range of the "
            "labelled rows; there the answer rests on the model alone. Label some."
        )


def check_posterior(model: Any) -> None:
    """Refuse a model that cannot draw maps."""
    draws = hasattr(model, "sample_maps") or hasattr(model, "draw_chunks")
    if not (draws and hasattr(model, "predict") and getattr(model, "has_posterior", True)):
        raise InvalidInputError(
            f"This needs a posterior over maps (`sample_maps`); {type(model).__name__} has none. Use a Bayesian "
            "method such as Blend, and save it with its posterior."
        )


def labelled_rows(model: Any) -> LabelledRows | None:
    """Return what a model remembers of its labelled rows, if anything."""
    rows = getattr(model, "labelled_", None)
    return rows if isinstance(rows, LabelledRows) else None


def count_labels(model: Any, level: float, n_rows: float) -> Interval | None:
    """The mean outcome of the labelled rows, with an interval for that of as many other rows like them."""
    rows = labelled_rows(model)
    if rows is None:
        return None
    total, positive = rows.cells.total, rows.cells.total_positive
    share = (positive + 0.5) / (total + 1.0)  # whose variance is never 0
    error = float(np.sqrt(share * (1.0 - share) * (1.0 / total + 1.0 / n_rows)))
    found = Interval.normal(positive / total, error, level, lowest=0.0)
    return replace(found, high=min(found.high, 1.0))


def outside(model: Any, unlabelled: Tally) -> tuple[float | None, str]:
    """Return the share of rows outside the labelled range, and a warning where it matters."""
    if hasattr(model, "outside"):
        return cast("tuple[float | None, str]", model.outside(unlabelled))
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
    cells = Tally.empty() if rows is None else rows.cells
    at = np.concatenate((cells.scores, scores))
    draws = np.clip(model.sample_maps(at, n_draws, rng), 0.0, 1.0)
    maps = set_to_level(np.vstack((model.predict(at), draws)), cells.positives, cells.totals, rng)
    return maps[0], maps[1:]


def set_to_level(maps: Floats, positives: Floats, totals: Floats, rng: np.random.Generator) -> Floats:
    """A fitted map and draws of it, (1 + d, k + n), at k labelled cells and at others: at the others, as levelled."""
    from scipy.special import ndtri

    n_known, n_draws = len(totals), len(maps) - 1
    if n_known == 0:
        return maps
    # One from each of as many equal parts of the normal distribution: few draws have its spread, whatever the seed.
    noise = ndtri((rng.permutation(n_draws) + rng.random(n_draws)) / n_draws)
    logits, ones = links.logit(maps), np.ones((n_known, 1))
    given = (logits[:, :n_known], ones, positives, totals)
    shifts = adjust_curves(*given, scale=OFF_LEVEL, noise=np.append(0.0, noise)[:, None])  # none for the fitted map
    return links.expit(logits[:, n_known:] + shifts)


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
    return Tally.from_arrays(scores, np.zeros(len(_validation.as_array(scores, "scores"))), sample_weight)


def merge_rows(probabilities: Floats, limit: float) -> tuple[Cells, Ints]:
    """Merge rows of nearly one probability; return the cells and which of them each row is in."""
    if len(probabilities) == 0:
        raise InvalidInputError("Estimates need at least one unlabelled row; got none.")
    values, inverse = np.unique(probabilities, return_inverse=True)
    counts = np.bincount(inverse).astype(np.float64)
    n_below = int((values < limit).sum())
    below, above = (join(part, _limits.ESTIMATE_CELLS // 2) for part in np.split(counts, [n_below]))
    n_cells_below = int(below[-1]) + 1 if n_below else 0
    owner = np.concatenate((below, above + n_cells_below))[inverse]
    totals = np.bincount(owner).astype(np.float64)
    means = np.bincount(owner, probabilities) / totals
    return Cells(means, means, totals, np.arange(len(totals)) >= n_cells_below, limit), owner


def join(counts: Floats, most: int) -> Ints:
    """Return the group of each value when neighbours join into at most `most` groups of nearly equal mass."""
    return bins.group_numbers(bins.coarse_starts(counts, most), len(counts))


def alike(scores: Floats, most: int = _limits.ESTIMATE_CELLS) -> tuple[Ints, Floats]:
    """Cells of rows of like scores: which of them each row is in, and their mean scores."""
    distinct, inverse = np.unique(scores, return_inverse=True)
    group = join(np.bincount(inverse, minlength=len(distinct)).astype(np.float64), most)[inverse]
    return group, np.bincount(group, scores) / np.bincount(group)


def as_unlabelled(scores: ArrayLike | Tally, sample_weight: ArrayLike | None = None) -> Tally:
    """Return the tally of some scores, or the tally given in their place, whose labels do not matter."""
    tally = scores if isinstance(scores, Tally) else count_scores(scores, sample_weight)
    if isinstance(scores, Tally) and sample_weight is not None:
        raise InvalidInputError("A tally holds its weights: pass it without `sample_weight`.")
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
    table, owner
        Of rows with several scores: their columns, and the cell of each row, (n,).
    """

    scores: Floats
    values: Floats
    totals: Floats
    called: Bools
    threshold: float
    table: Any = None
    owner: Ints | None = None

    def outcomes(self, probabilities: Floats, rng: np.random.Generator | None = None) -> Outcomes:
        """Return the expected outcomes under the probabilities of each cell, (d, m); with a generator, drawn ones."""
        positives = probabilities * self.totals if rng is None else _draw_positives(probabilities, self.totals, rng)
        return Outcomes(self.values, self.called, self.totals, positives, self.threshold)

    def average(self, chunks: Iterable[Floats]) -> Floats:
        """Maps of single rows, (d, some rows) in their order, averaged over the rows of each cell, (d, m)."""
        from scipy.sparse import coo_array

        sums, owner = np.zeros((1, len(self.totals))), self.owner
        for draws in chunks:
            own, owner = np.split(cast("Ints", owner), [draws.shape[1]])
            sums = sums + draws @ coo_array((np.ones(len(own)), (np.arange(len(own)), own)), (len(own), sums.shape[1]))
        return np.clip(sums / self.totals, 0.0, 1.0)


def make_cells(
    model: HasPosterior, rows: Any, quantities: Sequence[Quantity], target: str, threshold: float | None
) -> Cells:
    """Merge rows into cells; rows that are called positive never share a cell with others."""
    _validation.check_choice("target", target, TARGETS)
    limit = check_threshold(quantities, target, threshold)
    if not isinstance(rows, Tally):
        if target == "scores":
            raise InvalidInputError("`target` must be 'probabilities' for rows with several scores, or with segments.")
        cells, owner = merge_rows(model.predict(rows), limit)
        return cells._replace(table=rows, owner=owner)
    losses = [quantity.title for quantity in quantities if quantity.probabilities]
    if losses and target == "scores":
        _validation.check_unit_interval(rows.scores, "scores", f"The {losses[0]} of scores")
    called = (rows.scores if target == "scores" else model.predict(rows.scores)) >= limit
    masks = [mask for mask in (~called, called) if mask.any()]
    sides = [Tally(rows.scores[mask], rows.positives[mask], rows.totals[mask]) for mask in masks]
    parts = [side.coarsen(_limits.ESTIMATE_CELLS // len(sides)) for side in sides]
    scores, totals = (np.concatenate([getattr(part, name) for part in parts]) for name in ("scores", "totals"))
    values = scores if target == "scores" else model.predict(scores)
    flags = np.repeat([called[mask][0] for mask in masks], [len(part) for part in parts])
    order = np.argsort(values, kind="stable")
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


def _draw_positives(probabilities: Floats, totals: Floats, rng: np.random.Generator) -> Floats:
    """Draw how many rows of each cell are positive, (d, m); what exceeds a whole number is a row of that weight."""
    whole = np.floor(totals + 1e-9)
    part = np.maximum(totals - whole, 0.0)
    drawn: Floats = rng.binomial(whole.astype(np.int64), probabilities).astype(np.float64)
    if (part > 1e-9).any():
        drawn += part * (rng.random(probabilities.shape) < probabilities)
    return drawn
