"""How often the intervals of a clinical validation hold the truth, at 95 %.

- `summaries`: all measures of `validation_summary` on independent rows, and on rows of centres with groups.
- `outcomes`: the same of three outcomes, with intercepts and slopes of the multinomial line.
- `internal`: `validate` of a logistic regression that overfits: mean of corrected minus true measures, and intervals.
- `centres`: `validate_centres`: the average centre, and a new centre by the prediction interval.
- `imputations`: `pool_imputations` of ten tables with imputed values.
- `outlooks`: three intervals of a new centre, from effects and errors alone, where centres differ by nothing or much.

Run with ``python -m benchmarks.accuracy.clinic [runs]``, all or one of these before the number of runs. After
``internal`` may stand "bootstrap", "632+" or "cross_validation". With "second" the design is another one: another base
rate, other slopes, centres of different sizes. A second number is the first seed.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri, stdtrit
from sklearn.linear_model import LogisticRegression

import calibrant
from calibrant import Tally
from calibrant._numerics import links
from calibrant.intervals import Interval
from calibrant.metrics import pool_imputations, validate_centres, validation_summary
from calibrant.metrics.pooling import SHARES, expect_effect, pool_effects
from calibrant.metrics.validation import LINKS, measure_named, measure_tally

CUTS = np.array([0.1, 0.3])
METHODS = {"bootstrap": 60, "632+": 60, "cross_validation": 20}  # of `validate`, and numbers of replicates
POOLED = ("observed_expected", "intercept", "slope", "auc", "brier_score", "net_benefit_0.3")
NODES, NODE_WEIGHTS = np.polynomial.hermite_e.hermegauss(9)
COMPLETED = 10  # tables with imputed values
Rows = tuple[np.ndarray, np.ndarray, np.ndarray]


class Design(NamedTuple):
    """Logits of the model, how the truth differs from them, and centres.

    The true logits are a level plus a slope times those of the model; both may differ between centres, the level by an
    intraclass correlation of the logit scale.
    """

    mean: float = -1.0
    spread: float = 1.3
    level: float = -0.3
    slope: float = 0.7
    slopes_differ: float = 0.0
    uneven: bool = False
    centres: tuple[tuple[int, int], ...] = ((12, 100), (50, 40))

    def draw(self, n_centres: int, size: int, icc: float, seed: int) -> Rows:
        """Labels, probabilities and centres."""
        rng = np.random.default_rng(seed)
        shares = rng.gamma(4.0, 1.0, n_centres) if self.uneven else np.ones(n_centres)
        sizes = np.maximum(40, np.rint(shares / shares.mean() * size)).astype(int) if size > 1 else np.ones_like(shares)
        centre = np.repeat(np.arange(n_centres), sizes.astype(int))
        z = rng.normal(self.mean, self.spread, len(centre))
        level, slope = self.effects(icc, rng.normal(0, 1, (2, n_centres)))
        return rng.random(len(z)) < links.expit(level[centre] + slope[centre] * z), links.expit(z), centre

    def effects(self, icc: float, normal: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Level and slope of centres, from standard normal numbers."""
        between = np.sqrt(icc / (1.0 - icc) * np.pi**2 / 3.0)
        return self.level + between * normal[0], self.slope + self.slopes_differ * normal[1]

    def measure(self, icc: float, *normal: float) -> dict[str, float]:
        """The true measures of a centre with these effects: those of rows at many quantiles."""
        z = self.mean + self.spread * ndtri((np.arange(4000) + 0.5) / 4000)
        level, slope = self.effects(icc, np.array(normal))
        return measure_tally(expected_tally(links.expit(z), links.expit(level + slope * z)), CUTS)


def expected_tally(p: np.ndarray, truth: np.ndarray) -> Tally:
    """Rows with these predictions, each positive in the share that the truth says."""
    return Tally.from_arrays(np.tile(p, 2), np.repeat([1, 0], len(p)), np.append(truth, 1.0 - truth))


