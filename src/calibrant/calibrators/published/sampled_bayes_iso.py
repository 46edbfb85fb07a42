"""Bayes-Iso as its paper estimates it: draws from the prior within bounds, weighted by their likelihood."""

import warnings
from typing import NamedTuple

import numpy as np
from scipy.optimize import isotonic_regression
from sklearn.exceptions import ConvergenceWarning

from calibrant import _validation
from calibrant._numerics import links
from calibrant._typing import Floats, RandomState
from calibrant.calibrators.bayes_iso import BayesIso
from calibrant.tally import Tally

BOUNDS = ("paper", "code", None)
CHUNK = 2**18  # values drawn at a time, so that memory does not grow with the number of draws


class SampledBayesIso(BayesIso):
    """Bayes-Iso by the paper's Algorithm 1, importance sampling; reliable for small samples only.

    Parameters
    ----------
    max_cells : int, optional
        Scores are merged into at most this many cells of equal mass; by default every distinct score is a cell.
    n_draws : int
        The number of candidate maps.
    bounds : {"code", "paper", None}
        Candidates are drawn within the bounds of the authors' program, within those of the paper's section 4.3, or
        without bounds.
    random_state : int, Generator, RandomState or None
        The seed of the draws.

    Attributes
    ----------
    diagnostics_ : dict
        ``n_cells``; ``n_draws``; the effective number of them ``ess``; and ``dominated``, the paper's flag that one
        candidate outweighs all others together.

    Examples
    --------
    >>> from calibrant.calibrators.published.sampled_bayes_iso import SampledBayesIso
    >>> calibrator = SampledBayesIso(n_draws=2000).fit([1, 2, 3, 4, 5, 6], [0, 0, 1, 0, 1, 1])
    >>> calibrator.predict([1, 3.5, 6]).round(1).tolist()
    [0.1, 0.5, 0.9]
    """

    name = "sampled_bayes_iso"
    title = "Bayes-Iso by importance sampling"
    description = "posterior mean over all non-decreasing maps by weighted draws, for small samples"
    reference = "Allikivi and Kull 2019, Algorithm 1"

    def __init__(
        self,
        *,
        max_cells: int | None = None,
        n_draws: int = 10_000,
        bounds: str | None = "code",
        random_state: RandomState = 0,
    ) -> None:
        super().__init__(max_cells=max_cells)
        self.n_draws = n_draws
        self.bounds = bounds
        self.random_state = random_state

    def _n_cells(self, tally: Tally) -> int:
        return len(tally) if self.max_cells is None else _validation.check_count("max_cells", self.max_cells)

    def _find_posterior(self, cells: Tally) -> "Weighted":
        _validation.check_choice("bounds", self.bounds, BOUNDS)
        n_draws = _validation.check_count("n_draws", self.n_draws)
        rng = _validation.generator(self.random_state)
        found = sample(cells.positives, cells.totals, rng, n_draws, self.bounds)
        weights = np.exp(found.log_weights - found.log_weights.max())
        dominated = n_draws > 1 and bool(weights.sum() < 2.0)  # the largest weight is 1
        self.diagnostics_ = {
            "n_cells": len(cells),
            "n_draws": n_draws,
            "ess": float(weights.sum() ** 2 / (weights**2).sum()),
            "dominated": dominated,
        }
        if dominated:
            warnings.warn(
                "SampledBayesIso: one candidate map outweighs all others together, so importance sampling is not "
                "reliable here. Use BayesIso, or raise `n_draws`.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return found


class Weighted(NamedTuple):
    """The weighted mean of all draws, equally weighted draws resampled from them, and the weights' logarithms."""

    mean: Floats
    resampled: Floats
    log_weights: Floats

    def mean_inverses(self) -> tuple[Floats, Floats]:
        """The means of 1/p and of 1/(1 − p) of each cell."""
        inside = links.clip(self.resampled)
        return (1.0 / inside).mean(axis=0), (1.0 / (1.0 - inside)).mean(axis=0)

    def quantiles(self, share: float) -> Floats:
        """The value of each cell below which this share of the draws lies."""
        return np.quantile(self.resampled, share, axis=0)

    def draw(self, n_draws: int, rng: np.random.Generator) -> Floats:
        """Some of the resampled maps; with repetitions where more are wanted than there are."""
        n = len(self.resampled)
        return self.resampled[rng.choice(n, size=n_draws, replace=n_draws > n)]


def bounds(positives: Floats, totals: Floats, kind: str | None) -> tuple[Floats, Floats]:
    """Lower and upper bounds of the map at each cell (section 4.3), both non-decreasing. O(m log m).

    "paper": a bin of B = N/10 rows that begins at a cell bounds its value from above, one that ends there bounds it
    from below, with a slack of 1/√(rows in the bin). "code", what the authors' program does: B = max(1, N // 20),
    the cell itself left out of its bins, slack 1/√N, and bounds widened to contain the isotonic fit. Cells are never
    split, so a bin has at least B rows unless the ranking ends.
    """
    m = len(totals)
    if kind is None:
        return np.zeros(m), np.ones(m)
    n = float(totals.sum())
    own = 0 if kind == "paper" else 1
    size = max(1.0, n / 10.0 if kind == "paper" else float(n // 20))
    sums = np.concatenate(([0.0], np.cumsum(totals)))
    sums_positive = np.concatenate(([0.0], np.cumsum(positives)))
    begin = np.arange(m) + own
    end = np.minimum(np.searchsorted(sums, sums[begin] + size, side="left"), m)
    upper = _ends(sums_positive[end] - sums_positive[begin], sums[end] - sums[begin], n, kind, +1.0)
    end = np.arange(1, m + 1) - own
    begin = np.maximum(np.searchsorted(sums, sums[end] - size, side="right") - 1, 0)
    lower = _ends(sums_positive[end] - sums_positive[begin], sums[end] - sums[begin], n, kind, -1.0)
    # "lower bounds can only be lowered and upper bounds raised"
    lower, upper = np.minimum.accumulate(lower[::-1])[::-1], np.maximum.accumulate(upper)
    if kind == "code":
        fit = np.clip(isotonic_regression(positives / totals, weights=totals).x, 0.0, 1.0)
        lower, upper = np.minimum(lower, fit), np.maximum(upper, fit)
    return lower, upper


def _ends(positives: Floats, rows: Floats, n: float, kind: str, sign: float) -> Floats:
    """Share of positives ± slack in [0, 1]; an empty bin bounds nothing."""
    some = np.maximum(rows, 1.0)
    slack = 1.0 / np.sqrt(some if kind == "paper" else n)
    ends = np.where(rows > 0.0, positives / some + sign * slack, 0.5 + sign)
    return np.clip(ends, 0.0, 1.0)


def sample(
    positives: Floats, totals: Floats, rng: np.random.Generator, n_draws: int, kind: str | None, n_kept: int = 1000
) -> Weighted:
    """Algorithm 1 with `n_draws` candidate maps. O(n_draws · m)."""
    from calibrant._compiled import monotone_draws

    m = len(totals)
    lower, upper = bounds(positives, totals, kind)
    negatives = totals - positives
    top, mass, mean = -np.inf, 0.0, np.zeros(m)
    kept, log_weights = np.empty((n_kept, m)), np.empty(n_draws)
    per_chunk = max(1, CHUNK // m)
    for begin in range(0, n_draws, per_chunk):
        count = min(per_chunk, n_draws - begin)
        maps, fits = monotone_draws.draw(rng.random((count, 2, m)), lower, upper, positives, negatives)
        log_weights[begin : begin + count] = fits
        # Sums so far are relative to the best likelihood so far.
        before, top = top, max(top, float(fits.max()))
        fade, weights = np.exp(before - top), np.exp(fits - top)
        mean, mass = mean * fade + weights @ maps, mass * fade + float(weights.sum())
        # Each kept map is replaced with the probability that the new ones have among all: a weighted reservoir.
        replaced = np.flatnonzero(rng.random(n_kept) < weights.sum() / mass)
        chosen = np.searchsorted(np.cumsum(weights), rng.random(len(replaced)) * weights.sum(), side="right")
        kept[replaced] = maps[np.minimum(chosen, count - 1)]
    # The order of a mean of non-decreasing maps survives rounding only if it is enforced.
    return Weighted(np.maximum.accumulate(np.clip(mean / mass, 0.0, 1.0)), kept, log_weights)
