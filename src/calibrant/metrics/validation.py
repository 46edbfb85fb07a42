"""Validation as clinical papers report it: calibration from the mean to the curve, discrimination and utility."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import special

from calibrant import _limits, _validation
from calibrant._numerics import links
from calibrant._numerics.beta import clopper_pearson
from calibrant._tables import Table, TableResult, align, make_frame
from calibrant._typing import ArrayLike, Floats
from calibrant.errors import InvalidInputError
from calibrant.intervals import Interval, plain
from calibrant.metrics.bootstrap import reflected
from calibrant.metrics.curve_errors import Gaps
from calibrant.metrics.samples import Column, GroupedRows, Labels, ScoreSample, Seed, both_classes, read_sample
from calibrant.metrics.scores import acted_on, benefit, brier_score, brier_skill_score, check_thresholds, roc_auc
from calibrant.tally import Tally, row_count

if TYPE_CHECKING:
    from calibrant._numerics.logistic import Fit

REPLICATE_CELLS = 128  # of the curve in a replicate: its errors do not change in the third digit
METHODS = ("log", "exact")


class Measure(NamedTuple):
    """How a measure is called, which kind of calibration it judges, and the scale of its standard error."""

    title: str
    kind: str
    digits: int = 3
    link: str = "identity"


MEAN, MODERATE = "Mean calibration (calibration-in-the-large)", "Moderate calibration"
MEASURES = {
    "observed_expected": Measure("O/E", MEAN, 2, "log"),
    "intercept": Measure("Intercept (slope held at 1)", MEAN, 2),
    "slope": Measure("Slope", "Weak calibration", 2),
    "ici": Measure("ICI", MODERATE),
    "e50": Measure("E50", MODERATE),
    "e90": Measure("E90", MODERATE),
    "emax": Measure("Emax", MODERATE),
    "auc": Measure("AUC", "Discrimination", 2, "logit"),
    "brier_score": Measure("Brier score", "Overall performance"),
    "scaled_brier": Measure("Scaled Brier score", "Overall performance"),
}
CAPTION = ("observed_expected", "intercept", "slope", "ici", "auc", "brier_score")
NOISY = ("ici", "e50", "e90", "emax")  # noise raises them, and that of replicates once more
LINKS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "identity": (np.asarray, np.asarray),
    "log": (np.log, np.exp),
    "logit": (links.logit, links.expit),
}


def measure_named(name: str) -> Measure:
    """The facts of a measure; net benefit has its threshold in its name."""
    threshold = name.removeprefix("net_benefit_")
    return MEASURES[name] if name in MEASURES else Measure(f"Net benefit at {threshold}", "Clinical utility")


def measure_text(name: str, value: float | Interval | None) -> str:
    """A measure with its interval, if it has one, as papers print it."""
    if isinstance(value, Interval):
        middle, low, high = (measure_text(name, end) for end in (value.value, value.low, value.high))
        return f"{middle} ({low} to {high})"
    return "" if value is None else f"{value:z.{measure_named(name).digits}f}"


def linked_interval(name: str, mean: float, error: float, level: float, degrees: float = np.inf) -> Interval:
    """The interval of a measure from its mean and standard error on the scale of its link."""
    inner = Interval.normal(mean, error, level, 0.0 if name in NOISY else -np.inf, degrees)
    value, low, high = (float(LINKS[measure_named(name).link][1](end)) for end in (mean, inner.low, inner.high))
    return Interval(value, low, high, float(level))


def interval_at(name: str, value: float, error: float, level: float) -> Interval:
    """The interval of a measure from its value and standard error as it is, on the scale of its link."""
    link, back = LINKS[measure_named(name).link]
    value = max(value, 0.0) if name in NOISY else value
    mean, step = float(link(value)), 1e-4
    return linked_interval(name, mean, error * 2.0 * step / float(back(mean + step) - back(mean - step)), level)


@dataclass(frozen=True, repr=False)
class ValidationSummary(TableResult):
    """Calibration, discrimination, overall accuracy and utility, each with its interval: ``summary["slope"]``.

    It prints itself, and `to_markdown`, `to_latex` and `to_html` write it for a paper.

    Attributes
    ----------
    rows, positives, level : float
        Weighted numbers, and the level of all intervals.
    measures : dict of str to Interval
        "observed_expected", "intercept" (calibration-in-the-large: the slope is held at 1), "slope", "ici", "e50",
        "e90", "emax", "auc", "brier_score", "scaled_brier", and "net_benefit_0.1" for a threshold of 0.1.
    remarks : tuple of str
        What to know about groups of rows, where there are some.
    how : str
        What was done beyond measuring: correction for optimism, pooling of centres or of completed tables.
    columns : dict of str to dict
        What that gives for each measure besides: "apparent" and "optimism"; "tau", "I²" and "prediction"; and so on.
    curve : dict of str to ndarray
        The calibration curve corrected for optimism, if that was done: `score`, `apparent`, `corrected`.
    centres : dict of str to ValidationSummary
        The summary of each centre, if there are some.

    Examples
    --------
    >>> from calibrant import simulate
    >>> from calibrant.metrics import validation_summary
    >>> data = simulate.from_truth("D1", 1000)
    >>> summary = validation_summary(data.labels, data.probabilities, thresholds=[0.2])
    >>> list(summary.measures)[-1], summary["slope"].low < 1 < summary["slope"].high
    ('net_benefit_0.2', True)
    """

    rows: float
    positives: float
    level: float
    measures: dict[str, Interval]
    remarks: tuple[str, ...] = ()
    how: str = ""
    columns: dict[str, dict[str, Any]] = field(default_factory=dict)
    curve: dict[str, Floats] = field(default_factory=dict, compare=False)
    centres: dict[str, ValidationSummary] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Interval:
        """A measure with its interval."""
        return self.measures[_validation.check_choice("name", name, list(self.measures))]

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON."""
        return {key: plain(value) for key, value in vars(self).items()}

    def to_frame(self) -> Any:
        """A pandas data frame: a row for each measure with its value and the ends of its interval."""
        rows = []
        for name, interval in self.measures.items():
            beside = {column: plain(values.get(name)) for column, values in self.columns.items()}
            rows.append({"measure": name, "kind": measure_named(name).kind} | interval.to_dict() | beside)
        return make_frame(rows)

    def table(self) -> Table:
        """The texts of the table."""
        facts = {name: measure_named(name) for name in self.measures}
        beside = [{name: measure_text(name, x) for name, x in values.items()} for values in self.columns.values()]
        rows = [
            [fact.title, measure_text(name, self[name]), *(texts.get(name, "") for texts in beside)]
            for name, fact in facts.items()
        ]
        numbers = f"{row_count(self.rows)} rows, {row_count(self.positives)} positive"
        caption = f"{numbers}{self.how}; {100 * self.level:g} % intervals in brackets"
        return Table(caption, ["Measure", "Value", *self.columns], [fact.kind for fact in facts.values()], rows)

    def caption(self) -> str:
        """The few lines that stand in a validation plot."""
        shown = [[measure_named(name).title.partition(" (")[0], measure_text(name, self[name])] for name in CAPTION]
        rows = ["Rows", f"{row_count(self.rows)} ({row_count(self.positives)} positive)"]
        return "\n".join([*align([rows, *shown, ["Intervals", f"{100 * self.level:g} %"]]), *self.remarks])


