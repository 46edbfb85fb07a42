"""What acting on probabilities brings: net benefit at every threshold, and the threshold that costs imply."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant import _validation
from calibrant._tables import make_frame
from calibrant._typing import ArrayLike, Floats
from calibrant.errors import InvalidInputError
from calibrant.intervals import PlainResult
from calibrant.metrics.reading import of_sample, of_tally
from calibrant.metrics.samples import ScoreSample, Seed
from calibrant.metrics.scores import acted_on, benefit, check_thresholds
from calibrant.tally import Tally

CUTS = np.arange(1, 100) / 100  # default thresholds
CUTS.setflags(write=False)  # results hold it


@of_tally
def net_benefit(tally: Tally, *, thresholds: ArrayLike) -> Floats:
    """TP / n − FP / n · t / (1 − t) of acting on all rows with a probability of at least t.

    Whoever acts from a probability of t on holds one true positive to be worth (1 − t) / t false ones; net benefit is
    what acting on the model's word gains, in true positives for each row, over acting on nobody.

    Parameters
    ----------
    y_true : array-like of shape (n,) or Tally
        Labels; or a tally in place of all data.
    y_prob : array-like of shape (n,)
        Probabilities of the positive class.
    thresholds : float or array-like of shape (t,)
        Increasing, from 0 to below 1.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights.
    pos_label : label, optional
        The positive class, where the labels are not bool, {0, 1} or {-1, 1}.

    Returns
    -------
    ndarray of shape (t,)

    References
    ----------
    Vickers, Elkin 2006, "Decision curve analysis: a novel method for evaluating prediction models".

    Examples
    --------
    >>> from calibrant.decisions import net_benefit
    >>> net_benefit([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.9], thresholds=[0.2, 0.5]).tolist()
    [0.4375, 0.25]
    """
    cuts = check_thresholds(thresholds, allow_zero=True)
    return benefit(*acted_on(tally, cuts), tally.total, cuts)


@dataclass(frozen=True, eq=False, repr=False)
class DecisionCurve(PlainResult):
    """Net benefit of acting on a model's word, for every threshold. Acting on nobody has the net benefit 0.

    Attributes
    ----------
    thresholds : ndarray of shape (t,)
        Probabilities from which on one acts.
    net_benefit : ndarray of shape (t,)
        Of the model, in true positives for each row.
    low, high : ndarray of shape (t,)
        Ends of its interval at each threshold; equal to `net_benefit` where no interval was computed.
    treat_all : ndarray of shape (t,)
        Net benefit of acting on every row.
    base_rate, total, level : float
        Share of positives, weighted number of rows, and level of the intervals.
    band : {"bootstrap", "none"}
        Where the intervals come from.
    name : str or None
        Of the model, for legends.

    Examples
    --------
    >>> from calibrant.decisions import decision_curve
    >>> curve = decision_curve([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.9], thresholds=[0.2, 0.5])
    >>> curve
    DecisionCurve(base_rate=0.5, total=4.0, level=0.9, band=bootstrap)
    >>> curve.treat_all.round(3).tolist(), curve.advantage.round(4).tolist()
    ([0.375, 0.0], [0.0625, 0.25])
    """

    thresholds: Floats
    net_benefit: Floats
    low: Floats
    high: Floats
    treat_all: Floats
    base_rate: float
    total: float
    level: float
    band: str
    name: str | None = None

    @property
    def interventions_avoided(self) -> Floats:
        """Rows for each row that acting on all would have acted on in vain, and the model does not, net of misses."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return (self.net_benefit - self.treat_all) * (1.0 - self.thresholds) / self.thresholds

    @property
    def advantage(self) -> Floats:
        """Net benefit over the better of acting on all and on nobody."""
        return self.net_benefit - np.maximum(self.treat_all, 0.0)

    def to_frame(self) -> Any:
        """A pandas data frame with a row for each threshold."""
        names = ("thresholds", "net_benefit", "low", "high", "treat_all", "interventions_avoided")
        return make_frame({name: getattr(self, name) for name in names})


