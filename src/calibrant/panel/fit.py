"""Fitting several scores: each alone, two sums and the mean score, pooled by what they say of rows left out."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from calibrant._numerics import linear_pool, links
from calibrant._typing import Bools, Floats, Ints
from calibrant.maps.functions import MapFunction
from calibrant.maps.panel import MEMBERS
from calibrant.maps.panel_features import Features
from calibrant.panel.additive import Average, Posterior, Rows, Search, laplace, leave_one_out, likely_pairs
from calibrant.panel.prior import Prior, Told
from calibrant.panel.single import Single, fit_alone
from calibrant.tally import Tally

SAMPLE_ROWS = 10_000  # from more, scales and weights are found on so many
#: The Dirichlet prior of the pool, in rows: raw sum, calibrated sum, mean score, all single scores together.
PRIOR_ROWS = np.array([4.0, 4.0, 2.0, 1.0])
SHRINK_ROWS = 10.0  # of correlations towards 0
LEAST_EIGENVALUE, LEAST_SPREAD, LEAST_BASE = 0.02, 1e-3, 1e-3
MEAN_THINNED = 1e-3
LEAST = 1e-5  # of what a member says about a label


class Pool(NamedTuple):
    """The members, the rows of the sample on which they were weighed, and their weights.

    `columns` and `apart` (n, J) are the scores of the sample and what each says alone without the row; `mean_said` is
    what the mean score says of each label without the row.
    """

    features: Features
    sums: tuple[Average, Average]
    opened: Posterior
    mean_map: MapFunction
    sample: Rows
    columns: list[Any]
    apart: Floats
    mean_said: Floats
    weights: Floats = np.empty(0)

    def left_out(self, columns: list[Any], apart: Floats) -> Floats:
        """What each member says of each label without the row, were these the row's scores, (n, members)."""
        at, positive = self.features.columns(columns, apart), self.sample.y > 0.0
        here, there = (
            np.clip(self.mean_map(self.features.mean_score(x)), LEAST, 1.0 - LEAST) for x in (self.sample.columns, at)
        )
        mean = self.mean_said * np.where(positive, there / here, (1.0 - there) / (1.0 - here))
        sums = [leave_one_out(average, self.sample, at) for average in self.sums]
        said = np.where(positive[:, None], apart, 1.0 - apart)
        return np.clip(np.column_stack((*sums, mean, said)), LEAST, 1.0)

    def said(self, columns: list[Any], apart: Floats) -> Floats:
        """What the pool says of each label without the row, were these the row's scores."""
        return self.left_out(columns, apart) @ self.weights

    def cost_without(self, j: int) -> float:
        """By how much the log-loss on rows left out grows if score `j` is missing in every row."""
        score, columns, apart = self.features.scores[j], list(self.columns), self.apart.copy()
        columns[j] = np.full_like(columns[j], np.nan if columns[j].dtype.kind == "f" else -1)
        apart[:, j] = score.predict(columns[j])
        ratios = self.said(self.columns, self.apart) / self.said(columns, apart)
        return float(np.average(np.log(ratios), weights=self.sample.weights))


