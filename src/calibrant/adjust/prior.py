"""A map moved to another population by one shift of its log-odds, by a known share of positives or an estimated one."""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import chdtrc, logit

from calibrant import _limits, _validation
from calibrant._numerics import bins, links
from calibrant._numerics.piecewise import halve
from calibrant._typing import ArrayLike, Bools, Floats, RandomState
from calibrant.errors import InvalidInputError
from calibrant.estimates.estimation import Answer
from calibrant.estimates.rows import LabelledRows, as_unlabelled, check_posterior, labelled_rows
from calibrant.maps.functions import Sigmoid
from calibrant.maps.score import CalibrationMap
from calibrant.tally import Tally

N_DRAWS = 400
HALVINGS = 50
CHECK_BINS, ROWS_PER_BIN = 10, 15
SMALLEST = 1e-12
DOUBTFUL = 0.01  # p-value from which on the check says that something else has changed


def adjust_prior(map_: Any, train_rate: float, serve_rate: float) -> CalibrationMap:
    """The map for a population in which positives are more or less frequent.

    When only the share of positives changes, and not what positives and negatives look like, the odds of every
    score change by one factor (Saerens, Latinne and Decaestecker 2002):
    odds(serve_rate) / odds(train_rate).

    Parameters
    ----------
    map_ : CalibrationMap or fitted calibrator
        Fitted where the share of positives was `train_rate`.
    train_rate, serve_rate : float
        Shares of positives, between 0 and 1.

    Returns
    -------
    CalibrationMap
        To be saved, inverted and exported as any other. A posterior goes along: of a Bayesian calibrator, or of a map
        that has one, `predict_interval` and `sample_maps` are those of the adjusted probabilities.

    Examples
    --------
    >>> from calibrant import BayesIso, Identity, simulate
    >>> from calibrant.adjust import adjust_prior
    >>> map_ = adjust_prior(Identity().fit([0.1, 0.9], [0, 1]), train_rate=0.5, serve_rate=0.1)
    >>> map_([0.5]).round(6).tolist()
    [0.1]
    >>> data = simulate.from_truth("D1", 300)
    >>> calibrator = BayesIso().fit(data.scores, data.labels)
    >>> adjusted = adjust_prior(calibrator, train_rate=data.labels.mean(), serve_rate=0.1)
    >>> low, high = adjusted.predict_interval([0.5])
    >>> bool(low[0] < adjusted([0.5])[0] < high[0])
    True
    """
    for name, rate in {"train_rate": train_rate, "serve_rate": serve_rate}.items():
        _validation.check_number(name, rate, "rate")
    return _shifted(_as_map(map_), float(logit(float(serve_rate)) - logit(float(train_rate))), "prior shift")


def adjust_sampling(map_: Any, *, negatives_kept: float = 1.0, positives_kept: float = 1.0) -> CalibrationMap:
    """The map for the whole population, when it was fitted on a sample that kept only a share of a class.

    A common case: all positives and one in a hundred negatives were kept for training, ``negatives_kept=0.01``. What
    is given and returned is as in `adjust_prior`.

    Examples
    --------
    >>> from calibrant import Identity
    >>> from calibrant.adjust import adjust_sampling
    >>> map_ = adjust_sampling(Identity().fit([0.1, 0.9], [0, 1]), negatives_kept=0.01)
    >>> map_([0.5]).round(6).tolist()
    [0.009901]
    """
    for name, share in {"negatives_kept": negatives_kept, "positives_kept": positives_kept}.items():
        _validation.check_number(name, share, "share")
    return _shifted(_as_map(map_), math.log(negatives_kept) - math.log(positives_kept), "sampling correction")


def anchor(
    map_: Any, scores: ArrayLike | Tally, mean: float, *, sample_weight: ArrayLike | None = None
) -> CalibrationMap:
    """The map whose probabilities average to `mean` over the given rows, by one shift of the log-odds.

    The order of the rows and the ratios of their odds stay as they are. In credit this is anchoring to the central
    tendency; where instead positives have become more or less frequent for a known reason, `adjust_prior` needs no
    rows.

    Parameters
    ----------
    map_ : CalibrationMap or fitted calibrator
        As fitted.
    scores : array-like of shape (n,) or Tally
        Scores of the portfolio, as the map takes them.
    mean : float
        The wanted mean of the probabilities, strictly between 0 and 1.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights, such as exposures.

    Returns
    -------
    CalibrationMap
        To be saved, inverted and exported as any other, with a posterior where there was one. The mean is that of its
        probabilities; draws of the posterior scatter around it.

    Examples
    --------
    >>> from calibrant import Identity
    >>> from calibrant.adjust import anchor
    >>> portfolio = [0.01, 0.02, 0.05, 0.2]
    >>> map_ = anchor(Identity().fit([0.1, 0.9], [0, 1]), portfolio, mean=0.035)
    >>> round(float(map_(portfolio).mean()), 9)
    0.035
    """
    mean = _validation.check_number("mean", mean, "rate")
    whole = _as_map(map_)
    rows = as_unlabelled(scores, sample_weight)
    logits = links.logit(whole(rows.scores))

    def excess(shift: float) -> float:
        return float(np.average(links.expit(logits + shift), weights=rows.totals)) - mean

    # The mean of expit(z + shift) lies between those of the lowest and the highest z.
    low, high = logit(mean) - float(logits.max()), logit(mean) - float(logits.min())
    shift = low if low == high else brentq(excess, low - 1e-9, high + 1e-9, xtol=1e-14, rtol=1e-14)
    return _shifted(whole, float(shift), "anchor")