def validation_summary(
    y_true: ArrayLike | Tally,
    y_prob: ArrayLike | None = None,
    *,
    thresholds: ArrayLike = (),
    level: float = 0.9,
    groups: ArrayLike | None = None,
    n_resamples: int = 500,
    rng: Seed = 0,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> ValidationSummary:
    """External validation in one call: what a clinical paper reports about probabilities on new rows.

    Mean calibration (O/E, calibration-in-the-large), weak calibration (the slope, besides), moderate calibration (how
    far the flexible curve lies from the diagonal: ICI, E50, E90, Emax), discrimination, overall performance and net
    benefit. Strong calibration, right for every pattern of predictors, cannot be seen from probabilities;
    `calibrant.metrics.multicalibration_error` looks at groups of rows.

    Parameters
    ----------
    y_true : array-like of shape (n,) or Tally
        Labels; or a tally in place of all data.
    y_prob : array-like of shape (n,)
        Probabilities of the positive class.
    thresholds : array-like of shape (t,)
        Probabilities from which one would act, increasing, for net benefit; none by default.
    level : float
        Confidence level of all intervals.
    groups : array-like of shape (n,), optional
        The group of each row, such as a patient or a centre: all intervals then allow for rows of one group that depend
        on each other.
    n_resamples : int
        Number of bootstrap replicates, for all measures but O/E, intercept and slope.
    rng : int, numpy.random.Generator or None
        The seed or generator of the replicates.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights, counted as numbers of rows.
    pos_label : label, optional
        The positive class, where the labels are not bool, {0, 1} or {-1, 1}.

    Returns
    -------
    ValidationSummary

    Notes
    -----
    O/E has the interval of its logarithm, intercept and slope have Wald's. All other measures have a normal interval
    with the standard deviation of bootstrap replicates, that of the AUC on the logit scale. Noise raises ICI, E50, E90
    and Emax, as it does every distance, so their lower end is also that of replicates reflected in squares where this
    is lower: for a calibrated model it reaches 0.

    In 200 simulations of each setting, 95 % intervals held the truth in 93 to 99 % for independent rows, and in
    91 to 100 % for rows of 12 or 50 centres with `groups` (``python -m benchmarks.accuracy.clinic summaries``).

    References
    ----------
    Van Calster, Nieboer, Vergouwe, De Cock, Pencina, Steyerberg 2016, "A calibration hierarchy for risk models was
    defined: from utopia to empirical data".

    Examples
    --------
    >>> from calibrant import simulate
    >>> from calibrant.metrics import validation_summary
    >>> data = simulate.from_truth("underconfident", 3000)
    >>> validation_summary(data.labels, data.scores)["slope"].low > 1
    True
    """
    sample = read_sample(y_true, y_prob, sample_weight, pos_label, groups)
    return summarise_validation(sample, level, thresholds, n_resamples, rng)


def summarise_validation(
    sample: ScoreSample, level: float, thresholds: ArrayLike = (), n_resamples: int = 500, rng: Seed = 0
) -> ValidationSummary:
    """The summary of rows that were checked before."""
    exact = _by_formula(sample, _validation.check_level(level))
    cuts = read_thresholds(thresholds)
    values, cells = _resampled(sample.tally, cuts, _limits.LOESS_CELLS), _resampled(sample.cells, cuts)
    drawn = [list(_resampled(replicate, cuts).values()) for replicate in sample.replicates(n_resamples, rng)]
    resampled = {}
    for (name, value), draws in zip(values.items(), np.array(drawn).T, strict=True):
        link = LINKS[measure_named(name).link][0]
        # Joining scores to cells shifts a measure; the shift is taken back.
        shifted = link(draws) + link(value) - link(cells[name])
        error = sample.widen(shifted, float(link(value)), level).std(ddof=1)
        found = linked_interval(name, float(link(value)), float(error), level)
        if name in NOISY:
            plausible = sample.widen(reflected(shifted, value, value, "squared"), value, level)
            lowest = min(found.low, float(np.quantile(plausible, 0.5 - 0.5 * level)))
            found = replace(found, low=max(lowest, 0.0))
        resampled[name] = found
    positives, remarks = sample.tally.total_positive, tuple(sample.remarks)
    return ValidationSummary(sample.n_rows, positives, float(level), exact | resampled, remarks)


def summarise_parts(rows: Mapping[str, tuple[Any, ...]], **how: Any) -> tuple[dict[str, ValidationSummary], list[str]]:
    """The summary of each part of the rows, and the names of those that have none, as for want of a slope."""
    found, lost = {}, []
    for name, own in rows.items():
        try:
            found[name] = summarise_validation(read_sample(*own), **how)
        except InvalidInputError:
            lost.append(name)
    return found, lost


def read_thresholds(thresholds: ArrayLike) -> Floats:
    """The thresholds of net benefit, none or some, in increasing order."""
    return check_thresholds(thresholds, allow_zero=True) if np.size(thresholds) else np.empty(0)


def measure_tally(tally: Tally, cuts: Floats) -> dict[str, float]:
    """All measures of rows without their intervals."""
    exact = {name: interval.value for name, interval in _by_formula(ScoreSample(tally), 0.9).items()}
    return exact | _resampled(tally, cuts)


def _by_formula(sample: ScoreSample, level: float) -> dict[str, Interval]:
    """The measures whose intervals need no replicates."""
    line = slope_of(sample, level)
    return {"observed_expected": _ratio(sample, level, "log"), "intercept": line.intercept, "slope": line.slope}


def _resampled(tally: Tally, cuts: Floats, max_cells: int = REPLICATE_CELLS) -> dict[str, float]:
    """The measures whose intervals come from replicates."""
    gaps = Gaps.of(tally, max_cells=max_cells)
    benefits = benefit(*acted_on(tally, cuts), tally.total, cuts)
    return {
        "ici": gaps.mean(),
        "e50": gaps.quantile(0.5),
        "e90": gaps.quantile(0.9),
        "emax": gaps.quantile(1.0),
        "auc": roc_auc(tally),
        "brier_score": brier_score(tally),
        "scaled_brier": brier_skill_score(tally),
        **{f"net_benefit_{cut:g}": float(value) for cut, value in zip(cuts, benefits, strict=True)},
    }


def observed_expected_ratio(
    y_true: ArrayLike | Tally,
    y_prob: ArrayLike | None = None,
    *,
    level: float = 0.9,
    method: str = "log",
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> Interval:
    """Observed positives divided by expected ones, Σ y / Σ p (O/E), with an interval.

    1 when calibrated in the large; above 1 the model predicts too few positives.

    Parameters
    ----------
    y_true : array-like of shape (n,) or Tally
        Labels; or a tally in place of all data.
    y_prob : array-like of shape (n,)
        Probabilities of the positive class.
    level : float
        Confidence level.
    method : {"log", "exact"}
        "log" is the usual interval, normal for the logarithm of the ratio with the standard error √((1 − O/n) / O)
        (Debray and others 2017). "exact" is that of a binomial proportion (Clopper–Pearson), which also works without
        any positive. Both take the expected number as given.
    groups : array-like of shape (n,), optional
        The group of each row, such as a patient. The standard error of the logarithm is then that of a ratio of sums
        over groups, √(G / (G − 1) Σ_g (O_g − E_g O/E)²) / O, with Student's quantiles; only with "log".
    sample_weight : array-like of shape (n,), optional
        Non-negative weights, counted as numbers of rows.
    pos_label : label, optional
        The positive class, where the labels are not bool, {0, 1} or {-1, 1}.

    Returns
    -------
    Interval

    References
    ----------
    Debray, Damen, Snell, Ensor, Hooft, Reitsma, Riley, Moons 2017, "A guide to systematic review and meta-analysis of
    prediction model performance".

    Examples
    --------
    >>> from calibrant.metrics import observed_expected_ratio
    >>> print(observed_expected_ratio([0] * 80 + [1] * 20, [0.16] * 100))
    1.2500 [0.8996, 1.7369]
    """
    _validation.check_level(level)
    _validation.check_choice("method", method, METHODS)
    return _ratio(read_sample(y_true, y_prob, sample_weight, pos_label, groups), level, method)


def _ratio(sample: ScoreSample, level: float, method: str) -> Interval:
    tally = sample.tally
    expected = float(tally.totals @ tally.scores)
    if not expected > 0.0:
        raise InvalidInputError("`y_prob` must have a positive entry: no positive is expected, and O/E has no value.")
    observed = tally.total_positive
    value = observed / expected
    if method == "exact":
        if sample.rows is not None:
            raise InvalidInputError("`method='exact'` takes rows as independent; with `groups` use `method='log'`.")
        low, high = (tally.total / expected * float(end) for end in clopper_pearson(observed, tally.total, level))
        return Interval(value, low, high, float(level))
    if not observed > 0.0:
        raise InvalidInputError("The interval of O/E needs a positive row; there is none. Use `method='exact'`.")
    if sample.rows is None:
        log = Interval.normal(np.log(value), np.sqrt((1.0 - observed / tally.total) / observed), level)
    else:
        # The error of the number observed, given that expected, from what each group has too many or too few.
        rows, number = sample.rows, sample.rows.groups.number
        surplus = rows.groups.sum(rows.weights * (rows.labels - value * rows.scores))
        error = float(np.sqrt(number / (number - 1) * (surplus @ surplus))) / observed
        log = Interval.normal(np.log(value), error, level, degrees=number - 1)
    return Interval(value, float(np.exp(log.low)), float(np.exp(log.high)), float(level))


@dataclass(frozen=True)
class CalibrationSlope:
    """Slope and intercept of the outcomes over logit(p).

    Attributes
    ----------
    slope : Interval
        1 when calibrated; below 1 the probabilities are too extreme, above 1 too timid.
    intercept : Interval
        Calibration in the large: the intercept with the slope held at 1. 0 when calibrated; below 0 the probabilities
        are too high on the whole.
    p_value : float
        Likelihood-ratio test of slope 1 and intercept 0 together, χ² with two degrees of freedom; NaN for two groups.

    Examples
    --------
    >>> from calibrant import metrics, simulate
    >>> data = simulate.from_truth("underconfident", 3000)  # too timid
    >>> line = metrics.calibration_slope(data.labels, data.scores)
    >>> line.slope.low > 1, line.p_value < 0.001
    (True, True)
    """

    slope: Interval
    intercept: Interval
    p_value: float


def calibration_slope(
    y_true: Labels,
    y_prob: Column = None,
    *,
    level: float = 0.9,
    groups: ArrayLike | None = None,
    sample_weight: Column = None,
    pos_label: Any = None,
) -> CalibrationSlope:
    """Fit logit P(y = 1) = a + b logit(p) and report b, and a with b = 1, with Wald intervals.

    Parameters
    ----------
    y_true : array-like of shape (n,) or Tally
        Labels; or a tally in place of all data.
    y_prob : array-like of shape (n,)
        Probabilities of the positive class.
    level : float
        Confidence level of the intervals.
    groups : array-like of shape (n,), optional
        The group of each row, such as a patient: standard errors then allow for rows of one group that depend on each
        other (the cluster-robust sandwich, with Student's quantiles), and the test is Wald's. It takes some twenty
        groups at least.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights, counted as numbers of rows.
    pos_label : label, optional
        The positive class, where the labels are not bool, {0, 1} or {-1, 1}.

    Returns
    -------
    CalibrationSlope

    References
    ----------
    Cox 1958, "Two further applications of a model for binary regression".

    Examples
    --------
    >>> from calibrant import metrics, simulate
    >>> data = simulate.from_truth("underconfident", 20_000)  # the truth is 1.8 logit(p) + 0.3
    >>> line = metrics.calibration_slope(data.labels, data.scores)
    >>> line.slope.low < 1.8 < line.slope.high
    True
    """
    _validation.check_level(level)
    return slope_of(read_sample(y_true, y_prob, sample_weight, pos_label, groups), level)


def slope_of(sample: ScoreSample, level: float) -> CalibrationSlope:
    """The calibration slope of rows that were checked before."""
    from calibrant._numerics.logistic import fit_logistic

    tally = sample.tally
    z, both = links.logit(tally.scores), calibration_line(tally)
    large = fit_logistic(np.ones((len(z), 1)), tally.positives, tally.totals, offsets=z)
    slope, intercept = float(both.coefficients[1]), float(large.coefficients[0])
    if sample.rows is None:
        error, large_error = np.linalg.inv(both.precision)[1, 1] ** 0.5, large.precision[0, 0] ** -0.5
        gain = log_likelihood(tally, both.coefficients[0] + slope * z) - log_likelihood(tally, z)
        degrees, p_value = np.inf, float(special.chdtrc(2, max(2.0 * gain, 0.0)))
    else:
        logits, one = links.logit(sample.rows.scores), np.ones((len(sample.rows.scores), 1))
        covariance = cluster_covariance(sample.rows, np.column_stack((one, logits)), both)
        large_error = cluster_covariance(sample.rows, one, large, logits)[0, 0] ** 0.5
        off = both.coefficients - np.array([0.0, 1.0])
        degrees, error = sample.rows.groups.number - 1, covariance[1, 1] ** 0.5
        # Sums over two groups cancel, so they say nothing about two coefficients.
        distance = off @ np.linalg.solve(covariance, off) if degrees > 1 else np.nan
        p_value = float(special.fdtrc(2, degrees, 0.5 * distance))
    return CalibrationSlope(
        Interval.normal(slope, float(error), level, degrees=degrees),
        Interval.normal(intercept, float(large_error), level, degrees=degrees),
        p_value,
    )


def calibration_line(tally: Tally) -> Fit:
    """Intercept and slope of the outcomes over logit(p), where there are such."""
    from calibrant._numerics.logistic import fit_logistic

    both_classes(tally, "The calibration slope")
    if len(tally) == 1:
        raise InvalidInputError("The calibration slope needs two different probabilities; all are equal.")
    with_positives, with_negatives = np.flatnonzero(tally.positives > 0.0), np.flatnonzero(tally.negatives > 0.0)
    if with_positives[0] >= with_negatives[-1] or with_negatives[0] >= with_positives[-1]:
        raise InvalidInputError(
            "The calibration slope needs classes that overlap; here one score divides them and the slope is infinite."
        )
    z = links.logit(tally.scores)
    return fit_logistic(np.column_stack((np.ones(len(z)), z)), tally.positives, tally.totals)


def cluster_covariance(rows: GroupedRows, features: Floats, fit: Fit, offsets: Floats | float = 0.0) -> Floats:
    """The covariance of coefficients where rows are in groups: H⁻¹ (Σ_g u_g u_gᵀ) H⁻¹ G / (G − 1).

    u_g is the sum over the rows of a group of features (n, k) times what the fit leaves over.
    """
    left = rows.weights * (rows.labels - links.expit(offsets + features @ fit.coefficients))
    sums = np.column_stack([rows.groups.sum(left * column) for column in features.T])
    bread = np.linalg.inv(fit.precision)
    return bread @ (sums.T @ sums) @ bread * rows.groups.number / (rows.groups.number - 1)


def log_likelihood(tally: Tally, z: Floats) -> float:
    """Ln of the probability of the labels, for logits z of the cells."""
    return float(-(tally.positives @ np.logaddexp(0.0, -z) + tally.negatives @ np.logaddexp(0.0, z)))
