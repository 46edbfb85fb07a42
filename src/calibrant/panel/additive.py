"""The additive model of several scores, averaged over the scales of its prior."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from calibrant._numerics import links
from calibrant._typing import Floats
from calibrant.maps.panel_features import CALIBRATED, RAW, Features

MEAN, TOGETHER, SUM = -1, -2, -3  # centres; a number from 0 on is one score alone
TRUST = (0.1, 0.3, 1.0, 3.0)  # intercept, and slope of the centre around 1
SLOPES = (0.0, 0.1, 0.2, 0.4, 0.8, 1.6)  # of single scores around the centre
SCALES = {"curve": (0.0, 0.15, 0.4, 1.0), "levels": (0.0, 0.15, 0.4, 1.0, 2.0), "pair": (0.0, 0.1, 0.25, 0.6)}
MISSING = (0.0, 0.3, 1.0)
OPEN = {"trust": 0.3, "slopes": 0.1, "curve": 0.15, "levels": 0.15, "missing": 0.3}  # the least scales of intervals
ODDS_CURVE = 0.15
ODDS_PAIR = 0.2
MOST_PAIRS, MOST_PAIR_COLUMNS, LEAST_GAIN = 6, 60, -1.0
WINDOW, MOST_SETTINGS = 7.0, 40  # settings within so many nats of the best are averaged
SWEEPS = 4
EXACT_ROWS = 10**9
Setting = dict[Any, Any]


@dataclass(frozen=True, eq=False)
class Rows:
    """Columns of the features, labels and weights."""

    columns: Floats
    y: Floats
    weights: Floats


@dataclass(frozen=True, eq=False)
class Gaussian:
    """Mean and root of the covariance of the coefficients of all columns: covariance = root rootᵀ."""

    mean: Floats
    root: Floats

    def moments(self, columns: Floats) -> tuple[Floats, Floats]:
        """Mean and variance of each row's logit."""
        return columns @ self.mean, ((columns @ self.root) ** 2).sum(axis=1)


class Expansion:
    """The log-likelihood as a quadratic function of all coefficients: constant + linear · β − ½ β · curvature · β."""

    def __init__(self, rows: Rows, at: Floats) -> None:
        eta = rows.columns @ at
        p = links.expit(eta)
        self.curvature = rows.columns.T @ (rows.columns * (rows.weights * p * (1.0 - p))[:, None])
        self.linear = rows.columns.T @ (rows.weights * (rows.y - p)) + self.curvature @ at
        value = rows.weights @ (rows.y * eta - np.logaddexp(0.0, eta))
        self.constant = float(value - self.linear @ at + 0.5 * at @ self.curvature @ at)

    def posterior(self, offset: Floats, scales: Floats) -> tuple[float, Floats, Floats]:
        """Log evidence of β = offset + scales · v, v ~ N(0, I); the mean of β and a root of its covariance."""
        product = self.curvature @ scales
        factor = np.linalg.cholesky(scales.T @ product + np.eye(scales.shape[1]))
        pull = scales.T @ self.linear - product.T @ offset
        half = linalg.solve_triangular(factor, pull, lower=True, check_finite=False)
        root = linalg.solve_triangular(factor, scales.T, lower=True, check_finite=False).T
        evidence = self.constant + self.linear @ offset - 0.5 * offset @ self.curvature @ offset
        evidence += 0.5 * half @ half - np.log(np.diag(factor)).sum()
        return float(evidence), offset + root @ half, root, linalg.solve_triangular(factor.T, half, check_finite=False)


