"""ENIR: an ensemble of nearly-isotonic regressions, averaged by BIC.

Nearly-isotonic regression minimises ½ Σ w_i (y_i − β_i)² + λ Σ (β_i − β_{i+1})₊. As λ grows, neighbouring blocks of
equal β merge and never part (Tibshirani, Hoefling and Tibshirani 2011, theorem 1), until the fit is isotonic.

Two facts make the path cheap. A boundary keeps its kind s (1 if β falls there, 0 if it rises) until its blocks
merge; and by the optimality conditions a block of mean ȳ and weight W between boundaries of the kinds s_l and s_r has
the value β = ȳ + λ (s_l − s_r) / W. So the order in which boundaries vanish, and when, is all there is to store.
"""

from typing import NamedTuple

import numpy as np

from calibrant._compiled.near_isotonic_path import path
from calibrant._numerics import links
from calibrant._typing import Floats, Ints
from calibrant.calibrators.base import Calibrator
from calibrant.maps.functions import Linear
from calibrant.tally import Tally

# Models whose weight is this far (in BIC) below the best one's add nothing to a double.
_NEGLIGIBLE = 2.0 * 37.0


class ENIR(Calibrator):
    """The average of all nearly-isotonic fits, which may fall a little where the data insist.

    Nearly-isotonic regression penalises falls of the map by a price λ instead of forbidding them. ENIR takes every
    model of the path from λ = 0 (excluded: it repeats the labels) to isotonic regression, and averages them with
    weights exp(−BIC/2), where BIC counts one parameter for each run of equal values.

    Parameters
    ----------
    target_correction : bool
        Replace the labels 0 and 1 by Platt's corrected targets, so that no probability is 0 or 1. The Bayes-Iso
        paper (section 3) finds that it helps in over 90 % of cases.

    Attributes
    ----------
    n_models_ : int
        How many models of the path have a weight that is not negligible.

    Notes
    -----
    The path costs O(m log m) for m distinct scores, and only models that can have weight are computed, so the
    ensemble is exact and needs no pruning rule. Between scores the map is linear, outside of their range constant.

    References
    ----------
    Naeini and Cooper 2016, "Binary classifier calibration using an ensemble of near isotonic regression models";
    Tibshirani, Hoefling and Tibshirani 2011, "Nearly-isotonic regression".

    Examples
    --------
    >>> from calibrant import ENIR
    >>> calibrator = ENIR(target_correction=False).fit([1, 2, 3, 4], [0, 1, 0, 1])
    >>> calibrator.predict([1, 2.5, 4]).round(3).tolist()
    [0.0, 0.5, 1.0]
    """

    name = "enir"
    title = "ENIR (near-isotonic)"
    description = "average over the nearly-isotonic path"
    reference = "Naeini and Cooper 2016"

    def __init__(self, *, target_correction: bool = True) -> None:
        self.target_correction = target_correction

    def fit_map(self, tally: Tally) -> Linear:
        positives = tally.positives
        if self.target_correction:
            positives = links.platt_targets(positives, tally.totals)
        values, self.n_models_ = average_path(positives / tally.totals, tally.totals)
        # Inside a run of equal values no point is needed.
        jump = values[1:] != values[:-1]
        needed = np.concatenate(([True], jump)) | np.concatenate((jump, [True]))
        return Linear(tally.scores[needed], values[needed])


class Model(NamedTuple):
    """One model of the path: where its blocks start, their values, its log-likelihood."""

    starts: Ints
    values: Floats
    log_likelihood: float


class Path:
    """The path for cells with given means and weights, as a function of the number of merges."""

    def __init__(self, means: Floats, weights: Floats) -> None:
        distinct = np.concatenate(([True], means[1:] != means[:-1]))
        self._cells = np.flatnonzero(distinct)  # equal neighbours are one block from the start
        weight = np.add.reduceat(weights, self._cells)
        self._mass = np.concatenate(([0.0], np.cumsum(weight)))
        self._sums = np.concatenate(([0.0], np.cumsum(weight * means[self._cells])))
        self._falls = np.zeros(len(weight) + 1)
        self._falls[1:-1] = means[self._cells][1:] < means[self._cells][:-1]
        order, self.penalties = path(self._falls, self._sums, self._mass)
        never = np.ones(len(weight) - 1, dtype=bool)
        never[order] = False
        self._leaving = np.concatenate((order, np.flatnonzero(never)))

    def breakpoints(self) -> Ints:
        """After how many merges each model of the path with λ > 0 is complete; merges at the same λ are one."""
        ends = np.append(np.diff(self.penalties) > 1e-12 * self.penalties[1:], True) & (self.penalties > 0.0)
        return 1 + np.flatnonzero(ends)

    def n_blocks(self, n_merges: Ints) -> Ints:
        """The degrees of freedom of models."""
        return len(self._mass) - 1 - n_merges

    def model(self, n_merges: int) -> Model:
        """The model after `n_merges`. O(b log b) for b blocks."""
        penalty = self.penalties[n_merges - 1] if n_merges else 0.0
        cuts = np.concatenate(([0], 1 + np.sort(self._leaving[n_merges:]), [len(self._mass) - 1]))
        mass, sums, falls = np.diff(self._mass[cuts]), np.diff(self._sums[cuts]), self._falls[cuts]
        values = np.clip((sums + penalty * (falls[:-1] - falls[1:])) / mass, 0.0, 1.0)
        log_p, minus_log_q = links.log_odds_features(values)
        fit = float((sums * log_p).sum() - ((mass - sums) * minus_log_q).sum())
        return Model(self._cells[cuts[:-1]], values, fit)


def average_path(means: Floats, weights: Floats) -> tuple[Floats, int]:
    """The models of the path with λ > 0, averaged with weights exp(−BIC/2); and how many of them count.

    BIC has as many degrees of freedom as there are blocks. Along the path blocks and likelihood both only shrink
    (each block moves away from its own mean as λ grows), so the ends of a stretch of models bound the BIC of all that
    lie between, and stretches without a chance are never computed.
    """
    found = Path(means, weights)
    merges = found.breakpoints()
    if len(merges) == 0:  # isotonic from the start: the model of λ = 0 is the only one
        merges = np.zeros(1, dtype=np.int64)
    price = found.n_blocks(merges) * np.log(max(float(weights.sum()), 1.0))
    last = len(merges) - 1
    models = {i: found.model(int(merges[i])) for i in (0, last)}
    bic = {i: price[i] - 2.0 * model.log_likelihood for i, model in models.items()}
    best = min(bic.values())
    stretches = [(0, last)]
    while stretches:
        begin, end = stretches.pop()
        if end - begin < 2 or price[end - 1] - 2.0 * models[begin].log_likelihood > best + _NEGLIGIBLE:
            continue
        middle = (begin + end) // 2
        models[middle] = found.model(int(merges[middle]))
        bic[middle] = price[middle] - 2.0 * models[middle].log_likelihood
        best = min(best, bic[middle])
        stretches += [(begin, middle), (middle, end)]
    shares = {i: np.exp(0.5 * (best - value)) for i, value in bic.items() if value <= best + _NEGLIGIBLE}
    total = sum(shares.values())
    jumps = np.zeros(len(means))
    for i, share in shares.items():
        jumps[models[i].starts] += share / total * np.diff(models[i].values, prepend=0.0)
    return np.clip(np.cumsum(jumps), 0.0, 1.0), len(shares)
