"""A posterior over maps as a compact table, for saved models: draws and intervals at some hundred scores."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any, TypeAlias

import numpy as np

from calibrant import _limits, _validation
from calibrant._numerics import links
from calibrant._numerics.piecewise import interpolate
from calibrant._typing import ArrayLike, Floats, RandomState
from calibrant.errors import ModelFileError
from calibrant.estimates.rows import LabelledRows
from calibrant.maps.files import read_floats
from calibrant.tally import Tally

N_DRAWS = 400
EVEN_NODES = 41  # and scores between them, where few rows leave wide gaps in which maps may jump anywhere
LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99)
LARGEST = 16.0  # logits of draws are stored within ± this, as whole numbers of two bytes
STEPS = 65535
OUTER_LOGITS = np.arange(-36.0, 37.0)  # to the ends of the doubles, where classifiers that are too sure have rows

WholeNumbers: TypeAlias = np.ndarray[Any, np.dtype[np.uint16]]


@dataclass(frozen=True, eq=False)
class PosteriorTable:
    """Draws of the map, and ends of its intervals, at some scores.

    Attributes
    ----------
    scores : ndarray of shape (m,)
        Increasing; between them straight lines, outside constants.
    draws : ndarray of shape (d, m)
        Whole maps from the posterior, as whole numbers of two bytes on the logit scale.
    levels : ndarray of shape (k,)
        Of the intervals.
    low, high : ndarray of shape (k, m)
        Their ends.
    labelled : LabelledRows
        Where the labelled scores lie.

    Examples
    --------
    >>> from calibrant import BayesIso, simulate
    >>> from calibrant.maps.posterior_table import PosteriorTable
    >>> data = simulate.from_truth("D1", 200)
    >>> calibrator = BayesIso().fit(data.scores, data.labels)
    >>> table = PosteriorTable.of(calibrator, "probability")
    >>> table.sample_maps([0.2, 0.7], n_draws=5).shape
    (5, 2)
    """

    scores: Floats
    draws: WholeNumbers
    levels: Floats
    low: Floats
    high: Floats
    labelled: LabelledRows

    @classmethod
    def of(cls, calibrator: Any, space: str) -> PosteriorTable:
        """Tabulate the posterior of a fitted Bayesian calibrator."""
        rows = calibrator.labelled_
        # Between the cells of Blend its ends are straight.
        cells = getattr(calibrator, "interval_cells", rows.cells).coarsen(_limits.BLEND_CELLS)
        labelled = LabelledRows(cells, rows.low, rows.high)
        scores = _choose_nodes(labelled, space)
        draws = _to_whole_numbers(np.clip(calibrator.sample_maps(scores, N_DRAWS), 0.0, 1.0))
        ends = [calibrator.interval_ends(scores, level) for level in LEVELS]
        low, high = (np.clip([pair[side] for pair in ends], 0.0, 1.0) for side in (0, 1))
        return cls(scores, draws, np.array(LEVELS), low, high, labelled)

    def through(self, function: Callable[[Floats], Floats]) -> PosteriorTable:
        """The posterior of a map that is followed by a function that never falls: quantiles stay quantiles."""
        draws, low, high = (
            function(values.ravel()).reshape(values.shape)
            for values in (_to_probabilities(self.draws), self.low, self.high)
        )
        return replace(self, draws=_to_whole_numbers(draws), low=low, high=high)

    def sample_maps(self, scores: ArrayLike, n_draws: int, random_state: RandomState = 0) -> Floats:
        """Draws of the map at `scores`, (n_draws, n): some of the stored ones, or all of them several times."""
        count, rng = _validation.check_count("n_draws", n_draws), _validation.generator(random_state)
        chosen = np.resize(rng.permutation(len(self.draws)), count)
        return interpolate(_validation.as_floats(scores, "scores"), self.scores, _to_probabilities(self.draws[chosen]))

    def interval(self, scores: Floats, level: float, predicted: Floats) -> tuple[Floats, Floats]:
        """Ends of intervals around the predictions; between stored levels they move as normal quantiles do."""
        wanted = NormalDist().inv_cdf(0.5 + 0.5 * _validation.check_level(level))
        normal = np.array([NormalDist().inv_cdf(0.5 + 0.5 * stored) for stored in self.levels])
        low, high = (interpolate(scores, self.scores, end) for end in (self.low, self.high))
        below = _reach(np.maximum(predicted - low, 0.0), normal, wanted)
        above = _reach(np.maximum(high - predicted, 0.0), normal, wanted)
        return np.maximum(predicted - below, 0.0), np.minimum(predicted + above, 1.0)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON; the draws as text in base64, low byte first."""
        return {
            "scores": self.scores.tolist(),
            "n_draws": len(self.draws),
            "draws": base64.b64encode(self.draws.astype("<u2").tobytes()).decode(),
            "levels": self.levels.tolist(),
            "low": self.low.round(7).tolist(),
            "high": self.high.round(7).tolist(),
            "labelled": self.labelled.cells.to_dict(),
            "range": [self.labelled.low, self.labelled.high],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> PosteriorTable:
        """The table that `to_dict` described; anything that no table can be is refused."""
        names = ("scores", "levels", "low", "high", "range")
        scores, levels, low, high, ends = (read_floats(data, name) for name in names)
        raw = np.frombuffer(base64.b64decode(data["draws"], validate=True), dtype="<u2")
        draws = raw.reshape(data["n_draws"], len(scores)).astype(np.uint16)
        labelled = Tally.from_dict(data["labelled"])
        sound = (
            len(draws) > 0
            and len(labelled) > 0
            and bool((np.diff(scores) > 0.0).all())
            and bool((np.diff(levels, prepend=0.0, append=1.0) > 0.0).all())
            and low.shape == high.shape == (len(levels), len(scores))
            and bool(((low >= 0.0) & (low <= high) & (high <= 1.0)).all())
        )
        if not sound:
            raise ModelFileError("The numbers of this posterior are damaged.")
        return cls(scores, draws, levels, low, high, LabelledRows(labelled, float(ends[0]), float(ends[1])))


def _to_whole_numbers(probabilities: Floats) -> WholeNumbers:
    logits = np.clip(links.logit(probabilities), -LARGEST, LARGEST)
    return np.rint((logits + LARGEST) * (STEPS / (2.0 * LARGEST))).astype(np.uint16)


def _to_probabilities(draws: WholeNumbers) -> Floats:
    return links.expit(draws.astype(np.float64) * (2.0 * LARGEST / STEPS) - LARGEST)


def _choose_nodes(rows: LabelledRows, space: str) -> Floats:
    """Choose the labelled scores, and some outside of them, where maps go on as their models say."""
    if space == "probability":
        outer = np.concatenate(([0.0, 1.0], links.expit(OUTER_LOGITS)))
    else:
        span = max(rows.high - rows.low, 1.0)
        outer = np.array([rows.low - span, rows.low - 0.25 * span, rows.high + 0.25 * span, rows.high + span])
        outer = outer[np.isfinite(outer)]
    share = np.linspace(0.0, 1.0, EVEN_NODES)
    between = rows.low * (1.0 - share) + rows.high * share  # whose difference may be no double
    return np.unique(np.concatenate((rows.cells.scores, between, outer)))


def _reach(distances: Floats, normal: Floats, wanted: float) -> Floats:
    """Interpolate distances, (k, n), between the normal quantiles of the stored levels; beyond them, in proportion."""
    shares = [np.interp(wanted, np.append(0.0, normal), np.append(0.0, unit)) for unit in np.eye(len(normal))]
    return max(1.0, wanted / normal[-1]) * (np.array(shares) @ distances)
