"""How much can be accepted at which risk: risk–coverage curves, the area under them, and coverage at a risk."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from calibrant import _validation
from calibrant._tables import make_frame
from calibrant._typing import Floats
from calibrant.intervals import Interval, PlainResult
from calibrant.metrics.bootstrap import bootstrap_interval
from calibrant.metrics.reading import reading
from calibrant.metrics.samples import ClassSample, Column, Labels, Metric, ScoreSample, Seed, read_problem
from calibrant.tally import Tally

__all__ = ["RiskCoverage", "aurc", "coverage_at_risk", "excess_aurc", "read_confidence", "risk_coverage_curve"]


def read_confidence(
    y_true: Labels, scores: Column = None, sample_weight: Column = None, pos_label: Any = None, **how: Any
) -> ScoreSample:
    """Read right and wrong rows of one score; a matrix of several classes as its top class, which is right or wrong.

    Examples
    --------
    >>> from calibrant.metrics.risk_coverage import read_confidence
    >>> tally = read_confidence([0, 1, 1], [[0.8, 0.1, 0.1], [0.2, 0.5, 0.3], [0.2, 0.2, 0.6]]).tally
    >>> tally.scores.tolist(), tally.positives.tolist()
    ([0.5, 0.6, 0.8], [1.0, 0.0, 1.0])
    """
    how = {"space": "decision", "names": ("y_true", "scores")} | how
    sample = read_problem(y_true, scores, sample_weight, pos_label, **how)
    if not isinstance(sample, ClassSample):
        return sample
    right = sample.scores.argmax(axis=1) == sample.labels
    return sample.score_by(np.asarray(sample.scores.max(axis=1), dtype=np.float64), right)


def aurc(y_true: Labels, scores: Column = None, *, sample_weight: Column = None, pos_label: Any = None) -> float:
    """The area under the risk–coverage curve: the mean share of errors among the k surest rows, over all k.

    Rows with one score are accepted in no particular order, each with the share of errors that they have together.

    Parameters
    ----------
    y_true : array-like of shape (n,) or Tally
        Whether each row is right, or a tally in place of all data. With several classes, the classes.
    scores : array-like of shape (n,) or (n, K)
        Scores, the higher the surer. A column for each of several classes stands for the largest of each row, and a
        row is right if its top class is.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights, counted as numbers of rows.
    pos_label : label, optional
        The label of right rows, where labels are not bool, {0, 1} or {-1, 1}.

    Returns
    -------
    float

    References
    ----------
    Geifman, El-Yaniv 2017, "Selective classification for deep neural networks".

    Examples
    --------
    >>> from calibrant.metrics import aurc
    >>> round(aurc([1, 1, 0, 1], [0.9, 0.8, 0.7, 0.6]), 6)  # (0 + 0 + 1/3 + 1/4) / 4
    0.145833
    """
    tally = read_confidence(y_true, scores, sample_weight, pos_label).tally
    return _area(tally.negatives[::-1], tally.totals[::-1])


def excess_aurc(y_true: Labels, scores: Column = None, *, sample_weight: Column = None, pos_label: Any = None) -> float:
    """The area under the risk–coverage curve beyond that of the ideal order, in which all right rows come first.

    Parameters
    ----------
    y_true, scores, sample_weight, pos_label
        As in `aurc`.

    Returns
    -------
    float

    References
    ----------
    Geifman, Uziel, El-Yaniv 2019, "Bias-reduced uncertainty estimation for deep neural classifiers".

    Examples
    --------
    >>> from calibrant.metrics import excess_aurc
    >>> excess_aurc([1, 1, 1, 0], [0.9, 0.8, 0.7, 0.6])
    0.0
    """
    tally = read_confidence(y_true, scores, sample_weight, pos_label).tally
    wrong = tally.total - tally.total_positive
    ideal = _area(np.array([0.0, wrong]), np.array([tally.total_positive, wrong]))
    return max(_area(tally.negatives[::-1], tally.totals[::-1]) - ideal, 0.0)


def coverage_at_risk(
    y_true: Labels, scores: Column = None, *, risk: float, sample_weight: Column = None, pos_label: Any = None
) -> float:
    """The largest share of rows that can be accepted with at most a given share of errors among them.

    It is what these rows show in hindsight. The threshold that belongs to it was searched for and does not keep its
    promise on other rows; `calibrant.decisions.acceptance` finds one that does.

    Parameters
    ----------
    y_true, scores, sample_weight, pos_label
        As in `aurc`.
    risk : float
        The share of errors among accepted rows, such as 0.05.

    Returns
    -------
    float

    Examples
    --------
    >>> from calibrant.metrics import coverage_at_risk
    >>> coverage_at_risk([1, 1, 0, 1], [0.9, 0.8, 0.7, 0.6], risk=0.3)  # one error in four rows
    1.0
    """
    _validation.check_number("risk", risk, "rate")
    coverages, risks = _curve(read_confidence(y_true, scores, sample_weight, pos_label).tally)
    return float(coverages[risks <= risk].max(initial=0.0))


@dataclass(frozen=True, eq=False, repr=False)
class RiskCoverage(PlainResult):
    """The share of errors among accepted rows, over the share of rows that are accepted.

    Attributes
    ----------
    thresholds : ndarray of shape (m,)
        Scores, falling; rows from each of them up are accepted.
    coverages, risks : ndarray of shape (m,)
        The share of rows that is accepted, and the share of errors among them.
    aurc, excess_aurc : Interval
        The area under the curve, and its excess over that of the ideal order.
    coverage_at_risk : Interval or None
        The largest coverage with at most the risk that was asked for.
    risk : float or None
        That risk.
    total : float
        The number of rows.

    Examples
    --------
    >>> from calibrant.metrics import risk_coverage_curve
    >>> curve = risk_coverage_curve([1, 1, 0, 1], [0.9, 0.8, 0.7, 0.6])
    >>> curve.coverages.tolist(), curve.risks.round(2).tolist()
    ([0.25, 0.5, 0.75, 1.0], [0.0, 0.0, 0.33, 0.25])
    """

    thresholds: Floats
    coverages: Floats
    risks: Floats
    aurc: Interval
    excess_aurc: Interval
    coverage_at_risk: Interval | None
    risk: float | None
    total: float

    def to_frame(self) -> Any:
        """A pandas data frame with a row for each threshold."""
        return make_frame({name: getattr(self, name) for name in ("thresholds", "coverages", "risks")})


@reading(read_confidence, "sample_weight", "pos_label", "groups")
def risk_coverage_curve(
    sample: ScoreSample, *, risk: float | None = None, level: float = 0.9, n_resamples: int = 1000, rng: Seed = 0
) -> RiskCoverage:
    """The risk–coverage curve of a score, with bootstrap intervals of the area under it.

    Parameters
    ----------
    y_true : array-like of shape (n,) or Tally
        Whether each row is right, or a tally in place of all data. With several classes, the classes.
    y_prob : array-like of shape (n,) or (n, K)
        Scores, the higher the surer. A column for each of several classes stands for the largest of each row, and a
        row is right if its top class is.
    risk : float, optional
        A share of errors; the result then has the coverage at it.
    level : float
        Confidence level of the intervals.
    n_resamples : int
        Number of replicates.
    groups : array-like of shape (n,), optional
        The group of each row, such as a customer: rows of one group are resampled together.
    rng : int, numpy.random.Generator or None
        The seed or generator.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights, counted as numbers of rows.
    pos_label : label, optional
        The label of right rows, where labels are not bool, {0, 1} or {-1, 1}.

    Returns
    -------
    RiskCoverage

    Examples
    --------
    >>> from calibrant import simulate
    >>> from calibrant.metrics import risk_coverage_curve
    >>> data = simulate.from_truth("D1", 2000)
    >>> curve = risk_coverage_curve(data.labels, data.scores, risk=0.2)
    >>> curve.aurc.low < curve.aurc.value < curve.aurc.high
    True
    """
    coverages, risks = _curve(sample.tally)
    how: dict[str, Any] = {"level": level, "n_resamples": n_resamples, "method": "percentile", "rng": rng}

    def interval(metric: Metric) -> Interval:
        return bootstrap_interval(metric, sample, bounds=(0.0, 1.0), **how)

    return RiskCoverage(
        thresholds=sample.tally.scores[::-1],
        coverages=coverages,
        risks=risks,
        aurc=interval(aurc),
        excess_aurc=interval(excess_aurc),
        coverage_at_risk=None if risk is None else interval(lambda tally: coverage_at_risk(tally, risk=risk)),
        risk=risk,
        total=sample.tally.total,
    )


def _curve(tally: Tally) -> tuple[Floats, Floats]:
    rows, errors = np.cumsum(tally.totals[::-1]), np.cumsum(tally.negatives[::-1])
    return rows / rows[-1], errors / rows


def _area(errors: Floats, totals: Floats) -> float:
    """The mean over k of the share of errors among the first k rows, for cells in the order of acceptance.

    Within a cell errors grow evenly, E + e (x − K) / m after x rows, so that shares sum to harmonic numbers.
    """
    errors, totals = errors[totals > 0.0], totals[totals > 0.0]
    rows = np.cumsum(totals)
    before = rows - totals
    start = np.cumsum(errors) - errors - errors / totals * before
    sums = start * (special.digamma(rows + 1.0) - special.digamma(before + 1.0)) + errors
    return float(sums.sum() / rows[-1])