def _as_map(what: Any) -> CalibrationMap:
    """The map, or that of a fitted calibrator with its posterior."""
    map_ = what.frozen_map() if hasattr(what, "frozen_map") else what
    if not isinstance(map_, CalibrationMap):
        raise InvalidInputError(
            f"What is adjusted must be a CalibrationMap or a fitted calibrator of one score; got {type(what).__name__}."
        )
    return map_


def _shifted(map_: CalibrationMap, size: float, method: str) -> CalibrationMap:
    return map_.then(CalibrationMap(Sigmoid(1.0, size, "logit"), "probability", True, method))


@dataclass(frozen=True, eq=False)
class PriorEstimate(Answer):
    """The share of positives among unlabelled rows, if it is all that has changed.

    Attributes
    ----------
    value, low, high : float
        The estimate and the ends of its interval.
    level : float
        Posterior probability inside the interval.
    quantity : str
        "mean", as of an estimate with the old share.
    warning : str
        A sentence where a new share does not explain the new scores, or an empty text.
    draws : ndarray of shape (d,)
        The share in each possible world.
    train_rate : float
        The share of positives where the map was fitted, by the map.
    p_value : float
        How well a new share of positives explains the new scores; NaN where the labelled rows are too few to tell.
    map_ : CalibrationMap
        The map adjusted to the new share.

    Examples
    --------
    >>> from calibrant import BayesIso, simulate
    >>> from calibrant.adjust import estimate_prior
    >>> data = simulate.from_truth("D1", 500)
    >>> calibrator = BayesIso().fit(data.scores, data.labels)
    >>> estimate_prior(calibrator, data.scores).warning
    ''
    """

    train_rate: float
    p_value: float
    map_: CalibrationMap = field(repr=False)

    def __str__(self) -> str:
        return self.describe("share of positives", f"; where the map was fitted, {self.train_rate:.4f}")


def estimate_prior(
    model: Any,
    unlabelled: ArrayLike | Tally,
    *,
    level: float = 0.9,
    n_draws: int = N_DRAWS,
    rng: RandomState = 0,
) -> PriorEstimate:
    """The share of positives among rows without labels, where nothing else has changed.

    If positives look as they did and negatives too, the density of scores in service is that of the fit times
    (π′/π) p + ((1 − π′)/(1 − π)) (1 − p), with p the calibrated probability and π the share of positives in the fit.
    The π′ of the highest likelihood is what the EM algorithm of Saerens, Latinne and Decaestecker (2002) converges to;
    the likelihood is concave in it, so here it is found by halving. The interval is over maps drawn from the
    posterior and over rows drawn again, labelled and unlabelled ones (the Bayesian bootstrap).

    Parameters
    ----------
    model : fitted Bayesian calibrator, or a saved one with its posterior
        Fitted where the share of positives is known.
    unlabelled : array-like of shape (n,) or Tally
        Scores from service, or their tally.
    level : float
        Posterior probability inside the interval.
    n_draws : int
        How many maps are drawn.
    rng : int, Generator, RandomState or None
        The seed of the draws.

    Returns
    -------
    PriorEstimate

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant import Blend, simulate
    >>> from calibrant.adjust import estimate_prior
    >>> data = simulate.bayes_iso(4000, rng=0)
    >>> blend = Blend().fit(data.scores[:1000], data.labels[:1000])
    >>> scores, labels = data.scores[1000:], data.labels[1000:]
    >>> kept = (labels == 1) | (np.arange(3000) % 4 == 0)  # three of four negatives are gone
    >>> answer = estimate_prior(blend, scores[kept])
    >>> bool(answer.low < labels[kept].mean() < answer.high), answer.warning
    (True, '')
    """
    check_posterior(model)
    level, count = _validation.check_level(level), _validation.check_count("n_draws", n_draws)
    rows, generator = _remembered(model), _validation.generator(rng)
    labelled, new = rows.cells, as_unlabelled(unlabelled).coarsen(_limits.ESTIMATE_CELLS)
    fitted = model.predict(np.concatenate((labelled.scores, new.scores)))
    train = float(np.average(fitted[: len(labelled)], weights=labelled.totals))
    value = float(_most_likely(fitted[None, len(labelled) :], new.totals[None, :], np.array([train]))[0])
    draws = _draw(model, labelled, new, count, generator)
    p_value = _check_shift(labelled, new, fitted, train, value)
    map_ = adjust_prior(getattr(model, "map_", model), train, float(np.clip(value, 1e-9, 1.0 - 1e-9)))
    facts = {"warning": _warn(p_value), "train_rate": train, "p_value": p_value, "map_": map_}
    return PriorEstimate.from_draws("mean", value, draws, level, **facts)


