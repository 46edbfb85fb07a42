"""Validation as clinical papers report it: calibration from the mean to the curve, discrimination and utility."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from calibrant import _limits, _validation
from calibrant._numerics import links
from calibrant._numerics.logistic import Fit, fit_outcomes
from calibrant._tables import Table, TableResult, align, make_frame
from calibrant._typing import ArrayLike, Floats
from calibrant.errors import InvalidInputError
from calibrant.intervals import Interval, PlainResult, plain
from calibrant.metrics.bootstrap import reflected
from calibrant.metrics.curve_errors import Gaps
from calibrant.metrics.reading import of_sample
from calibrant.metrics.samples import ClassSample, Groups, ScoreSample, Seed, both_classes, read_problem, read_sample
from calibrant.metrics.scores import acted_on, benefit, brier_score, brier_skill_score, check_thresholds, roc_auc
from calibrant.tally import Tally, row_count

REPLICATE_CELLS = 128  # of the curve in a replicate: its errors do not change in the third digit


class Measure(NamedTuple):
    """How a measure is called, which kind of calibration it judges, the scale of its standard error, and its range."""

    title: str
    kind: str
    digits: int = 3
    link: str = "identity"
    lowest: float = -np.inf


MEAN, MODERATE = "Mean calibration (calibration-in-the-large)", "Moderate calibration"
MEASURES = {
    "observed_expected": Measure("O/E", MEAN, 2, "log"),
    "intercept": Measure("Intercept (slope held at 1)", MEAN, 2),
    "slope": Measure("Slope", "Weak calibration", 2),
    "ici": Measure("ICI", MODERATE, lowest=0.0),
    "e50": Measure("E50", MODERATE, lowest=0.0),
    "e90": Measure("E90", MODERATE, lowest=0.0),
    "emax": Measure("Emax", MODERATE, lowest=0.0),
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
    """The facts of a measure; net benefit has its threshold in its name, and one of several outcomes stands behind."""
    base, _, outcome = name.removesuffix("]").partition("[")
    fact = MEASURES.get(base) or Measure(f"Net benefit at {base.removeprefix('net_benefit_')}", "Clinical utility")
    return fact._replace(title=f"{fact.title}: {outcome}") if outcome else fact


def measure_text(name: str, value: float | Interval | None) -> str:
    """A measure with its interval, if it has one, as papers print it."""
    if isinstance(value, Interval):
        middle, low, high = (measure_text(name, end) for end in (value.value, value.low, value.high))
        return f"{middle} ({low} to {high})"
    return "" if value is None else f"{value:z.{measure_named(name).digits}f}"


def linked_interval(name: str, mean: float, error: float, level: float, degrees: float = np.inf) -> Interval:
    """The interval of a measure from its mean and standard error on the scale of its link."""
    inner = Interval.normal(mean, error, level, measure_named(name).lowest, degrees)
    value, low, high = (float(LINKS[measure_named(name).link][1](end)) for end in (mean, inner.low, inner.high))
    return Interval(value, low, high, float(level))


@dataclass(frozen=True, repr=False)
class ValidationSummary(TableResult, PlainResult):
    """Calibration, discrimination, overall accuracy and utility, each with its interval: ``summary["slope"]``.

    It prints itself, and `to_markdown`, `to_latex` and `to_html` write it for a paper.

    Attributes
    ----------
    rows, positives, level : float
        Weighted numbers, and the level of all intervals.
    measures : dict of str to Interval
        "observed_expected", "intercept" (calibration-in-the-large: the slope is held at 1), "slope", "ici", "e50",
        "e90", "emax", "auc", "brier_score", "scaled_brier", and "net_benefit_0.1" for a threshold of 0.1. Of several
        outcomes "slope[b]" is that of the outcome b.
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

    def to_frame(self) -> Any:
        """A pandas data frame: a row for each measure with its value and the ends of its interval."""
        facts = [{"measure": name, "kind": measure_named(name).kind} | plain(x) for name, x in self.measures.items()]
        columns = self.columns.items()
        return make_frame([one | {column: plain(x.get(one["measure"])) for column, x in columns} for one in facts])

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
    reference: Any = None,
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
    y_prob : array-like of shape (n,) or (n, K)
        Probabilities of the positive class, or a column for each of three or more outcomes.
    reference : label, optional
        Of several outcomes the one with which the others are compared; by default the most frequent.
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

    Of several outcomes each is measured against all others, but for intercept and slope: these are of the multinomial
    recalibration ln P(k) / P(reference) = a_k + b_k ln p_k / p_reference of all outcomes at once, the intercepts with
    all slopes held at 1 (Van Hoorde and others 2014).

    In 200 simulations of each setting, 95 % intervals held the truth in 91 to 100 % for independent rows, and in
    90 to 100 % for rows of 12 or 50 centres with `groups` (``python -m benchmarks.accuracy.clinic summaries 200
    90000``); those of multinomial intercepts and slopes in 92 to 97 % (``outcomes 200 5000``).

    References
    ----------
    Van Calster, Nieboer, Vergouwe, De Cock, Pencina, Steyerberg 2016, "A calibration hierarchy for risk models was
    defined: from utopia to empirical data". Van Hoorde, Vergouwe, Timmerman, Van Huffel, Steyerberg, Van Calster 2014,
    "Assessing calibration of multinomial risk prediction models".

    Examples
    --------
    >>> from calibrant import simulate
    >>> from calibrant.metrics import validation_summary
    >>> data = simulate.from_truth("underconfident", 3000)
    >>> validation_summary(data.labels, data.scores)["slope"].low > 1
    True
    >>> import numpy as np
    >>> p = np.random.default_rng(0).dirichlet([2.0, 1.0, 1.0], 600)
    >>> stage = [np.random.default_rng(i).choice(["none", "early", "late"], p=row) for i, row in enumerate(p)]
    >>> found = validation_summary(stage, p[:, [1, 2, 0]], reference="none", n_resamples=20)  # columns: sorted labels
    >>> found["slope[late]"].low < 1 < found["slope[late]"].high
    True
    """
    sample = read_problem(y_true, y_prob, sample_weight, pos_label, groups)
    if not isinstance(sample, ClassSample):
        if reference is not None:
            raise InvalidInputError("`reference` is for several outcomes; of two the one that is not positive is it.")
        return summarise_validation(sample, level, thresholds, n_resamples, rng)
    return _summarise_outcomes(sample, reference, level, (thresholds, n_resamples, rng))


def _summarise_outcomes(
    sample: ClassSample, reference: Any, level: float, how: tuple[ArrayLike, int, Seed]
) -> ValidationSummary:
    """The summary of each outcome against all others, with the intercepts and slopes of the multinomial line."""
    names, p = [str(name) for name in sample.classes], sample.probabilities
    rows = np.bincount(sample.labels, sample.weights, len(names))
    chosen = names[int(rows.argmax())] if reference is None else str(reference)
    base = names.index(_validation.check_choice("reference", chosen, names))
    others = [k for k in range(len(names)) if k != base]
    logs, is_outcome = np.log(links.clip(p)), sample.labels[:, None] == np.array(others)
    odds = Odds(logs[:, others] - logs[:, [base]], is_outcome * sample.weights[:, None], sample.weights)
    (intercepts, slopes), p_value = recalibrate(odds, odds, sample.groups, level)
    every = [summarise_validation(sample.score_by(p[:, k], sample.labels == k), level, *how) for k in range(len(names))]
    lines = {"intercept": dict(zip(others, intercepts, strict=True)), "slope": dict(zip(others, slopes, strict=True))}
    measures: dict[str, Interval] = {}
    for name in every[0].measures:
        column = lines.get(name) or {k: one[name] for k, one in enumerate(every)}
        measures |= {f"{name}[{names[k]}]": interval for k, interval in column.items()}
    test = f"All intercepts 0 and slopes 1: p = {p_value:.2g}."
    told = f" ({', '.join(f'{row_count(rows[k])} {names[k]}' for k in others)}; reference {names[base]})"
    sizes = sample.n_rows, float(sample.n_rows - rows[base])
    return ValidationSummary(*sizes, float(level), measures, (*sample.remarks, test), told)


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
    line, ratio = calibration_slope(sample, level=level), observed_expected_ratio(sample, level=level)
    return {"observed_expected": ratio, "intercept": line.intercept, "slope": line.slope}


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


@of_sample
def observed_expected_ratio(sample: ScoreSample, *, level: float = 0.9) -> Interval:
    """Observed positives divided by expected ones, Σ y / Σ p (O/E), with an interval.

    1 when calibrated in the large; above 1 the model predicts too few positives. The interval is normal for the
    logarithm of the ratio with the standard error √((1 − O/n) / O), and takes the expected number as given.

    Parameters
    ----------
    y_true : array-like of shape (n,) or Tally
        Labels; or a tally in place of all data.
    y_prob : array-like of shape (n,)
        Probabilities of the positive class.
    level : float
        Confidence level.
    groups : array-like of shape (n,), optional
        The group of each row, such as a patient. The standard error of the logarithm is then that of a ratio of sums
        over groups, √(G / (G − 1) Σ_g (O_g − E_g O/E)²) / O, with Student's quantiles.
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
    tally, level = sample.tally, _validation.check_level(level)
    expected = float(tally.totals @ tally.scores)
    if not expected > 0.0:
        raise InvalidInputError("`y_prob` must have a positive entry: no positive is expected, and O/E has no value.")
    observed = tally.total_positive
    value = observed / expected
    if not observed > 0.0:
        raise InvalidInputError("The interval of O/E needs a positive row; there is none. Add rows.")
    error, degrees = float(np.sqrt((1.0 - observed / tally.total) / observed)), np.inf
    if sample.rows is not None:
        # The error of the number observed, given that expected, from what each group has too many or too few.
        rows, number = sample.rows, sample.rows.groups.number
        surplus = rows.groups.sum(rows.weights * (rows.labels - value * rows.scores))
        error, degrees = float(np.sqrt(number / (number - 1) * (surplus @ surplus))) / observed, number - 1
    return linked_interval("observed_expected", float(np.log(value)), error, level, degrees)


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


