"""Net benefit: true positives, minus false positives at the exchange rate that the threshold implies."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from calibrant import _validation
from calibrant._frames import make_frame
from calibrant._typing import ArrayLike, Floats
from calibrant.errors import InvalidInputError
from calibrant.metrics.samples import ScoreSample, Seed, as_tally, read_sample
from calibrant.metrics.scores import check_thresholds
from calibrant.tally import Tally, row_count

GRID = 99


def net_benefit(
    y_true: ArrayLike | Tally,
    y_prob: ArrayLike | None = None,
    *,
    thresholds: ArrayLike,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> Floats:
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
    standardised : bool
        Divide by the share of positives, which is the net benefit of acting on exactly the right rows.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights.
    pos_label : label, optional
        The positive class, where the labels are not bool, {0, 1} or {-1, 1}.

    Returns
    -------
    ndarray of shape (t,)

    References
    ----------
    Vickers, Elkin 2006, "Decision curve analysis: a novel method for evaluating prediction models". Kerr, Brown, Zhu,
    Janes 2016 for the standardised one.

    Examples
    --------
    >>> from calibrant.decisions import net_benefit
    >>> net_benefit([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.9], thresholds=[0.2, 0.5]).tolist()
    [0.4375, 0.25]
    """
    tally = as_tally(y_true, y_prob, sample_weight, pos_label)
    cuts = check_thresholds(thresholds, allow_zero=True)
    return _benefit(*acted_on(tally, cuts), tally.total, cuts)


def acted_on(tally: Tally, thresholds: Floats) -> tuple[Floats, Floats]:
    """Weighted numbers of positive and of negative rows whose probability is at least each threshold."""
    first = np.searchsorted(tally.scores, thresholds, side="left")
    positives = tally.total_positive - np.append(0.0, np.cumsum(tally.positives))[first]
    negatives = tally.negatives.sum() - np.append(0.0, np.cumsum(tally.negatives))[first]
    return positives, negatives


def _benefit(true_positives: Floats, false_positives: Floats, total: Any, thresholds: Floats) -> Floats:
    """The formula; the last axis is that of the thresholds."""
    out: Floats = (true_positives - false_positives * (thresholds / (1.0 - thresholds))) / total
    return out


@dataclass(frozen=True, eq=False, repr=False)
class DecisionCurve:
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
    band : {"bootstrap", "posterior", "none"}
        Where the intervals come from.
    name : str or None
        Of the model, for legends.

    Examples
    --------
    >>> from calibrant.decisions import decision_curve
    >>> curve = decision_curve([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.9], thresholds=[0.2, 0.5])
    >>> curve
    DecisionCurve(4 rows, 50 % positive, thresholds 0.2 … 0.5, bootstrap intervals at 90 %)
    >>> curve.treat_all.round(3).tolist(), curve.standardised.round(3).tolist()
    ([0.375, 0.0], [0.875, 0.5])
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
    def standardised(self) -> Floats:
        """Net benefit divided by the share of positives, at most 1."""
        return self.net_benefit * self.scale(standardised=True)

    def scale(self, *, standardised: bool) -> float:
        """By what net benefit is multiplied: 1, or 1 / share of positives."""
        if standardised and not self.base_rate > 0.0:
            raise InvalidInputError("Standardised net benefit needs a positive row; there is none.")
        return 1.0 / self.base_rate if standardised else 1.0

    @property
    def interventions_avoided(self) -> Floats:
        """Rows for each row that acting on all would have acted on in vain, and the model does not, net of misses."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return (self.net_benefit - self.treat_all) * (1.0 - self.thresholds) / self.thresholds

    @property
    def advantage(self) -> Floats:
        """Net benefit over the better of acting on all and on nobody."""
        return self.net_benefit - np.maximum(self.treat_all, 0.0)

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in values.items()}

    def to_frame(self) -> Any:
        """A pandas data frame with a row for each threshold."""
        names = ("thresholds", "net_benefit", "low", "high", "treat_all", "interventions_avoided")
        return make_frame({name: getattr(self, name) for name in names})

    def __repr__(self) -> str:
        owner = f"{self.name}: " if self.name else ""
        kind = "no intervals" if self.band == "none" else f"{self.band} intervals at {100 * self.level:g} %"
        return (
            f"DecisionCurve({owner}{row_count(self.total)} rows, {100 * self.base_rate:.3g} % positive, thresholds "
            f"{self.thresholds[0]:g} … {self.thresholds[-1]:g}, {kind})"
        )


def decision_curve(
    y_true: ArrayLike | Tally,
    y_prob: ArrayLike | None = None,
    *,
    thresholds: ArrayLike | None = None,
    level: float = 0.9,
    n_resamples: int = 1000,
    groups: ArrayLike | None = None,
    rng: Seed = 0,
    name: str | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
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
    sample = read_sample(y_true, y_prob, sample_weight, pos_label, groups)
    tally = sample.tally
    level = _validation.check_level(level)
    _validation.check_count("n_resamples", n_resamples, 0)
    grid = np.arange(1, GRID + 1) / (GRID + 1)
    cuts = grid if thresholds is None else check_thresholds(thresholds, allow_zero=True)
    values = low = high = _benefit(*acted_on(tally, cuts), tally.total, cuts)
    if n_resamples:
        expansion = 1.0 if sample.rows is None else sample.rows.groups.expansion(level)
        ends = np.quantile(_replicate(sample, cuts, n_resamples, rng), [0.5 - 0.5 * level, 0.5 + 0.5 * level], axis=0)
        ends = values + expansion * (ends - values)
        low, high = np.minimum(ends[0], values), np.maximum(ends[1], values)
    n_positive = np.array(tally.total_positive)
    return DecisionCurve(
        thresholds=cuts,
        net_benefit=values,
        low=low,
        high=high,
        treat_all=_benefit(n_positive, tally.total - n_positive, tally.total, cuts),
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
    return np.array([_benefit(*acted_on(drawn, steps), drawn.total, cuts) for drawn in replicates])