def fit_pool(singles: list[Single], positive: Bools, weights: Floats) -> Pool:
    """Fit all members to rows that have been checked, and weigh them."""
    columns, y = [single.column for single in singles], positive.astype(np.float64)
    features = learn_features(singles, weights)
    base = float(links.logit(np.clip(weights @ y / weights.sum(), LEAST_BASE, 1.0 - LEAST_BASE)))
    said = np.column_stack([single.left_out for single in singles])
    some, counts = choose_rows(columns, positive, weights)
    own, apart = [column[some] for column in columns], np.where(positive[:, None], said, 1.0 - said)[some]

    def search(calibrated: bool, rows: Rows, told: Told | None = None) -> Search:
        return Search(Prior(features, calibrated, base, float(counts.sum()), told), rows)

    first = search(False, Rows(features.columns(own, features.alone(own)), y[some], counts))
    features = replace(features, pairs=tuple(likely_pairs(first)))
    rows = Rows(features.columns(columns, features.alone(columns)), y, weights)
    sample = rows if len(some) == len(y) else Rows(rows.columns[some], y[some], counts)
    raw_search = search(False, sample)
    raw = raw_search.average(rows)
    calibrated = search(True, sample, raw.told if features.n_numeric > 1 else None).average(rows)
    features = replace(features, mean_weights=_mean_weights(features, raw.told))
    at = features.mean_score(rows.columns)
    mean_map, mean_said = fit_alone(at, positive, Tally.from_arrays(at, positive, weights), "probability", MEAN_THINNED)
    # With an open mind, for intervals.
    opened = laplace(rows, *raw_search.prior.columns(raw_search.prior.opened(raw.best)))
    pool = Pool(features, (raw, calibrated), opened, mean_map, sample, own, apart, mean_said[some])
    said = pool.left_out(own, apart)
    (alone,) = links.softmax(np.log(said[:, MEMBERS:]).T.dot(counts)[None])  # that it is this score, if one alone
    said = np.column_stack((said[:, :MEMBERS], said[:, MEMBERS:] @ alone))
    shares = linear_pool.pool_weights(said, counts, PRIOR_ROWS)
    return pool._replace(weights=np.append(shares[:-1], shares[-1] * alone))


def _mean_weights(features: Features, told: Told) -> Floats:
    """Weights of the mean score: of numeric scores, as the raw sum's centre has them; of levels, equal ones."""
    numeric, count = features.n_numeric, len(features.scores)
    own = np.array([told["centre"].get(j, 0.0) for j in range(numeric)])
    return np.append(numeric * own + 1.0 - own.sum(), np.ones(count - numeric)) / count


def choose_rows(columns: list[Any], positive: Bools, weights: Floats) -> tuple[Ints, Floats]:
    """All rows; or of many a systematic sample, in an order that is not that of the rows, with numbers as weights."""
    if len(weights) <= SAMPLE_ROWS:
        return np.arange(len(weights)), weights
    order = np.lexsort((positive, *columns))
    ends = np.cumsum(weights[order])
    places = np.searchsorted(ends, (np.arange(SAMPLE_ROWS) + 0.5) * (ends[-1] / SAMPLE_ROWS))
    chosen, counts = np.unique(order[places], return_counts=True)
    return chosen, counts.astype(np.float64)


def learn_features(singles: list[Single], weights: Floats) -> Features:
    """Centres, spreads and correlations of the readings."""
    scores, columns, count = tuple(single.score for single in singles), [s.column for s in singles], len(singles)
    gaps = np.array([j for j, single in enumerate(singles) if single.has_gaps], dtype=np.intp)
    unit = np.ones((4, count))
    plain = Features(scores, 0.0 * unit, unit, np.stack([np.eye(count)] * 4), unit[0] / count, gaps)
    readings = plain.readings(columns, plain.alone(columns))
    there = ~np.isnan(readings)
    shares = weights[None, :, None] * there
    shares /= shares.sum(axis=1, keepdims=True)
    centre = (np.where(there, readings, 0.0) * shares).sum(axis=1)
    deviations = np.where(there, readings - centre[:, None], 0.0)
    spread = np.maximum(np.sqrt((shares * deviations**2).sum(axis=1)), LEAST_SPREAD)
    correlations = [correlate(d / s, t, weights) for d, s, t in zip(deviations, spread, there, strict=True)]
    return replace(plain, centre=centre, spread=spread, correlations=np.stack(correlations))


def correlate(u: Floats, there: Bools, weights: Floats) -> Floats:
    """Correlations of standardised scores over the rows that have both, shrunk towards 0 by ten rows."""
    w = weights[:, None]
    squares, counts = (u**2 * w).T @ there, (there * w).T @ there
    r = (u * w).T @ u / np.sqrt(np.maximum(squares * squares.T, 1e-12)) * counts / (counts + SHRINK_ROWS)
    np.fill_diagonal(r, 1.0)
    values, vectors = np.linalg.eigh(r)
    r = (vectors * np.maximum(values, LEAST_EIGENVALUE)) @ vectors.T
    deviation = np.sqrt(np.diag(r))
    return np.asarray(r / deviation / deviation[:, None])
