"""The fitted map of several scores of a row: a pool of two sums over scores, of their mean, and of each score alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any, ClassVar, NamedTuple

import numpy as np

from calibrant import _validation
from calibrant._numerics import links
from calibrant._typing import ArrayLike, Floats, RandomState
from calibrant.errors import ModelFileError
from calibrant.estimates.estimation import EstimateMethods
from calibrant.maps.base import FrozenMap, ends_like
from calibrant.maps.files import plain_fields, read_floats
from calibrant.maps.functions import MapFunction
from calibrant.maps.panel_columns import choose_columns, read_column, read_columns
from calibrant.maps.panel_features import CategoryScore, Features, NumericScore
from calibrant.maps.posterior_table import PosteriorTable

CHUNK_ROWS = 1 << 14  # whose columns are held at once
MEMBERS = 3  # the two sums and the mean score; after them, each score alone
MOST_TESTED = 32


class LogitPosterior(NamedTuple):
    """Mean of the coefficients of all columns under an open-minded prior, and a root of their covariance."""

    mean: Floats
    root: Floats

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {"mean": self.mean.tolist(), "root": self.root.tolist()}


@dataclass(frozen=True, eq=False, repr=False)
class PanelMap(FrozenMap, EstimateMethods):
    """A fitted calibration of several scores: call it on a table with a column for each score.

    `PanelCalibrator` keeps one in ``map_``, and `calibrant.load` reads one from a file. It is frozen, and needs numpy
    alone.

    Parameters
    ----------
    names : tuple of str
        The columns of the fit in their order.
    features : Features
        How scores become columns of the sums.
    weights : ndarray
        Of the members: the sum of raw readings, that of calibrated ones, the mean score, and each score alone.
    linear : ndarray of shape (2, size)
        Coefficients of the two sums.
    mean_map : MapFunction
        What the mean score says.
    posterior : LogitPosterior or PosteriorTable, optional
        What intervals and draws need; of a single score, its table.
    method : str
        The name of the method that made it.

    Examples
    --------
    >>> from calibrant import PanelCalibrator
    >>> scores = {"anna": [0.1, 0.4, 0.6, 0.9] * 5, "verdict": ["no", "no", "yes", "yes"] * 5}
    >>> map_ = PanelCalibrator().fit(scores, [0, 0, 1, 1, 0, 1, 0, 1, 0, 0] * 2).map_
    >>> map_
    PanelMap(PanelCalibrator, 2 scores: anna, verdict)
    >>> map_({"anna": [0.2, 0.8], "verdict": ["no", "yes"]}).shape
    (2,)
    """

    kind: ClassVar[str] = "panel"
    tolerance: ClassVar[float] = 1e-10

    names: tuple[str, ...]
    features: Features
    weights: Floats
    linear: Floats
    mean_map: MapFunction
    posterior: LogitPosterior | PosteriorTable | None = None
    method: str = ""

    @property
    def space(self) -> str:  # type: ignore[override]
        """What its numeric scores are: "probability" where all are, otherwise "decision"."""
        return "decision" if any(score.space == "decision" for score in self.features.scores) else "probability"

    def __call__(self, scores: Any) -> Floats:
        """Calibrated probabilities of the positive class, (n,)."""
        return self.probabilities(self.check(scores))

    def check(self, scores: Any) -> list[Any]:
        """The columns that the map needs, in its own order: numbers, or codes of levels."""
        used = [score.name for score in self.features.scores]
        columns = choose_columns(read_columns(scores), self.names, used)
        read = [(score, read_column(score.name, columns[score.name], score.space)) for score in self.features.scores]
        return [score.codes(values) if isinstance(score, CategoryScore) else values for score, values in read]

    def probabilities(self, columns: list[Any]) -> Floats:
        """Probabilities of checked columns."""
        return np.concatenate([np.empty(0), *(self.members(part)[0] @ self.weights for part in _chunks(columns))])

    def members(self, columns: list[Any]) -> tuple[Floats, Floats]:
        """What each member says, (n, members), and the columns of the sums, (n, size)."""
        alone = self.features.alone(columns)
        at = self.features.columns(columns, alone)
        sums = links.expit(at @ self.linear.T)
        return np.column_stack((sums, self.mean_map(self.features.mean_score(at)), alone)), at

    def predict_interval(self, scores: ArrayLike, level: float = 0.9) -> tuple[Floats, Floats]:
        """Lower and upper ends of the credible interval of each probability, (n,) each."""
        posterior, columns = self.need_posterior(), self.check(scores)
        if isinstance(posterior, PosteriorTable):
            return ends_like(scores, posterior.interval(self.one_score(columns), level, self.probabilities(columns)))
        reach = NormalDist().inv_cdf(0.5 + 0.5 * _validation.check_level(level))
        parts = [np.empty((2, 0))]
        for logits, deviations, off in self._spread(posterior, columns):
            spread = np.sqrt((deviations**2).sum(axis=1) + off**2)
            parts.append(links.expit(logits + np.array([[-reach], [reach]]) * spread))
        return ends_like(scores, np.concatenate(parts, axis=1))

    def sample_maps(self, scores: ArrayLike, n_draws: int = 100, random_state: RandomState = 0) -> Floats:
        """Draws of the probabilities of all rows, (n_draws, n), each from one whole map."""
        count = _validation.check_count("n_draws", n_draws)
        return np.concatenate(
            [np.empty((count, 0)), *(part[1:] for part in self.draw_chunks(scores, count, random_state))], axis=1
        )

    def draw_chunks(self, scores: ArrayLike, n_draws: int, random_state: RandomState = 0) -> Iterator[Floats]:
        """The fitted map, then the same draws of it, in chunks of rows, so that not all are held at once."""
        posterior, columns, rng = self.need_posterior(), self.check(scores), _validation.generator(random_state)
        if isinstance(posterior, PosteriorTable):
            draws = posterior.sample_maps(self.one_score(columns), n_draws, rng)
            yield np.vstack((self.probabilities(columns), draws))
            return
        noise, towards = rng.standard_normal((n_draws, posterior.root.shape[1])), rng.standard_normal((n_draws, 1))
        for logits, deviations, off in self._spread(posterior, columns):
            yield links.expit(np.vstack((logits, logits + noise @ deviations.T + towards * off)))

    def _spread(self, posterior: LogitPosterior, columns: list[Any]) -> Iterator[tuple[Floats, Floats, Floats]]:
        """Of each chunk the predicted logits, their deviations, (n, d), and how far the posterior mean is from them."""
        for part in _chunks(columns):
            said, at = self.members(part)
            logits = links.logit(said @ self.weights)
            yield logits, at @ posterior.root, at @ posterior.mean - logits

    def one_score(self, columns: list[Any]) -> Floats:
        """The values of the only score; where it is missing, its mean."""
        score = self.features.scores[0]
        assert isinstance(score, NumericScore)
        return np.nan_to_num(columns[0], nan=score.mean)

    def __repr__(self) -> str:
        return f"PanelMap({self.method}, {len(self.names)} scores: {', '.join(self.names)})"

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return plain_fields(self, "posterior", "features") | {"features": plain_fields(self.features, "places")}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> PanelMap:
        """The map that `to_dict` described."""
        features = Features.from_dict(data["features"])
        weights, linear = (read_floats(data, name) for name in ("weights", "linear"))
        if weights.shape != (MEMBERS + len(features.scores),) or linear.shape != (2, features.size):
            raise ModelFileError("The weights of this map of several scores are damaged.")
        mean_map = MapFunction.from_dict(data["mean_map"])
        return cls(tuple(data["names"]), features, weights, linear, mean_map, None, data["method"])

    def with_posterior(self, data: Mapping[str, Any]) -> PanelMap:
        """The map with the posterior that `posterior_to_dict` described."""
        if "root" not in data:
            return replace(self, posterior=PosteriorTable.from_dict(data))
        mean, root = read_floats(data, "mean"), read_floats(data, "root")
        if mean.shape != (self.features.size,) or root.shape[:1] != mean.shape:
            raise ModelFileError("The posterior of this map of several scores is damaged.")
        return replace(self, posterior=LogitPosterior(mean, root))

    def test_vector(self) -> dict[str, Any]:
        """Scores over their ranges, missing and unseen ones among them, with what the map makes of them."""
        scores = {score.name: score.test_values(MOST_TESTED) for score in self.features.scores}
        return {"scores": scores, "probabilities": self(scores).tolist()}


def _chunks(columns: list[Any]) -> list[list[Any]]:
    starts = range(0, len(columns[0]), CHUNK_ROWS)
    return [[column[start : start + CHUNK_ROWS] for column in columns] for start in starts]