class Additive:
    """logit P = centre + intercept + slopes + curves + levels + gaps + pairs."""

    def __init__(self, features: Features, calibrated: bool, base: float) -> None:
        self.features, self.calibrated, self.base = features, calibrated, base
        self.size = len(features.scores) if calibrated else features.n_numeric
        several = self.size > 1
        self.options: dict[Any, tuple[Any, ...]] = {
            "centre": tuple(range(SUM, self.size)) if several else (MEAN,),
            "reading": (CALIBRATED,) if calibrated else RAW if features.n_numeric else RAW[:1],
            "slopes": (SLOPES[:-1] if calibrated else SLOPES) if several else (0.0,),
            "trust": TRUST[:-1] if calibrated else TRUST,
        }
        self.options |= {key: SCALES[key[0]] for key in features.places if key[0] in SCALES}
        if len(features.gaps):
            self.options["missing"] = MISSING
        self.tried: dict[Any, Setting] = {}

    def log_prior(self, setting: Setting) -> float:
        total = 0.0
        for key, value in setting.items():
            kind = key if isinstance(key, str) else key[0]
            if kind == "centre":
                total += math.log(0.5 / max(self.size, 1) if value >= 0 else 0.2)
                total += math.log(self.together(setting["reading"]) / self.size) if value == SUM else 0.0
            elif kind in ("slopes", "levels"):
                total += math.log(0.5 if value == 0 else 0.1)
            elif kind == "curve" and value > 0:
                total += math.log(ODDS_CURVE)
            elif kind == "pair" and value > 0:
                total += self.log_odds_pair()
        return total

    def log_odds_pair(self) -> float:
        count = len(self.features.scores)
        return math.log(min(ODDS_PAIR, 2.0 / (count * (count - 1))))

    def together(self, reading: int) -> float:
        """κ = J / (1 + (J − 1) mean correlation): 1 for copies of one score, J for scores with nothing in common."""
        k = self.size
        r = self.features.correlations[reading][:k, :k]
        return float(k / (1.0 + (k - 1) * max(0.0, (r.sum() - k) / (k * (k - 1)))))

    def prior(self, setting: Setting) -> tuple[Floats, Floats]:
        """The mean of all coefficients, and columns whose multiples, N(0, 1) each, are added to it."""
        features, k, reading = self.features, self.size, setting["reading"]
        offset = np.zeros(features.size)
        parts = []
        if k:
            place, means = features.places["reading", reading], features.centre[reading, :k]
            choice = setting["centre"]
            if choice >= 0:
                offset[place.start + choice], level = 1.0, means[choice]
            else:
                times = {MEAN: 1.0, SUM: k}.get(choice) or self.together(reading)
                offset[place], level = times / k, means.mean() if choice == MEAN else self.base
            parts.append(setting["trust"] * offset[:, None])
            offset[0] = level
            unit = np.ones(k) if self.calibrated else features.spread[reading, :k]
            if setting["slopes"] > 0:
                parts.append(self._block(place, setting["slopes"] / unit))
        parts.append(self._block(features.places["one"], setting["trust"]))
        for key, value in setting.items():
            if key in features.places and value > 0:
                parts.append(self._block(features.places[key], value))
        return offset, np.concatenate(parts, axis=1)

    def _block(self, place: slice, scale: Any) -> Floats:
        out = np.zeros((self.features.size, place.stop - place.start))
        out[place] = np.eye(place.stop - place.start) * scale
        return out

    # -- the search for settings
    def first(self) -> Setting:
        wanted = {"centre": MEAN, "slopes": 0.2, "trust": 1.0, "missing": 0.3}
        levels = 0.0 if self.calibrated else 0.4
        setting = {}
        for key, options in self.options.items():
            value = wanted.get(key, levels if key[0] == "levels" else options[0])
            setting[key] = value if value in options else options[0]
        return setting

    def look(self, setting: Setting) -> float:
        key = tuple(setting.items())
        if key not in self.totals:
            self.tried[key] = setting
            self.totals[key] = self.posterior(setting)[0] + self.log_prior(setting)
        return self.totals[key]

    def posterior(self, setting: Setting) -> tuple[float, Floats, Floats]:
        """Log evidence of a setting, the mean of all coefficients and a root of their covariance."""
        prior = self.prior(setting)
        found = self.expansion.posterior(*prior)
        if len(self.rows.y) > EXACT_ROWS:
            return found
        return laplace(self.rows, *prior, start=found[3])

    def search(self, rows: Rows) -> Setting:
        setting = self.first()
        for _ in range(SWEEPS):
            self.expand(rows, setting)
            found = self.sweep(setting, list(self.options), _ == 0)
            if found == setting:
                break
            setting = found
        return setting

    def expand(self, rows: Rows, setting: Setting, start: Floats | None = None) -> None:
        """Expand the likelihood at the most probable coefficients of a setting."""
        self.rows, self.expansion = rows, Expansion(rows, laplace(rows, *self.prior(setting))[1])
        self.totals: dict[Any, float] = {}

    def sweep(self, setting: Setting, names: list[Any], first: bool) -> Setting:
        best = self.look(setting)
        for name in names:
            options = self.options[name]
            if name not in ("centre", "reading") and not (first and len(options) <= 4):
                place = options.index(setting[name])
                options = options[max(0, place - 1) : place + 2]
            for value in options:
                trial = setting | {name: value}
                total = self.look(trial)
                if total > best + 1e-9:
                    best, setting = total, trial
        return setting

    def likely_pairs(self, setting: Setting, rows: Rows) -> list[tuple[int, int]]:
        """Pairs whose evidence, from one quadratic step away from no effect, is worth a fit."""
        _, mean, root, _ = self.posterior(setting)
        p = links.expit(rows.columns @ mean)
        w, residual = rows.weights * p * (1.0 - p), rows.weights * (rows.y - p)
        half = (rows.columns @ root) * w[:, None]
        gains, count = {}, len(self.features.scores)
        for a in range(count):
            for b in range(a + 1, count):
                if self.features._side_size(a) * self.features._side_size(b) <= MOST_PAIR_COLUMNS:
                    z = SCALES["pair"][2] * self.features.pair(a, b, rows.columns)
                    cross, g = half.T @ z, z.T @ residual
                    h = z.T @ (w[:, None] * z) - cross.T @ cross + np.eye(z.shape[1])
                    gains[a, b] = 0.5 * g @ np.linalg.solve(h, g) - 0.5 * np.linalg.slogdet(h)[1] + self.log_odds_pair()
        ranked = sorted(gains, key=lambda pair: -gains[pair])
        return [pair for pair in ranked if gains[pair] > LEAST_GAIN][:MOST_PAIRS]

    def average(self) -> Gaussian:
        """The posterior averaged over all settings that were tried, by evidence times prior."""
        totals = {key: self.look(setting) for key, setting in self.tried.items()}
        best = max(totals.values())
        kept = sorted((key for key in totals if totals[key] > best - WINDOW), key=lambda key: -totals[key])
        kept = kept[:MOST_SETTINGS]
        shares = np.exp([totals[key] - best for key in kept])
        shares /= shares.sum()
        posteriors = [self.posterior(self.tried[key]) for key in kept]
        self.settings = [(float(s), self.tried[key]) for s, key in zip(shares, kept, strict=True)]
        mean, moderated, kappas, roots = np.zeros(self.features.size), np.zeros(self.features.size), 0.0, []
        for share, (_, own, root, _) in zip(shares, posteriors, strict=True):
            variance = self.rows.weights @ ((self.rows.columns @ root) ** 2).sum(axis=1) / self.rows.weights.sum()
            kappa = 1.0 / math.sqrt(1.0 + math.pi * variance / 8.0)
            mean, moderated, kappas = mean + share * own, moderated + share * kappa * own, kappas + share * kappa
            roots += [math.sqrt(share) * root]
        for share, post in zip(shares, posteriors, strict=True):
            roots += [math.sqrt(share) * (post[1] - mean)[:, None]]
        stacked = np.concatenate(roots, axis=1)
        values, vectors = np.linalg.eigh(stacked @ stacked.T)
        positive = values > 1e-12 * values[-1]
        g = Gaussian(mean, vectors[:, positive] * np.sqrt(values[positive]))
        object.__setattr__(g, "moderated", moderated); object.__setattr__(g, "kappa", kappas)
        return g

    def open(self, rows: Rows) -> Gaussian:
        """The best setting with every scale raised to at least a modest one, for intervals."""
        best = self.settings[0][1]
        wide = {key: max(value, OPEN.get(key if isinstance(key, str) else key[0], value)) for key, value in best.items()}
        prior = self.prior(wide)
        _, mean, root, _ = laplace(rows, *prior)
        return Gaussian(mean, root)


