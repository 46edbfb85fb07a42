"""One calibrator for several scores per row: judges, models, bookmakers, signals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np

from calibrant import _validation
from calibrant._numerics import linear_pool, links
from calibrant._typing import ArrayLike, Bools, Floats, Ints, RandomState
from calibrant.calibrators.base import Estimator
from calibrant.calibrators.blend.blend import Blend
from calibrant.errors import InvalidInputError
from calibrant.maps.panel import LogitPosterior, PanelMap, check_probabilities
from calibrant.maps.panel_columns import is_category, read_column, read_columns
from calibrant.maps.panel_features import CALIBRATED, LEAST, Features, complete
from calibrant.panel.additive import Rows, Search, leave_one_out, likely_pairs
from calibrant.panel.prior import Prior
from calibrant.panel.single import Single, fit_alone, fit_category, fit_numeric
from calibrant.tally import Tally

__all__ = ["PanelCalibrator"]

OPT = {'cal': True, 'mean': 1.0}
SAMPLE_ROWS = 10_000  # from more, scales and weights are found on so many
#: The Dirichlet prior of the pool, in rows: raw sum, calibrated sum, mean score, all single scores together.
PRIOR_ROWS = (4.0, 4.0, 2.0, 0.5)
SHRINK_ROWS = 10.0  # of correlations towards 0
LEAST_EIGENVALUE = 0.02
LEAST_SPREAD = 1e-3
LEAST_BASE = 1e-3


class PanelCalibrator(Estimator):
    """Several scores per row, one probability."""

    shape: ClassVar[str] = "panel"
    bayesian: ClassVar[bool] = True
    name: ClassVar[str] = "panel"
    title: ClassVar[str] = "panel calibration"
    description: ClassVar[str] = "several scores per row, one probability; intervals"
    reference: ClassVar[str] = "this library"

    def __init__(self, *, space: str | Mapping[str, str] = "probability") -> None:
        self.space = space

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, *, pos_label: Any = None) -> Self:
        """Learn from rows."""
        self._check_labels_given(y)
        columns = read_columns(X)
        positive, classes = _validation.encode_labels(y, _validation.choose_positive(y, pos_label))
        weights = _validation.check_weights(sample_weight, len(positive))
        weights = np.ones(len(positive)) if weights is None else weights
        kept = weights > 0.0
        if not kept.any():
            raise InvalidInputError("`X` must have at least one row; got 0 sample(s).")
        singles = self._fit_singles(columns, positive, weights, kept)
        self.names_ = tuple(columns)
        self.map_ = self._fit_pool(singles, positive[kept], weights[kept])
        self.classes_, self.n_features_in_ = np.array(classes), len(columns)
        return self

    def _fit_singles(self, columns: dict[str, Any], positive: Bools, weights: Floats, kept: Bools) -> list[Single]:
        """Each score alone, numeric ones first, each kind by what it is worth; constant ones are left out."""
        singles = []
        for name, column in columns.items():
            category = is_category(column)
            values = read_column(name, column, category)
            _validation.check_same_length(len(values), len(positive), "y")
            if category:
                own = [value for value, keep in zip(values, kept.tolist(), strict=True) if keep]
                singles.append(fit_category(name, own, positive[kept], weights[kept]))
            else:
                space = self._space(name)
                if space == "probability":
                    check_probabilities(name, values)
                singles.append(fit_numeric(name, values[kept], space, positive[kept], weights[kept]))
        useful = [single for single in singles if single.varies] or singles[:1]
        return sorted(useful, key=lambda single: (single.is_category, single.loss))

    def _space(self, name: str) -> str:
        space = self.space.get(name, "probability") if isinstance(self.space, Mapping) else self.space
        return str(_validation.check_choice("space", space, _validation.SPACES))

    def _fit_pool(self, singles: list[Single], positive: Bools, weights: Floats) -> PanelMap:
        columns = [single.column for single in singles]
        features = learn_features(singles, weights)
        if len(singles) == 1 and not singles[0].is_category and not len(features.gaps):
            return self._fit_one(singles[0], features, positive, weights)
        y = positive.astype(np.float64)
        base = float(links.logit(np.clip(weights @ y / weights.sum(), LEAST_BASE, 1.0 - LEAST_BASE)))
        said = np.column_stack([single.left_out for single in singles])
        apart = np.where(positive[:, None], said, 1.0 - said)
        some, counts = choose_rows(columns, positive, weights)
        sample = Rows(features.columns([c[some] for c in columns], features.alone([c[some] for c in columns])), y[some], counts)
        search = Search(Prior(features, False, base, sample.weights.sum()), sample)
        pairs = tuple(likely_pairs(search))
        features = replace(features, pairs=pairs)
        rows = Rows(features.columns(columns, features.alone(columns)), y, weights)
        sample = rows if len(some) == len(y) else Rows(rows.columns[some], y[some], counts)
        moved = features.calibrated(apart[some], [c[some] for c in columns]) - sample.columns[:, features.places["reading", CALIBRATED]]
        averages, members, beliefs = [], [], None
        for calibrated in (False, True):
            search = Search(Prior(features, calibrated, base, sample.weights.sum(), beliefs if OPT['cal'] else None), sample)
            average = search.average(rows)
            averages.append(average)
            members.append(leave_one_out(average, sample, features, moved))
            if not calibrated:
                opened = search.opened(rows, average)
                if features.n_numeric > 1:
                    beliefs = average.beliefs
                    k = features.n_numeric
                    u = np.full(k, sum(v for c, v in beliefs["centre"].items() if c < 0) / k)
                    for c, v in beliefs["centre"].items():
                        if c >= 0:
                            u[c] += v
                    if OPT["mean"]:
                        features = replace(features, mean_weights=OPT["mean"] * u * k + (1 - OPT["mean"]))
        mean_map, left_out = fit_mean(features, rows, some, sample, moved)
        self.left_out_ = np.column_stack((*members, left_out, said[some]))
        prior = np.array([*PRIOR_ROWS[:3], *[PRIOR_ROWS[3] / len(singles)] * len(singles)])
        pool = linear_pool.pool_weights(self.left_out_, sample.weights, prior)
        self._left_out_loss = float(-np.average(np.log(self.left_out_ @ pool), weights=sample.weights))
        linear = np.stack([average.linear for average in averages])
        posterior = LogitPosterior(opened.mean, opened.root)
        return PanelMap(self.names_, features, pool, linear, mean_map, posterior, type(self).__name__)

    def _fit_one(self, single: Single, features: Features, positive: Bools, weights: Floats) -> PanelMap:
        """One numeric score that is never missing: what Blend gives."""
        self.blend_ = Blend(space=single.score.space).fit_tally(Tally.from_arrays(single.column, positive, weights))
        score = replace(single.score, alone=self.blend_.map_.function)
        features = replace(features, scores=(score,))
        linear, pool = np.zeros((2, features.size)), np.array([0.0, 0.0, 0.0, 1.0])
        return PanelMap(self.names_, features, pool, linear, self.blend_.map_.function, None, type(self).__name__)

    def predict_interval(self, X: Any, level: float = 0.9) -> tuple[Floats, Floats]:
        """Lower and upper ends of the credible interval of each probability."""
        return self.frozen_map().predict_interval(X, level)

    def sample_maps(self, X: Any, n_draws: int = 100, random_state: RandomState = 0) -> Floats:
        """Draws of the probabilities of all rows, (n_draws, n), each from one whole map."""
        return self.frozen_map().sample_maps(X, n_draws, random_state)


def fit_mean(features: Features, rows: Rows, some: Ints, sample: Rows, moved: Floats) -> tuple[Any, Floats]:
    """Blend of the mean of all logits: no weights to learn, for the fewest rows."""
    at, positive = features.mean_score(rows.columns), rows.y > 0.0
    function, left_out = fit_alone(at, positive, Tally.from_arrays(at, positive, rows.weights), "probability")
    apart = sample.columns.copy(order="F")
    apart[:, features.places["reading", CALIBRATED]] += moved
    p, p_apart = (np.clip(function(place), 1e-6, 1.0 - 1e-6) for place in (at[some], features.mean_score(apart)))
    # Calibrated logits of levels do not know the row's label either.
    ratio = np.where(sample.y > 0.0, p_apart / p, (1.0 - p_apart) / (1.0 - p))
    return function, np.clip(left_out[some] * ratio, LEAST, 1.0)


def choose_rows(columns: list[Any], positive: Bools, weights: Floats) -> tuple[Ints, Floats]:
    """All rows, or of many every so-manieth in an order that does not depend on theirs, with their weights."""
    total = float(weights.sum())
    if len(weights) <= SAMPLE_ROWS:
        return np.arange(len(weights)), weights
    order = np.lexsort((positive, *columns))
    ends = np.cumsum(weights[order])
    places = np.searchsorted(ends, (np.arange(SAMPLE_ROWS) + 0.5) * total / SAMPLE_ROWS)
    chosen, counts = np.unique(order[places], return_counts=True)
    return chosen, counts.astype(np.float64)


def learn_features(singles: list[Single], weights: Floats) -> Features:
    """Centres, spreads and correlations of the readings."""
    scores, columns = tuple(single.score for single in singles), [single.column for single in singles]
    count = len(scores)
    gaps = np.array([j for j, single in enumerate(singles) if single.has_gaps], dtype=np.intp)
    plain = Features(scores, np.zeros((4, count)), np.ones((4, count)), np.stack([np.eye(count)] * 4), gaps)
    readings = plain.readings(columns, plain.alone(columns))
    there = ~np.isnan(readings)
    shares = weights[None, :, None] * there
    shares /= shares.sum(axis=1, keepdims=True)
    filled = np.where(there, readings, 0.0)
    centre = (filled * shares).sum(axis=1)
    spread = np.maximum(np.sqrt((shares * np.where(there, readings - centre[:, None], 0.0) ** 2).sum(axis=1)), LEAST_SPREAD)
    u = np.where(there, (readings - centre[:, None]) / spread[:, None], 0.0)
    return replace(plain, centre=centre, spread=spread, correlations=np.stack(list(map(correlate, u, there, [weights] * 4))))


def correlate(u: Floats, there: Bools, weights: Floats) -> Floats:
    """Correlations of standardised scores over the rows that have both, shrunk towards 0 by ten rows."""
    w = weights[:, None]
    squares, counts = (u**2 * w).T @ there, (there * w).T @ there
    r = (u * w).T @ u / np.sqrt(np.maximum(squares * squares.T, 1e-12)) * counts / (counts + SHRINK_ROWS)
    np.fill_diagonal(r, 1.0)
    values, vectors = np.linalg.eigh(r)
    r = (vectors * np.maximum(values, LEAST_EIGENVALUE)) @ vectors.T
    deviation = np.sqrt(np.diag(r))
    out: Floats = r / deviation / deviation[:, None]
    return out