@of_sample
def calibration_slope(sample: ScoreSample, *, level: float = 0.9) -> CalibrationSlope:
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
    tally, rows = check_line(sample.tally), sample.rows
    cells = Odds.of(tally.scores, tally.positives, tally.totals)
    single = cells if rows is None else Odds.of(rows.scores, rows.weights * rows.labels, rows.weights)
    ((intercept,), (slope,)), p_value = recalibrate(cells, single, sample.groups, level)
    return CalibrationSlope(slope, intercept, p_value)


def check_line(tally: Tally) -> Tally:
    """Refuse rows without a finite calibration slope."""
    both_classes(tally, "The calibration slope")
    if len(tally) == 1:
        raise InvalidInputError("The calibration slope needs two different probabilities; all are equal.")
    with_positives, with_negatives = np.flatnonzero(tally.positives > 0.0), np.flatnonzero(tally.negatives > 0.0)
    if with_positives[0] >= with_negatives[-1] or with_negatives[0] >= with_positives[-1]:
        raise InvalidInputError(
            "The calibration slope needs classes that overlap; here one score divides them and the slope is infinite."
        )
    return tally


class Odds(NamedTuple):
    """Rows or cells with two or more outcomes: logits of each against the reference, (n, q), and what happened.

    `counts` are the (weighted) rows with each outcome but the reference, (n, q), and `totals` those with any, (n,).
    """

    logits: Floats
    counts: Floats
    totals: Floats

    @classmethod
    def of(cls, scores: Floats, positives: Floats, totals: Floats) -> Odds:
        """Two outcomes."""
        return cls(links.logit(scores)[:, None], positives[:, None], totals)

    def line(self, size: int) -> Floats:
        """What an intercept, and with a size of 2 a slope, moves in the logits of each outcome, (q, n, size)."""
        return np.stack((np.ones_like(self.logits), self.logits)[:size], axis=2).swapaxes(0, 1)

    def fit(self, size: int) -> Fit:
        """How far the outcomes are from the logits, by such a line."""
        return fit_outcomes(self.line(size), self.counts, self.totals, self.logits)

    def move(self, features: Floats, coefficients: Floats) -> Floats:
        """The logits, moved by features (q, n, c) times coefficients (q c,)."""
        return self.logits + np.einsum("knc,kc->nk", features, coefficients.reshape(len(features), -1))

    def log_likelihood(self, logits: Floats) -> float:
        """Ln of the probability of what happened, for other logits."""
        return float((self.counts * logits).sum() - self.totals @ links.log_sum(logits))