def _remembered(model: Any) -> LabelledRows:
    rows = labelled_rows(model)
    if rows is None:
        raise InvalidInputError(
            f"`model` must remember where its labelled rows lie; {type(model).__name__} does not. Use a fitted "
            "Bayesian calibrator, or a saved one with its posterior."
        )
    return rows


def _draw(model: Any, labelled: Tally, new: Tally, count: int, rng: np.random.Generator) -> Floats:
    """Draw maps, and rows again; the share of positives in the fit is what the drawn map says of the drawn rows."""
    maps = np.clip(model.sample_maps(np.concatenate((labelled.scores, new.scores)), count, rng), 0.0, 1.0)
    of_labelled, of_new = np.split(maps, [len(labelled)], axis=1)
    drawn_labelled = rng.standard_gamma(labelled.totals, size=of_labelled.shape)
    train = (of_labelled * drawn_labelled).sum(axis=1) / drawn_labelled.sum(axis=1)
    return _most_likely(of_new, rng.standard_gamma(new.totals, size=of_new.shape), train)


def _most_likely(probabilities: Floats, weights: Floats, train: Floats) -> Floats:
    """The share π′ at which Σ w ln((π′/π) p + ((1 − π′)/(1 − π)) (1 − p)) is highest, for each row of (d, m)."""
    positive = probabilities / train[:, None]
    negative = (1.0 - probabilities) / (1.0 - train[:, None])
    slope = positive - negative

    def rises(share: Floats) -> Bools:
        return (weights * slope / (negative + share[:, None] * slope)).sum(axis=1) > 0.0

    low, high = halve(rises, np.zeros(len(train)), np.ones(len(train)), HALVINGS)
    return 0.5 * (low + high)


def _check_shift(labelled: Tally, new: Tally, fitted: Floats, train: float, value: float) -> float:
    """The p-value of a χ² test whether the labelled scores, reweighted to the new share, look like the new ones.

    Bins have equal numbers of labelled rows. One degree of freedom is lost to the sum, one to the estimated share.
    """
    n_bins = min(CHECK_BINS, int(labelled.total // ROWS_PER_BIN))
    starts = bins.equal_mass_starts(labelled.totals, max(n_bins, 1))
    if len(starts) <= 2:
        return float("nan")
    groups = bins.group_numbers(starts, len(labelled))
    edges = bins.cuts_between(labelled.scores[starts[1:] - 1], labelled.scores[starts[1:]])
    p = fitted[: len(labelled)]
    ratio = value / train * p + (1.0 - value) / (1.0 - train) * (1.0 - p)
    share = labelled.totals / labelled.total
    expected = np.bincount(groups, share * ratio)
    observed = np.bincount(bins.bin_of(new.scores, edges), new.totals / new.total, len(expected))
    # What is left over between the bins, given that the estimated share makes their mean probabilities agree.
    spread = np.diag(np.bincount(groups, share * ratio**2)) - np.outer(expected, expected)
    covariance = spread / labelled.total + (np.diag(observed) - np.outer(observed, observed)) / new.total
    direction = np.bincount(groups, share * (p / train - (1.0 - p) / (1.0 - train)))
    gap = observed - expected
    inverse = np.linalg.pinv(covariance, rcond=1e-9, hermitian=True)
    along = direction @ inverse @ direction
    statistic = gap @ inverse @ gap - (direction @ inverse @ gap) ** 2 / along if along > 0.0 else gap @ inverse @ gap
    return float(chdtrc(len(expected) - 2, max(float(statistic), 0.0)))


def _warn(p_value: float) -> str:
    if not p_value < DOUBTFUL:
        return ""
    figure = f"p = {p_value:.1g}" if p_value > SMALLEST else f"p < {SMALLEST:g}"
    return (
        f"A new share of positives does not explain the new scores ({figure}): positives or negatives look "
        "different now, so neither the share nor the adjusted map can be trusted. Label some rows."
    )
