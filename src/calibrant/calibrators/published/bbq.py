"""Bayesian binning into quantiles: a weighted average of equal-frequency histograms with different numbers of bins."""

import math
from bisect import bisect_left

import numpy as np
from scipy.special import gammaln

from calibrant import _validation
from calibrant._numerics import bins
from calibrant._typing import Floats, Ints
from calibrant.calibrators.base import Calibrator
from calibrant.maps.functions import Step
from calibrant.tally import Tally

MOST_MODELS = 2200  # all numbers of bins that the paper's rule allows up to 10 million rows; beyond, evenly spaced ones
PSEUDO_COUNT = 2.0  # rows that the BDeu prior of each bin is worth
PRIOR_RANGE = (0.005, 0.995)  # where the prior mean of a bin may lie


class BBQ(Calibrator):
    """Bayesian Binning into Quantiles, built as its authors built it.

    Equal-frequency histograms with N^⅓/10 to 10·N^⅓ bins are scored by their BDeu marginal likelihood and averaged.
    It is here for comparison: `ABB` averages over all binnings, not only over these few.

    Parameters
    ----------
    elbow : float
        The models, ordered by weight, are cut off where the weight falls by less than `elbow` times the variance of all
        weights from one to the next; 0 keeps all models before the first two of equal weight.

    Attributes
    ----------
    n_bins_ : ndarray
        Number of bins of each model that was kept, the most probable first.
    weights_ : ndarray
        Their weights; they sum to one.

    Notes
    -----
    Published and unpublished details of the authors' program that matter for the numbers: the last bin takes the rows
    that are left over; equal scores share a bin; bins end midway between scores, the outer ones at 0 and 1; the
    prior mean of a bin is its midpoint; the probability of a bin with n1 of n rows positive is (n1 + p0) / (n + 1),
    p0 = (Σ scores of its positives + midpoint) / (n1 + 1).

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant import BBQ
    >>> scores = np.linspace(0.01, 0.99, 99)
    >>> BBQ().fit(scores, scores > 0.5).predict([0.1, 0.9]).round(3).tolist()
    [0.005, 0.976]
    """

    name = "bbq"
    title = "BBQ (average of equal-frequency binnings)"
    description = "average over equal-frequency binnings, as its authors built it"
    reference = "Naeini, Cooper and Hauskrecht 2015 (AAAI)"
    space = "probability"

    def __init__(self, *, elbow: float = 1e-3) -> None:
        self.elbow = elbow

    def fit_map(self, tally: Tally) -> Step:
        elbow = _validation.check_number("elbow", self.elbow, "not_negative")
        rows = tally.total
        fewest = max(1, math.floor(rows ** (1 / 3) / 10))
        most = max(fewest, min(math.ceil(rows / 5), math.ceil(10 * rows ** (1 / 3))))
        # Running sums, so that a model costs its number of bins and not the number of scores.
        columns = (tally.totals, tally.positives, tally.positives * tally.scores)
        sums = np.array([np.cumsum(column) for column in columns])
        tried = np.unique(np.linspace(fewest, most, min(most - fewest + 1, MOST_MODELS)).round().astype(int))
        so_far = sums[0].tolist()
        models = [_histogram(tally.scores, sums, bin_ends(so_far, n_bins)) for n_bins in tried.tolist()]
        score = np.array([model[2] for model in models])
        relative = np.exp(score - score.max())
        kept = _before_elbow(relative, elbow)
        self.n_bins_ = tried[kept]
        self.weights_ = relative[kept] / relative[kept].sum()
        return _average([models[i] for i in kept], self.weights_)


def bin_ends(rows: list[float], n_bins: int) -> Ints:
    """Where each bin ends, for cells with the running number of rows `rows`. O(n_bins log m).

    A bin takes ⌊N / n_bins⌋ rows and whatever shares its last score; the last bin takes the rest. Ties can leave
    fewer bins than asked for.
    """
    ends: list[int] = []
    size, end, before = math.floor(rows[-1] / n_bins), 0, 0.0
    while end < len(rows):
        is_last = len(ends) == n_bins - 1
        end = len(rows) if is_last else min(bisect_left(rows, before + size, end) + 1, len(rows))
        ends.append(end)
        before = rows[end - 1]
    return np.array(ends)


def _histogram(scores: Floats, sums: Floats, ends: Ints) -> tuple[Floats, Floats, float]:
    """Inner edges, probabilities and log marginal likelihood of the histogram whose bins end there."""
    edges = 0.5 * (scores[ends[:-1] - 1] + scores[ends[:-1]])
    middle = 0.5 * (np.concatenate(([0.0], edges)) + np.concatenate((edges, [1.0])))
    n, n1, positive_scores = np.diff(sums[:, ends - 1], axis=1, prepend=0.0)
    a = PSEUDO_COUNT * np.clip(middle, *PRIOR_RANGE)
    b = PSEUDO_COUNT - a
    score = gammaln(PSEUDO_COUNT) - gammaln(n + PSEUDO_COUNT)
    score += gammaln(n1 + a) - gammaln(a) + gammaln(n - n1 + b) - gammaln(b)
    prior = (positive_scores + middle) / (n1 + 1.0)
    return edges, (n1 + prior) / (n + 1.0), float(score.sum())


def _before_elbow(relative: Floats, elbow: float) -> Ints:
    """The models before the curve of sorted weights turns flat; at least one."""
    order = np.argsort(-relative, kind="stable")
    flat = -np.diff(relative[order]) <= elbow * relative.var()
    return order[: max(1, int(flat.argmax()) if flat.any() else len(order) - 1)]


def _average(models: list[tuple[Floats, Floats, float]], weights: Floats) -> Step:
    """Steps at the edges of all models; bins are closed on the right, so a bin's value is that at its upper edge."""
    edges = np.unique(np.concatenate([model[0] for model in models]))
    upper = np.append(edges, 1.0)
    values = np.zeros(len(upper))
    for (own_edges, own_values, _), weight in zip(models, weights, strict=True):
        values += weight * own_values[bins.bin_of(upper, own_edges)]
    return Step(edges, np.clip(values, 0.0, 1.0))