def laplace(rows: Rows, offset: Floats, scales: Floats, start: Floats | None = None) -> tuple[float, Floats, Floats, Floats]:
    """Laplace's method: Newton's steps, halved where they lower the density. O(n D²) a step."""
    x, base = rows.columns @ scales, rows.columns @ offset
    v = np.zeros(x.shape[1]) if start is None else start
    eta = base + x @ v
    value = rows.weights @ (rows.y * eta - np.logaddexp(0.0, eta)) - 0.5 * v @ v
    for _ in range(50):
        p = links.expit(eta)
        gradient = x.T @ (rows.weights * (rows.y - p)) - v
        factor = np.linalg.cholesky(x.T @ (x * (rows.weights * p * (1.0 - p))[:, None]) + np.eye(len(v)))
        step = linalg.cho_solve((factor, True), gradient, check_finite=False)
        if gradient @ step < 1e-9:
            break
        length = 1.0
        while length > 1e-6:
            trial = v + length * step
            there = base + x @ trial
            value_there = rows.weights @ (rows.y * there - np.logaddexp(0.0, there)) - 0.5 * trial @ trial
            if value_there >= value - 1e-9:
                break
            length *= 0.5
        v, eta, value = trial, there, value_there
    root = linalg.solve_triangular(factor, scales.T, lower=True, check_finite=False).T
    return float(value - np.log(np.diag(factor)).sum()), offset + scales @ v, root, v


def leave_one_out(posterior: Gaussian, rows: Rows, apart: Floats) -> Floats:
    """The probability of each row's own label without the row; `apart`: columns that have not seen the row's label."""
    half, half_apart = rows.columns @ posterior.root, apart @ posterior.root
    p = links.expit(rows.columns @ posterior.mean)
    one = np.minimum(rows.weights, 1.0)
    w, cross = one * p * (1.0 - p), (half * half_apart).sum(axis=1)
    rest = np.maximum(1.0 - w * (half**2).sum(axis=1), 0.05)
    mean = apart @ posterior.moderated - posterior.kappa * cross * one * (rows.y - p) / rest
    return links.expit(np.where(rows.y > 0, mean, -mean))


def mean_probability(mean: Floats, variance: Floats) -> Floats:
    """E expit(η) for η ~ N(mean, variance), nearly."""
    return links.expit(mean / np.sqrt(1.0 + np.pi * variance / 8.0))
