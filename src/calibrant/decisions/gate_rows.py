"""The rows of a gate: labelled ones, which say how often a score is right, and those that the gate is for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
from scipy import special
from sklearn.base import clone

from calibrant import _validation
from calibrant._numerics.bins import coarse_starts
from calibrant._typing import ArrayLike, Floats, HasPosterior, Ints
from calibrant.calibrators import registry
from calibrant.calibrators.blend import Blend
from calibrant.decisions.accepted_ranks import accepted_rank, fewest_rows, levels_at
from calibrant.errors import InvalidInputError
from calibrant.estimates.rows import as_unlabelled
from calibrant.maps.keys import SegmentCounts
from calibrant.metrics.risk_coverage import read_confidence
from calibrant.metrics.samples import GroupedRows, Seed
from calibrant.metrics.scores import acted_on
from calibrant.tally import Tally, row_count

__all__ = ["GateRows", "top_score"]

OFFERS = np.arange(100, 200) / 200  # precisions that are offered where the wanted one is not shown
CELLS = 1024  # scores at which a posterior is asked; the exact tests see every score
LEAST_TIMES, MOST_TIMES = 1.02, 1000.0  # as many labelled rows as there are: steps and end of the search for enough


@dataclass(frozen=True)
class GateRows:
    """Labelled rows and the rows that a gate is for, seen from the highest score down.

    Attributes
    ----------
    labelled : Tally
        The labelled rows; positive ones are right.
    target : Tally
        The rows that the gate is for: unlabelled ones, or the labelled ones again.

    Examples
    --------
    >>> from calibrant.decisions.gate_rows import GateRows
    >>> rows = GateRows.read([0, 1, 1], [0.2, 0.6, 0.9])[None]
    >>> rows.exact_threshold(0.9, 0.1) is None  # three rows show nothing
    True
    """

    labelled: Tally
    target: Tally

    @classmethod
    def read(
        cls, y_true: Any, scores: Any = None, segment: Any = None, unlabelled: Any = None, **options: Any
    ) -> dict[Any, GateRows]:
        """Read rows of one score; or of several classes, each row as its top class, which is right or wrong.

        Apart by segment, a value or, with several keys, a tuple; without segments the only one is None.
        """
        if isinstance(y_true, Mapping):
            return {name: cls(tally, tally) for name, tally in y_true.items()}
        if segment is None:
            labelled = read_confidence(y_true, scores, **options).tally
            return {None: cls(labelled, labelled if unlabelled is None else as_unlabelled(top_score(unlabelled)))}
        n_rows = len(_validation.as_array(scores, "scores"))
        # Each row as a group of its own: then the sample keeps rows, in their order.
        rows = cast("GroupedRows", read_confidence(y_true, scores, groups=np.arange(n_rows), **options).rows)
        counts = SegmentCounts.of_rows(rows.scores, rows.labels, rows.weights, segment, "error")
        return {name: cls(tally, tally) for name, tally in counts.tallies().items()}

    def counts_from(self, thresholds: ArrayLike) -> tuple[Floats, Floats]:
        """How many labelled rows from each score up are right, and how many are wrong."""
        return acted_on(self.labelled, thresholds)

    def passing(self, thresholds: ArrayLike) -> Floats:
        """How many of the rows that the gate is for lie at or above each score."""
        return np.add(*acted_on(self.target, thresholds))

    @cached_property
    def candidates(self) -> Floats:
        """Scores from which one could accept, falling: all of the target, or those at which its cells begin."""
        return self.target.scores[coarse_starts(self.target.totals, CELLS)][::-1]

    def place(self, thresholds: ArrayLike) -> Ints:
        """The number of the first candidate that is not above each score, or of the last one."""
        return np.minimum(np.searchsorted(-self.candidates, -np.asarray(thresholds)), len(self.candidates) - 1)

    def fitted(self, calibrator: Any, space: str) -> HasPosterior:
        """A map or fitted calibrator as it is; a method, or Blend, fitted to the labelled rows."""
        if calibrator is None:
            calibrator = Blend(space=space)
        elif isinstance(calibrator, str):
            calibrator = registry.create(calibrator)
        unfitted = hasattr(calibrator, "fit_tally") and not hasattr(calibrator, "map_")
        model: HasPosterior = clone(calibrator).fit_tally(self.labelled) if unfitted else calibrator
        return model

    @property
    def cells(self) -> Tally:
        """The target in as many cells as there are candidates, the scores of which a posterior is asked for."""
        return self.target.coarsen(CELLS)

    def precision_draws(self, maps: Floats, rng: Seed) -> Floats:
        """Draws of the precision of the rows from each candidate up, from draws of the map at `cells`, both (d, m).

        Where the labelled rows are a sample of those to come, so are their scores: shares of cells are drawn, too.
        """
        totals = self.cells.totals[::-1]
        if self.target is self.labelled:
            totals = np.random.default_rng(rng).standard_gamma(totals, maps.shape)
        return np.cumsum(maps[:, ::-1] * totals, axis=1) / np.cumsum(totals, axis=-1)

    def threshold(self, draws: Floats | None, precision: float, confidence: float) -> float | None:
        """The lowest accepted score: by draws of the precision, or by exact tests; None where there is none.

        A posterior trusts its curves beyond what labels have shown, so the labelled rows from there up must have the
        precision as well, and be as many as could show it.
        """
        if draws is None:
            return self.exact_threshold(precision, 1.0 - confidence)
        right, wrong = self.counts_from(self.candidates)
        sure = (draws >= precision).mean(axis=0) >= confidence
        shown = (right >= precision * (right + wrong)) & (right + wrong >= fewest_rows(precision, 1.0 - confidence))
        accepted = self.candidates[sure & shown]
        return float(accepted[-1]) if len(accepted) else None

    def exact_threshold(self, precision: float, alpha: float) -> float | None:
        """The lowest score from which exact tests accept; None where there is none."""
        totals, positives = self.labelled.totals, self.labelled.positives
        if (totals != np.round(totals)).any() or (positives != np.round(positives)).any():
            raise InvalidInputError(
                "Exact tests count rows: `sample_weight` must be whole numbers. Pass guarantee='posterior' for others."
            )
        right = np.cumsum(positives[::-1]).astype(np.int64)
        counts = np.cumsum(totals[::-1]).astype(np.int64)
        rank = accepted_rank(right, counts - right, precision, alpha)
        return float(self.labelled.scores[::-1][np.searchsorted(counts, rank)]) if rank else None

    def best_precision(self, draws: Floats | None, wanted: float, confidence: float) -> float | None:
        """The highest of the offered precisions below the wanted one at which something passes; None where none does.

        No precision above what the exact test at its own score shows can pass, so the search begins there.
        """
        right, wrong = self.counts_from(self.labelled.scores)
        shown = special.betaincinv(np.maximum(right, 1e-9), wrong + 1.0, 1.0 - confidence).max()
        most = wanted if draws is not None else min(wanted, shown)
        offers = OFFERS[most > OFFERS][::-1].tolist()
        return next((offer for offer in offers if self.threshold(draws, offer, confidence) is not None), None)

    def budget_threshold(self, budget: float) -> float:
        """The score from which rows pass if people look at no more than `budget` of the others, a share or a number."""
        total = self.target.total
        looked_at = _validation.check_number("budget", budget, "positive") * (total if budget < 1.0 else 1.0)
        if looked_at >= total:
            raise InvalidInputError(
                f"`budget` must leave rows to accept; got {budget!r} of {row_count(total)} rows. Pass a smaller one."
            )
        before = np.cumsum(self.target.totals) - self.target.totals
        return float(self.target.scores[np.searchsorted(before, looked_at, side="right") - 1])

    def rows_needed(self, precision: float, alpha: float) -> int | None:
        """About how many labelled rows like these would let something pass in most cases; None for no number.

        Shares of errors are taken as they are, with half an error added, and rows become more until a test passes.
        """
        right, wrong = self.counts_from(self.candidates)
        counts, total = right + wrong, self.labelled.total
        rate = (wrong + 0.5) / (counts + 1.0)
        counts, rate = counts[rate < 1.0 - precision], rate[rate < 1.0 - precision]
        times = LEAST_TIMES
        while len(counts) and times <= MOST_TIMES:
            right, wrong = times * counts * (1.0 - rate), times * counts * rate
            chance = special.betainc(right, wrong + 1.0, precision)  # of at most so many errors before them
            if (chance <= levels_at(right, int(total), precision, alpha)).any():
                return int(round(times * total, 1 - int(np.log10(times * total))))
            times *= LEAST_TIMES
        return None


def top_score(scores: Any) -> Any:
    """The largest score of each row of a matrix with a column for each of several classes; others as they are."""
    if isinstance(scores, Tally) or not _validation.is_class_matrix(scores):
        return scores
    return _validation.as_numpy(scores).max(axis=1)
