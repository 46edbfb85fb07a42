"""The additive model of several scores: a logistic regression, averaged over the scales of its prior."""

import math
from collections import defaultdict
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, special

from calibrant._numerics import links
from calibrant._numerics.logistic import fit_logistic
from calibrant._typing import Floats
from calibrant.panel.prior import CANDIDATE_PAIR, Prior, Setting, Told

EXACT_ROWS = 500  # by weight; up to so many, each setting has its own mode; with more, one expansion serves all of them
SWEEPS = 5
WINDOW, MOST_SETTINGS = 7.0, 40  # settings within so many nats of the best are averaged
MOST_PAIRS, MOST_PAIR_COLUMNS, LEAST_GAIN = 6, 60, -1.0
LEAST_REST = 0.05  # of a row's variance after its own curvature is taken out


class Rows(NamedTuple):
    """Columns of the features, labels (0 or 1) and weights."""

    columns: Floats
    y: Floats
    weights: Floats


class Posterior(NamedTuple):
    """Log evidence; mean of all coefficients and a root of their covariance (root rootᵀ); the mean in prior units."""

    evidence: float
    mean: Floats
    root: Floats
    standard: Floats


class Average(NamedTuple):
    """The posterior averaged over settings: mean and root, and the coefficients of predictions.

    The mean of expit(η), η ~ N(m, s²), is nearly expit(m / √(1 + π s² / 8)); `linear` are the coefficients times that
    factor of their setting, and `factor` is its mean.
    """

    mean: Floats
    root: Floats
    linear: Floats
    factor: float
    best: Setting
    told: Told


def laplace(rows: Rows, offset: Floats, directions: Floats, start: Floats | None = None) -> Posterior:
    """Laplace's method for β = offset + directions · v, v ~ N(0, I), by Newton's steps. O(n d²) a step."""
    x, base, (_, y, weights) = rows.columns @ directions, rows.columns @ offset, rows
    start = np.zeros(x.shape[1]) if start is None else start
    v, precision = fit_logistic(x, weights * y, weights, ridge=1.0, offsets=base, start=start)
    factor, eta = np.linalg.cholesky(precision), base + x @ v
    root = linalg.solve_triangular(factor, directions.T, lower=True, check_finite=False).T
    density = weights @ (y * eta - np.logaddexp(0.0, eta)) - 0.5 * v @ v
    return Posterior(float(density - np.log(np.diag(factor)).sum()), offset + directions @ v, root, v)


class Expansion:
    """The log-likelihood as a quadratic function of all coefficients: constant + linear · β − ½ β · curvature · β."""

    def __init__(self, rows: Rows, at: Floats) -> None:
        eta = rows.columns @ at
        p = links.expit(eta)
        self.curvature = rows.columns.T @ (rows.columns * (rows.weights * p * (1.0 - p))[:, None])
        self.linear = rows.columns.T @ (rows.weights * (rows.y - p)) + self.curvature @ at
        value = rows.weights @ (rows.y * eta - np.logaddexp(0.0, eta))
        self.constant = float(value - self.linear @ at + 0.5 * at @ self.curvature @ at)

    def posterior(self, offset: Floats, directions: Floats) -> Posterior:
        """The posterior of β = offset + directions · v, v ~ N(0, I), without a look at the rows. O(D² d)."""
        product = self.curvature @ directions
        factor = np.linalg.cholesky(directions.T @ product + np.eye(directions.shape[1]))
        pull = directions.T @ self.linear - product.T @ offset
        half = linalg.solve_triangular(factor, pull, lower=True, check_finite=False)
        root = linalg.solve_triangular(factor, directions.T, lower=True, check_finite=False).T
        evidence = self.constant + self.linear @ offset - 0.5 * offset @ self.curvature @ offset
        evidence += 0.5 * half @ half - np.log(np.diag(factor)).sum()
        v = linalg.solve_triangular(factor.T, half, check_finite=False)
        return Posterior(float(evidence), offset + root @ half, root, v)