def recalibrate(cells: Odds, rows: Odds, groups: Groups | None, level: float) -> tuple[list[list[Interval]], float]:
    """Of each outcome but the reference the intercept with slopes of 1, and the slope; p-value of all being right.

    Errors are Wald's; with groups those of the cluster-robust sandwich over the single rows.
    """
    found, degrees = [], np.inf if groups is None else groups.number - 1
    for size in (1, 2):
        fit = cells.fit(size)
        covariance = np.linalg.inv(fit.precision)
        if groups is not None:
            covariance = cluster_covariance(rows, groups, rows.line(size), fit)
        middles, errors = size - 1.0 + fit.coefficients, np.sqrt(np.diag(covariance))
        ends = range(size - 1, len(errors), size)
        found.append([Interval.normal(float(middles[i]), float(errors[i]), level, degrees=degrees) for i in ends])
    free, off = len(fit.coefficients), fit.coefficients
    if groups is None:
        moved = cells.move(cells.line(2), off)
        gain = 2.0 * (cells.log_likelihood(moved) - cells.log_likelihood(cells.logits))
        return found, float(special.chdtrc(free, max(gain, 0.0)))
    return found, cluster_p_value(off, covariance, groups)


def cluster_covariance(rows: Odds, groups: Groups, features: Floats, fit: Fit) -> Floats:
    """The covariance of coefficients where rows are in groups: H⁻¹ (Σ_g u_g u_gᵀ) H⁻¹ G / (G − 1).

    u_g is the sum over the rows of a group of features (q, n, c) times what the fit leaves over.
    """
    logits = rows.move(features, fit.coefficients)
    left = rows.counts - rows.totals[:, None] * np.exp(logits - links.log_sum(logits)[:, None])
    columns = np.einsum("knc,nk->kcn", features, left).reshape(-1, len(left))
    sums = np.column_stack([groups.sum(column) for column in columns])
    bread = np.linalg.inv(fit.precision)
    return bread @ (sums.T @ sums) @ bread * groups.number / (groups.number - 1)


def cluster_p_value(off: Floats, covariance: Any, groups: Groups) -> float:
    """The test that coefficients are 0, by Hotelling's distribution: few groups say little about a covariance.

    NaN where the groups are no more than the coefficients: sums over all groups cancel, so a group is lost.
    """
    spare = groups.number - len(off)
    distance = off @ np.linalg.pinv(covariance) @ off / (groups.number - 1) if spare > 0 else np.nan
    return float(special.fdtrc(len(off), spare, distance * spare / len(off)))