FIRST = Design()
SECOND = Design(-2.2, 1.1, 0.4, 1.0, slopes_differ=0.2, uneven=True, centres=((8, 300), (25, 160)))


class Held:
    """How often each interval held its truth."""

    def __init__(self) -> None:
        self.found: defaultdict[str, list[bool]] = defaultdict(list)

    def add(self, intervals: Mapping[str, Interval], truth: Mapping[str, float]) -> None:
        """Note which intervals of one run hold the truth."""
        for name in intervals.keys() & truth.keys():
            self.found[name].append(intervals[name].low <= truth[name] <= intervals[name].high)

    def show(self, title: str, names: list[str]) -> None:
        """Print the shares with their binomial errors."""
        print(title)
        for name in (name for name in names if name in self.found):
            share, runs = np.mean(self.found[name]), len(self.found[name])
            print(f"  {name:24} {share:.3f} ± {np.sqrt(share * (1.0 - share) / runs):.3f}", flush=True)


def summaries(seeds: range, design: Design) -> None:
    settings = [(500, 1, 0.0), (2000, 1, 0.0)]
    settings += [(*centres, icc) for centres in design.centres for icc in (0.05, 0.2)]
    for n_centres, size, icc in settings:
        y, p, _ = design.draw(1_000_000 // size, size, icc, 10**6)
        truth = measure_tally(Tally.from_arrays(p, y), CUTS)
        held = Held()
        for seed in seeds:
            y, p, centre = design.draw(n_centres, size, icc, seed)
            groups = None if size == 1 else centre
            found = validation_summary(y, p, thresholds=CUTS, level=0.95, groups=groups, n_resamples=300)
            held.add(found.measures, truth)
        title = f"{n_centres} rows" if size == 1 else f"{n_centres} centres of {size}, ICC {icc}"
        held.show(f"validation_summary, {title}", list(truth))


def outcomes(seeds: range, design: Design) -> None:
    """Three outcomes; the model is too extreme about the last one."""
    slopes = {"slope[b]": 1.0, "slope[c]": 0.6} if design is FIRST else {"slope[b]": 1.3, "slope[c]": 0.8}
    rare = np.array([0.0, -0.5]) if design is FIRST else np.array([-1.0, -2.0])

    def rows(n_centres: int, size: int, seed: int, between: float) -> Rows:
        rng = np.random.default_rng(seed)
        centre = np.repeat(np.arange(n_centres), size)
        logits = rng.normal(rare, 1.0, (len(centre), 2))
        true = logits * list(slopes.values()) + between * rng.normal(0.0, 1.0, (n_centres, 2))[centre]
        p, chances = (links.softmax(np.column_stack((np.zeros(len(centre)), x))) for x in (logits, true))
        chosen = (rng.random((len(centre), 1)) > chances.cumsum(axis=1)).sum(axis=1)
        return np.array(["a", "b", "c"])[chosen], p, centre

    for n_centres, size, between in ((800, 1, 0.0), (12, 100, 0.4), (50, 40, 0.4)):
        y, p, _ = rows(500_000 // size, size, 10**6, between)
        truth = {name: x.value for name, x in validation_summary(y, p, reference="a", n_resamples=2).measures.items()}
        truth |= slopes if not between else {}
        held = Held()
        for seed in seeds:
            y, p, centre = rows(n_centres, size, seed, between)
            groups = None if size == 1 else centre
            found = validation_summary(y, p, reference="a", level=0.95, groups=groups, n_resamples=300)
            held.add(found.measures, truth)
        title = f"{n_centres} rows" if size == 1 else f"{n_centres} centres of {size}"
        held.show(f"validation_summary of three outcomes, {title}", list(truth))


def internal(seeds: range, design: Design) -> None:
    n, effects, level = 250, [0.8, -0.6, 0.5, 0.3, 0, 0, 0, 0], -0.8
    if design is SECOND:  # a fifth of the rows have the event, twelve features
        n, effects, level = 400, [0.6, -0.6, 0.4, 0.4, 0.2, -0.2, 0, 0, 0, 0, 0, 0], -1.7

    def rows(n: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        rng = np.random.default_rng(seed)
        x = rng.normal(0, 1, (n, len(effects)))
        chances = links.expit(x @ effects + level)
        return x, rng.random(n) < chances, chances

    model, (others, _, chances) = LogisticRegression(C=np.inf), rows(50_000, 10**6)
    for method in [word for word in sys.argv if word in METHODS] or METHODS:
        off, before, held = defaultdict(list), defaultdict(list), Held()
        for seed in seeds:
            x, y, _ = rows(n, seed)
            found = calibrant.validate(model, x, y, method=method, n_resamples=METHODS[method], level=0.95)
            p = model.fit(x, y).predict_proba(others)[:, 1]
            truth = measure_tally(expected_tally(p, chances), np.empty(0))
            held.add(found.measures, truth)
            for name, value in truth.items():
                off[name].append(found[name].value - value)
                before[name].append(found.columns["apparent"][name] - value)
        held.show(f"validate, {method}, {n} rows, {len(effects)} features", list(truth))
        for name, values in off.items():
            moved = f"{np.mean(values):+.4f} ± {np.std(values) / np.sqrt(len(values)):.4f}"
            print(f"  {name:24} corrected {moved}, apparent {np.mean(before[name]):+.4f}", flush=True)


def centres(seeds: range, design: Design) -> None:
    """Average and new centres; the average is over the effects of centres, on the scale of pooling."""
    second = list(zip(NODES, NODE_WEIGHTS, strict=True)) if design.slopes_differ else [(0.0, 1.0)]
    for n_centres, size, icc in [(*rows, icc) for rows in design.centres for icc in (0.05, 0.2)]:
        every = [design.measure(icc, a, b) for a in NODES for b, _ in second]
        weights = [v * w for v in NODE_WEIGHTS for _, w in second]
        mean = {}
        for name in POOLED:
            link, back = LINKS[measure_named(name).link]
            mean[name] = float(back(np.average([link(one[name]) for one in every], weights=weights)))
        average, new = Held(), Held()
        for seed in seeds:
            rows = design.draw(n_centres, size, icc, seed)
            found = validate_centres(
                *rows, thresholds=CUTS[1:], level=0.95, n_resamples=10, rng=np.random.default_rng(seed)
            )
            average.add(found.measures, mean)
            other = design.measure(icc, *np.random.default_rng(10**7 + seed).normal(0.0, 1.0, 2))
            new.add(found.columns["new centre"], other)
        for title, held in (("average centre", average), ("new centre", new)):
            held.show(f"validate_centres, {n_centres} centres of {size}, ICC {icc}, {title}", list(POOLED))


def outlooks(seeds: range, design: Design) -> None:
    """New effects by all that tau may be, by its estimate, and under a prior that holds centres for alike."""
    ways = {"distribution of tau": expect_effect, "estimate of tau": _by_estimate, "prior of tau": _by_prior}
    for n_centres in [number for number, _ in design.centres]:
        for tau in (0.0, 0.2, 0.4, 0.7, 1.0, 2.0):
            held = Held()
            for seed in seeds:
                rng = np.random.default_rng([seed, n_centres])
                errors = np.sqrt(rng.uniform(0.5, 1.5, n_centres))
                values, new = tau * rng.normal(size=n_centres) + errors * rng.normal(size=n_centres), tau * rng.normal()
                found = {name: way(values, errors, 0.95) for name, way in ways.items()}
                held.add({name: Interval(0.0, *ends, 0.95) for name, ends in found.items()}, dict.fromkeys(ways, new))
            held.show(f"new effect, {n_centres} centres, tau {tau} of the error of a centre", list(ways))


def _by_estimate(values: np.ndarray, errors: np.ndarray, level: float) -> np.ndarray:
    """By the estimate of tau, with Student's t (Higgins, Thompson and Spiegelhalter)."""
    mean, error, tau, _ = pool_effects(values, errors)
    return mean + stdtrit(len(values) - 2, 0.5 + 0.5 * level * np.array([-1, 1])) * np.hypot(tau, error)


def _by_prior(values: np.ndarray, errors: np.ndarray, level: float) -> np.ndarray:
    """By the posterior under a half-normal prior of tau, as wide as half the error of a centre."""
    tau = np.linspace(0.0, 10.0, 400)
    weights = 1.0 / (errors[:, None] ** 2 + tau**2)
    totals = weights.sum(axis=0)
    means = values @ weights / totals
    left = (weights * (values[:, None] - means) ** 2).sum(axis=0)
    log_posterior = 0.5 * (np.log(weights).sum(axis=0) - np.log(totals) - left - (tau / 0.5) ** 2)
    posterior = np.exp(log_posterior - log_posterior.max())
    shares = np.repeat(posterior / posterior.sum() / len(SHARES), len(SHARES))
    effects = (means[:, None] + np.sqrt(tau**2 + 1.0 / totals)[:, None] * ndtri(SHARES)).ravel()
    order = effects.argsort()
    return np.interp(0.5 + 0.5 * level * np.array([-1, 1]), shares[order].cumsum(), effects[order])


def imputations(seeds: range, design: Design) -> None:
    """A model of two features, of which the second is missing where the first says so; imputed by a linear draw."""
    share = -1.0 if design is FIRST else -0.2

    def rows(n: int, seed: int) -> Rows:
        rng = np.random.default_rng(seed)
        x = rng.multivariate_normal([0.0, 0.0], [[1.0, 0.5], [0.5, 1.0]], n)
        y = rng.random(n) < links.expit(design.level + design.slope * _score(x, design))
        return x, y, rng.random(n) < links.expit(share + x[:, 0])

    x, y, _ = rows(500_000, 10**6)
    truth, held = measure_tally(Tally.from_arrays(links.expit(_score(x, design)), y), CUTS), Held()
    for seed in seeds:
        x, y, missing = rows(1000, seed)
        tables = [_impute(x, y, missing, np.random.default_rng([seed, k])) for k in range(COMPLETED)]
        p = [links.expit(_score(table, design)) for table in tables]
        parts = [validation_summary(y, one, thresholds=CUTS, level=0.95, n_resamples=100) for one in p]
        held.add(pool_imputations(parts).measures, truth)
    held.show(f"pool_imputations, 1000 rows, {missing.mean():.0%} of one feature missing", list(truth))


def _score(x: np.ndarray, design: Design) -> np.ndarray:
    return np.asarray(design.mean + x @ [0.8, 0.8])


def _impute(x: np.ndarray, y: np.ndarray, missing: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The second feature drawn from its Bayesian regression on the first, the label and their product."""
    columns = np.column_stack((np.ones(len(x)), x[:, 0], y, y * x[:, 0]))
    seen = columns[~missing]
    inverse = np.linalg.inv(seen.T @ seen)
    middle = inverse @ seen.T @ x[~missing, 1]
    left = x[~missing, 1] - seen @ middle
    variance = left @ left / rng.chisquare(len(left) - columns.shape[1])
    drawn = rng.multivariate_normal(middle, variance * inverse)
    values = columns @ drawn + rng.normal(0.0, np.sqrt(variance), len(x))
    return np.column_stack((x[:, 0], np.where(missing, values, x[:, 1])))


JOBS = {
    "summaries": summaries,
    "outcomes": outcomes,
    "internal": internal,
    "centres": centres,
    "imputations": imputations,
    "outlooks": outlooks,
}

if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[1:] if word.isdigit()]
    runs, first = (*numbers, *(200, 0)[len(numbers) :])
    for job in [job for job in sys.argv[1:] if job in JOBS] or list(JOBS):
        JOBS[job](range(first, first + runs), SECOND if "second" in sys.argv else FIRST)