class Search:
    """Settings that were looked at, with evidence times prior."""

    def __init__(self, prior: Prior, rows: Rows) -> None:
        self.prior = prior
        self.tried: dict[Any, Setting] = {}
        self.setting = prior.first()
        self._expand(rows, None)
        for number in range(SWEEPS):
            before = self.setting
            self._sweep(everything=number == 0)
            if self.setting == before:
                break
            self._expand(rows, self.posterior(self.setting).standard)

    def _expand(self, rows: Rows, start: Floats | None) -> None:
        """Expand the likelihood at the mode of the best setting so far."""
        self.rows = rows
        self.expansion = Expansion(rows, laplace(rows, *self.prior.columns(self.setting), start).mean)
        self.totals: dict[Any, float] = {}

    def _sweep(self, everything: bool) -> None:
        """Change one scale at a time while that raises evidence times prior."""
        best = self._look(self.setting)
        for key in self.prior.options:
            for value in self.prior.near(self.setting, key, everything):
                trial = self.setting | {key: value}
                total = self._look(trial)
                if total > best + 1e-9:
                    best, self.setting = total, trial

    def _look(self, setting: Setting) -> float:
        key = tuple(setting.values())
        if key not in self.totals:
            self.tried[key] = setting
            self.totals[key] = self.posterior(setting).evidence + self.prior.log_share(setting)
        return self.totals[key]

    def posterior(self, setting: Setting) -> Posterior:
        """The posterior of one setting: from the expansion, and with few rows from there by Newton's steps."""
        columns = self.prior.columns(setting)
        found = self.expansion.posterior(*columns)
        return found if self.rows.weights.sum() > EXACT_ROWS else laplace(self.rows, *columns, found.standard)

    def average(self, rows: Rows) -> Average:
        """The posterior averaged over all settings that were tried, by evidence times prior, on these rows."""
        if rows is not self.rows:  # scales were found on a sample
            self._expand(rows, self.posterior(self.setting).standard)
        ranked = sorted(((self._look(setting), key) for key, setting in self.tried.items()), key=lambda pair: -pair[0])
        kept = [(total, self.tried[key]) for total, key in ranked if total > ranked[0][0] - WINDOW][:MOST_SETTINGS]
        shares = special.softmax([total for total, _ in kept])
        posteriors = [self.posterior(setting) for _, setting in kept]
        means = np.stack([posterior.mean for posterior in posteriors])
        squares = rows.columns.T @ (rows.columns * (rows.weights / rows.weights.sum())[:, None])
        variances = np.array([((squares @ posterior.root) * posterior.root).sum() for posterior in posteriors])
        factors = 1.0 / np.sqrt(1.0 + math.pi * variances / 8.0)
        mean = shares @ means
        covariance = ((means - mean) * shares[:, None]).T @ (means - mean)
        covariance += sum(share * (one.root @ one.root.T) for share, one in zip(shares, posteriors, strict=True))
        told: Told = {"centre": defaultdict(float), "slopes": defaultdict(float)}
        for share, (_, setting) in zip(shares.tolist(), kept, strict=True):
            for key, found in told.items():
                found[setting[key]] += share
        linear = (shares * factors) @ means
        values, vectors = np.linalg.eigh(covariance)
        root = (vectors * np.sqrt(np.maximum(values, 0.0)))[:, values > 1e-12 * values[-1]]
        return Average(mean, root, linear, float(shares @ factors), kept[0][1], told)


def likely_pairs(search: Search) -> list[tuple[int, int]]:
    """Pairs of scores whose evidence, from one quadratic step away from no effect, is worth a fit."""
    rows, features = search.rows, search.prior.features
    best = search.posterior(search.setting)
    p = links.expit(rows.columns @ best.mean)
    w, residual = rows.weights * p * (1.0 - p), rows.weights * (rows.y - p)
    half = (rows.columns @ best.root) * w[:, None]
    gains, count = {}, len(features.scores)
    for a in range(count):
        for b in range(a + 1, count):
            if features.pair_size(a, b) <= MOST_PAIR_COLUMNS:
                z = CANDIDATE_PAIR * features.pair(a, b, rows.columns)
                cross, pull = half.T @ z, z.T @ residual
                precision = z.T @ (w[:, None] * z) - cross.T @ cross + np.eye(z.shape[1])
                gain = 0.5 * pull @ np.linalg.solve(precision, pull) - 0.5 * np.linalg.slogdet(precision)[1]
                gains[a, b] = float(gain) + search.prior.log_odds["pair"]
    ranked = sorted(gains, key=lambda pair: -gains[pair])
    return [pair for pair in ranked if gains[pair] > LEAST_GAIN][:MOST_PAIRS]


def leave_one_out(average: Average, rows: Rows, apart: Floats) -> Floats:
    """The probability of each row's own label without the row.

    Out go the row's pull and curvature on the coefficients, and its part in what scores say alone: `apart` are its
    columns without it. A row of weight 2 is two rows, of which one goes.
    """
    half = rows.columns @ average.root
    p = links.expit(rows.columns @ average.mean)
    one = np.minimum(rows.weights, 1.0)
    rest = np.maximum(1.0 - one * p * (1.0 - p) * (half**2).sum(axis=1), LEAST_REST)
    shift = (half * (apart @ average.root)).sum(axis=1) * one * (rows.y - p) / rest
    logits = apart @ average.linear - average.factor * shift
    return links.expit(np.where(rows.y > 0.0, logits, -logits))
