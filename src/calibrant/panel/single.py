"""What each score says alone, and what it said about each row without the row."""

import warnings
from typing import Any, NamedTuple

import numpy as np
from scipy.special import betaln, ndtri, softmax

from calibrant._typing import Bools, Floats
from calibrant.calibrators.blend import Blend
from calibrant.calibrators.platt import PlattScaling
from calibrant.maps.functions import Chain, MapFunction
from calibrant.maps.panel_features import CategoryScore, NumericScore
from calibrant.maps.score import CalibrationMap
from calibrant.maps.tabulate import thin
from calibrant.tally import Tally

KNOTS = 63
THINNED = 5e-4  # of probabilities: far below what a score knows, and a tenth of the pieces
STRENGTHS = np.array([1.0, 2.0, 4.0, 8.0, 16.0, 64.0, 256.0, 1e5])[:, None]
SHARES = np.array([0.85 / 7] * 7 + [0.15])  # the last: levels do not differ
LEAST = 1e-4


class Single(NamedTuple):
    """A fitted score, its values or codes, and the probability that it gave each row's own label without the row."""

    score: Any
    column: Any
    left_out: Floats
    loss: float
    missing: float

    @property
    def is_category(self) -> bool:
        """Whether it is categorical."""
        return isinstance(self.score, CategoryScore)

    @property
    def has_gaps(self) -> bool:
        """Whether a numeric score is missing in some rows; for a category, that is a level."""
        return not self.is_category and bool(np.isnan(self.column).any())


def fit_numeric(name: str, values: Floats, space: str, positive: Bools, weights: Floats) -> Single:
    """Blend of one numeric score; rows without the score are a level of their own."""
    there = ~np.isnan(values)
    base = float(weights @ positive / weights.sum())
    absent = float(weights[~there].sum())
    positives = float(weights[~there] @ positive[~there]) + 2.0 * base
    one = np.minimum(weights, 1.0)
    left_out = np.where(positive, positives - one, absent + 2.0 - positives - one) / (absent + 2.0 - one)
    tally = Tally.from_arrays(values[there], positive[there], weights[there])
    alone, left_out[there] = fit_alone(values[there], positive[there], tally, space)
    cells = tally.coarsen(KNOTS)
    share = cells.totals / cells.total
    ranks = np.cumsum(share) - 0.5 * share
    mean = float(tally.scores @ tally.totals / tally.total)
    deviation = float(np.sqrt((tally.scores - mean) ** 2 @ tally.totals / tally.total)) or 1.0
    normals = ndtri(np.clip(ranks, 1e-3, 1.0 - 1e-3))
    score = NumericScore(name, space, alone, positives / (absent + 2.0), cells.scores, ranks, normals, mean, deviation)
    left_out = np.clip(left_out, LEAST, 1.0)
    return Single(score, values, left_out, _loss(left_out, weights), absent / float(weights.sum()))


def fit_alone(
    values: Floats, positive: Bools, tally: Tally, space: str, tolerance: float = THINNED
) -> tuple[MapFunction, Floats]:
    """The map of one score, and what it said about the label of each row without the row."""
    first: CalibrationMap | None = None
    if space == "decision":
        first = PlattScaling(space="decision").fit_tally(tally).map_
        values, tally = first(values), tally.rescored(first(tally.scores))
    blend = Blend()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        function = blend.fit_tally(tally).map_.function
    function, cells = thin(function, tolerance), tally.coarsen(1001)
    said = sum(blend.weights_[name] * np.stack(one.leave_one_out(cells)) for name, one in blend.members_.items())
    place = np.searchsorted(0.5 * (cells.scores[1:] + cells.scores[:-1]), values)
    return Chain((first.function, function)) if first else function, np.where(positive, said[0][place], said[1][place])


def fit_category(name: str, values: list[str | None], positive: Bools, weights: Floats) -> Single:
    """Rates of levels, beta-binomial around the base rate; the strength of the prior is averaged over by evidence."""
    levels = tuple(sorted(set(values), key=lambda level: (level is None, level)))
    codes = CategoryScore(name, levels, np.zeros(len(levels)), 0.0).codes(values)
    k, n = np.bincount(codes, weights * positive, len(levels)), np.bincount(codes, weights, len(levels))
    base = float((k.sum() + 1.0) / (n.sum() + 2.0))
    a = STRENGTHS * base
    evidence = np.log(SHARES) + (betaln(k + a, n - k + STRENGTHS - a) - betaln(a, STRENGTHS - a)).sum(axis=1)
    shares = softmax(evidence)
    one = np.minimum(weights, 1.0)
    own = np.where(positive, k[codes] - one + a, (n - k)[codes] - one + STRENGTHS - a)
    said = own / (n[codes] - one + STRENGTHS)
    left_out = 1.0 / (shares @ (1.0 / np.clip(said, 1e-6, 1.0)))
    score = CategoryScore(name, levels, shares @ ((k + a) / (n + STRENGTHS)), base)
    gone = float(n[-1] / n.sum()) if levels[-1] is None else 0.0
    return Single(score, codes, left_out, _loss(left_out, weights), gone)


def _loss(left_out: Floats, weights: Floats) -> float:
    return float(-np.average(np.log(left_out), weights=weights))