@of_sample
def decision_curve(
    sample: ScoreSample,
    *,
    thresholds: ArrayLike | None = None,
    level: float = 0.9,
    n_resamples: int = 1000,
    rng: Seed = 0,
    name: str | None = None,
) -> DecisionCurve:
    """Net benefit over a range of thresholds, with bootstrap intervals.

    Parameters
    ----------
    y_true : array-like of shape (n,) or Tally
        Labels; or a tally in place of all data.
    y_prob : array-like of shape (n,)
        Probabilities of the positive class.
    thresholds : array-like of shape (t,), optional
        Increasing, from 0 to below 1; by default 0.01, 0.02, …, 0.99. Choose the range that decisions are made in.
    level : float
        Confidence level at each threshold.
    n_resamples : int
        Number of replicates; 0 leaves the intervals out.
    groups : array-like of shape (n,), optional
        The group of each row, such as a patient: rows of one group are resampled together.
    rng : int, numpy.random.Generator or None
        The seed or generator.
    name : str, optional
        Of the model.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights, counted as numbers of rows.
    pos_label : label, optional
        The positive class, where the labels are not bool, {0, 1} or {-1, 1}.

    Returns
    -------
    DecisionCurve

    References
    ----------
    Vickers, Elkin 2006, "Decision curve analysis: a novel method for evaluating prediction models".

    Examples
    --------
    >>> from calibrant import simulate
    >>> from calibrant.decisions import decision_curve
    >>> data = simulate.from_truth("D1", 2000)
    >>> curve = decision_curve(data.labels, data.probabilities, thresholds=[0.2, 0.4])
    >>> bool((curve.advantage > 0).all())
    True
    """
    tally = sample.tally
    level = _validation.check_level(level)
    _validation.check_count("n_resamples", n_resamples, 0)
    cuts = CUTS if thresholds is None else check_thresholds(thresholds, allow_zero=True)
    values = low = high = benefit(*acted_on(tally, cuts), tally.total, cuts)
    if n_resamples:
        drawn = sample.widen(_replicate(sample, cuts, n_resamples, rng), values, level)
        ends = np.quantile(drawn, [0.5 - 0.5 * level, 0.5 + 0.5 * level], axis=0)
        low, high = np.minimum(ends[0], values), np.maximum(ends[1], values)
    n_positive = np.array(tally.total_positive)
    return DecisionCurve(
        thresholds=cuts,
        net_benefit=values,
        low=low,
        high=high,
        treat_all=benefit(n_positive, tally.total - n_positive, tally.total, cuts),
        base_rate=tally.base_rate,
        total=tally.total,
        level=level,
        band="bootstrap" if n_resamples else "none",
        name=name,
    )


def _replicate(sample: ScoreSample, cuts: Floats, n_resamples: int, rng: Seed) -> Floats:
    """Net benefits of bootstrap replicates, (n_resamples, t).

    Rows between two thresholds are alike, so the number of thresholds at or below its score stands for a row.
    """
    steps = np.arange(1.0, len(cuts) + 1.0)
    binned = sample.tally.rescored(np.searchsorted(cuts, sample.tally.scores, side="right"))
    rows = sample.rows
    if rows is not None:
        rows = rows._replace(scores=np.searchsorted(cuts, rows.scores, side="right").astype(np.float64))
    replicates = ScoreSample(binned, rows).replicates(n_resamples, rng)
    return np.array([benefit(*acted_on(drawn, steps), drawn.total, cuts) for drawn in replicates])


def cost_threshold(cost_fp: float, cost_fn: float, *, cost_tp: float = 0.0, cost_tn: float = 0.0) -> float:
    """The probability from which acting costs less than not acting.

    Acting on a row of probability p costs p cost_tp + (1 − p) cost_fp on average, not acting p cost_fn + (1 − p)
    cost_tn. The two are equal at the threshold.

    Parameters
    ----------
    cost_fp, cost_fn : float
        Cost of a false positive and of a false negative.
    cost_tp, cost_tn : float
        Cost of a true positive and of a true negative; negative for a benefit.

    Returns
    -------
    float

    Examples
    --------
    >>> from calibrant.decisions import cost_threshold
    >>> cost_threshold(cost_fp=1, cost_fn=9)
    0.1
    >>> cost_threshold(cost_fp=10, cost_fn=100, cost_tp=10)  # the treatment costs 10 in any case
    0.1
    """
    costs = {"cost_fp": cost_fp, "cost_fn": cost_fn, "cost_tp": cost_tp, "cost_tn": cost_tn}
    for name, cost in costs.items():
        if not np.isfinite(cost):
            raise InvalidInputError(f"`{name}` must be a finite number; got {cost!r}.")
    false_alarm, miss = cost_fp - cost_tn, cost_fn - cost_tp
    if not (false_alarm > 0.0 and miss > 0.0):
        raise InvalidInputError(
            "Mistakes must cost more than right decisions: `cost_fp` more than `cost_tn` and `cost_fn` more than "
            f"`cost_tp`; got {costs}."
        )
    return float(false_alarm / (false_alarm + miss))
