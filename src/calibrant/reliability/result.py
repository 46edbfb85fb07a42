"""The numbers of a reliability diagram: binned points, a curve, a band, and how the scores lie."""

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from scipy import special
from scipy.optimize import isotonic_regression
from sklearn.base import clone

from calibrant._numerics import bins, links
from calibrant._numerics.beta import clopper_pearson
from calibrant._tables import make_frame
from calibrant._typing import Floats
from calibrant._validation import check_choice
from calibrant.calibrators import registry
from calibrant.errors import InvalidInputError
from calibrant.intervals import PlainResult
from calibrant.metrics.binned import bin_number, bin_starts, sums_from
from calibrant.metrics.calibration_band import finite_sample_band
from calibrant.metrics.reading import of_sample
from calibrant.metrics.samples import GroupedRows, ScoreSample
from calibrant.metrics.validation import ValidationSummary, summarise_validation
from calibrant.tally import Tally

STRATEGIES = ("quantile", "uniform")
MAX_AUTO_BINS = 20  # more points than this hide each other in a picture
GRID_POINTS = 129
CURVE_RESAMPLES = 50  # of groups: the band is normal, and only its width is drawn
SCALES = ("linear", "logit")
N_BARS = 32  # a power of two, so that bars of a narrow range join to those of a wider one
ZOOMS = 5

# Half a logit wide, with everything beyond ±16 (1e-7) in the outermost bars.
LOGIT_EDGES = links.expit(np.arange(-16.0, 16.5, 0.5))

Table: TypeAlias = np.ndarray[Any, Any]  # a structured array: named columns of floats
BANDS = ("curve", "finite_sample")


def table(**columns: Floats) -> Table:
    """A read-only structured array of columns of one length."""
    out = np.empty(len(next(iter(columns.values()))), dtype=[(name, np.float64) for name in columns])
    for name, values in columns.items():
        out[name] = values
    out.setflags(write=False)
    return out


def binned_points(tally: Tally, *, n_bins: int | str = "auto", strategy: str = "quantile", level: float = 0.9) -> Table:
    """The `points` table of a tally, whose scores with "quantile" may be any numbers.

    `squares` is the sum of squared weights in each cell, for weights that are not counts.

    Examples
    --------
    >>> from calibrant import Tally
    >>> from calibrant.reliability import binned_points
    >>> points = binned_points(Tally.from_arrays([0.1, 0.2, 0.6, 0.8], [0, 0, 1, 0]), n_bins=2)
    >>> points["mean_score"].round(3).tolist(), points["fraction"].tolist()
    ([0.15, 0.7], [0.0, 0.5])
    """
    check_choice("strategy", strategy, STRATEGIES)
    number = bin_number(n_bins, tally.total, MAX_AUTO_BINS)
    starts = bin_starts(tally, number, strategy)
    left, right = first, last = tally.scores[starts], tally.scores[np.append(starts[1:], len(tally)) - 1]
    if strategy == "uniform":
        edges, place = np.linspace(0.0, 1.0, number + 1), bins.bin_of(first, bins.equal_width_edges(number))
        left, right = edges[place], edges[place + 1]
    mean, fraction, total = sums_from(tally, starts)
    low, high = clopper_pearson(fraction * total, total, level)
    return table(
        left=left,
        right=right,
        mean_score=np.clip(mean, first, last),
        fraction=fraction,
        low=low,
        high=high,
        positives=np.add.reduceat(tally.positives, starts),
        total=total,
    )


def fit_curve(tally: Tally, curve: Any, level: float) -> tuple[Table | None, str | None]:
    """The `curve` table of a tally of probabilities, and the name of what made it; both None without a curve."""
    if curve is None:
        return None, None
    if isinstance(curve, str) and curve == "corp":
        return _corp(tally), "CORP"
    calibrator = _new_calibrator(curve).fit_tally(tally)
    title = getattr(calibrator, "title", type(calibrator).__name__)
    return tabulate_map(calibrator, curve_grid(tally, probabilities=True), level), title


def _new_calibrator(curve: Any) -> Any:
    """The method that makes a curve, by its name or as an object that is copied."""
    known = registry.METHODS["score"]
    if not (curve in known if isinstance(curve, str) else hasattr(curve, "fit_tally")):
        names = ", ".join(sorted(known))
        raise InvalidInputError(f"`curve` must be None, 'corp', a calibrator or one of {names}; got {curve!r}.")
    return registry.create(curve) if isinstance(curve, str) else clone(curve)


def _group_band(sample: ScoreSample, curve: Any, found: Table, level: float) -> Table:
    """The curve with a band for rows in groups: by curves of groups drawn again, and never within the one it has."""
    middle = links.logit(found["probability"])
    drawn = [
        links.logit(_new_calibrator(curve).fit_tally(replicate).map_(found["score"]))
        for replicate in sample.replicates(CURVE_RESAMPLES, 0)
    ]
    half = special.ndtri(0.5 + 0.5 * level) * sample.widen(np.array(drawn), middle, level).std(axis=0, ddof=1)
    low = np.minimum(found["low"], links.expit(middle - half))
    high = np.maximum(found["high"], links.expit(middle + half))
    return table(score=found["score"], probability=found["probability"], low=low, high=high)


def _group_curves(rows: GroupedRows, curve: Any) -> tuple[Table, ...]:
    """The curve of each group between its own scores; a group with one score has none."""
    groups = [rows.groups.codes == code for code in range(rows.groups.number)]
    tallies = [Tally.from_arrays(rows.scores[own], rows.labels[own], rows.weights[own]) for own in groups]
    return tuple(
        found for tally in tallies if len(tally) > 1 and (found := fit_curve(tally, curve, 0.9)[0]) is not None
    )


def tabulate_map(calibrator: Any, grid: Floats, level: float) -> Table:
    """Tabulate a map, or that of a fitted calibrator, with its credible band if it has a posterior."""
    columns = {"score": grid, "probability": getattr(calibrator, "map_", calibrator)(grid)}
    # Intervals of other methods, such as Venn-Abers, have no level.
    if hasattr(calibrator, "sample_maps") and getattr(calibrator, "has_posterior", True):
        columns["low"], columns["high"] = calibrator.predict_interval(grid, level=level)
    return table(**columns)


def curve_grid(tally: Tally, *, probabilities: bool) -> Floats:
    """Scores at which a smooth curve is worth evaluating: even on the axis, on the logit axis, and by rank."""
    low, high = tally.scores[0], tally.scores[-1]
    parts = [np.linspace(low, high, GRID_POINTS), tally.coarsen(GRID_POINTS).scores]
    if probabilities:
        ends = links.logit(np.array([low, high]))
        parts.append(links.expit(np.linspace(ends[0], ends[1], GRID_POINTS)))
    return np.unique(np.clip(np.concatenate(parts), low, high))


def _corp(tally: Tally) -> Table:
    """Both ends of each pooled block; blocks meet midway between their scores."""
    pooled = isotonic_regression(tally.positives / tally.totals, weights=tally.totals)
    starts = pooled.blocks[:-1]
    first, before = tally.scores[starts[1:]], tally.scores[starts[1:] - 1]
    ends = np.concatenate((tally.scores[:1], before + 0.5 * (first - before), tally.scores[-1:]))
    # Pooled means of equal numbers can leave [0, 1] by an ulp.
    return table(score=np.repeat(ends, 2)[1:-1], probability=np.repeat(np.clip(pooled.x[starts], 0.0, 1.0), 2))


def finite_sample_table(tally: Tally, level: float = 0.9) -> Table:
    """The corners of the band's steps, in columns `score`, `low` and `high`.

    Between two scores the lower bound is that of the left one and the upper bound that of the right one.

    Examples
    --------
    >>> from calibrant import Tally
    >>> from calibrant.reliability.result import finite_sample_table
    >>> tally = Tally.from_dict({"scores": [0.2, 0.6], "positives": [1, 9], "totals": [10, 10]})
    >>> finite_sample_table(tally)["score"].tolist()
    [0.2, 0.2, 0.6, 0.6]
    """
    band = finite_sample_band(tally, level=level)
    # At each score its own bounds, and before and behind it those of the gap.
    score = np.repeat(band.scores, 3)[1:-1]
    low, high = np.repeat(band.low, 3)[:-2], np.repeat(band.high, 3)[2:]
    turns = np.ones(len(score), dtype=bool)
    # Points on a straight piece, with the same bounds as both neighbours, draw nothing.
    same = (np.diff(low) == 0.0) & (np.diff(high) == 0.0)
    turns[1:-1] = ~(same[:-1] & same[1:])
    return table(score=score[turns], low=low[turns], high=high[turns])


def histogram(tally: Tally, scale: str, space: str = "probability") -> Table:
    """The `histogram` table of a tally: over a part of [0, 1] for probabilities, else over all scores."""
    if scale == "logit" and space == "probability":
        return count_between(tally, LOGIT_EDGES, 0.0, 1.0)
    low, high = float(tally.scores[0]), float(tally.scores[-1])
    if space == "probability":
        low, high = visible_range(low, high)
    elif low == high:
        low, high = low - 0.5, high + 0.5
    return count_between(tally, np.linspace(low, high, N_BARS + 1)[1:-1], low, high)


def count_between(tally: Tally, inner_edges: Floats, lowest: float, highest: float) -> Table:
    """The weighted rows between each pair of edges; the outermost edges are `lowest` and `highest`."""
    where = bins.bin_of(tally.scores, inner_edges)
    size = len(inner_edges) + 1
    return table(
        left=np.concatenate(([lowest], inner_edges)),
        right=np.concatenate((inner_edges, [highest])),
        positives=np.bincount(where, tally.positives, size).astype(np.float64),
        total=np.bincount(where, tally.totals, size).astype(np.float64),
    )


def visible_range(low: float, high: float) -> tuple[float, float]:
    """The smallest of [0, 1], its lowest or highest quarter, eighth, … thirty-second that holds `low` and `high`.

    Examples
    --------
    >>> from calibrant.reliability import visible_range
    >>> visible_range(0.001, 0.07), visible_range(0.8, 0.9), visible_range(0.4, 0.6)
    ((0.0, 0.125), (0.75, 1.0), (0.0, 1.0))
    """
    for zoom in range(ZOOMS, 1, -1):
        width = 0.5**zoom
        if high <= width:
            return 0.0, width
        if low >= 1.0 - width:
            return 1.0 - width, 1.0
    return 0.0, 1.0


@dataclass(frozen=True, eq=False, repr=False)
class Reliability(PlainResult):
    """The numbers of a reliability diagram: how often the positive class occurs where a model says that it does.

    Made by `calibrant.reliability.reliability`. The tables are structured numpy arrays: ``result.points["fraction"]``
    is a column, and ``pandas.DataFrame(result.points)`` works, as does the same of any other table library.

    Attributes
    ----------
    points : structured ndarray
        One row for each bin that has rows: `left`, `right` (its ends, or its lowest and highest score for bins of equal
        mass), `mean_score`, `fraction` (of positives), `low`, `high` (exact Clopper–Pearson interval), `positives`,
        `total` (weighted).
    curve : structured ndarray or None
        `score` and `probability` along the curve, and with a Bayesian one its credible band `low`, `high`.
    histogram : structured ndarray
        `left`, `right`, `positives`, `total` of 32 bars of equal width, over [0, 1] or the part of it where the scores
        are (see `visible_range`); on the logit scale, of bars half a unit wide.
    total, base_rate : float
        Weighted number of rows, and share of positives.
    level : float
        Of the intervals and the band.
    strategy, scale : str
        As given.
    curve_name : str or None
        What made the curve: "CORP" or the name of the method.
    name : str or None
        Of the model, for legends.
    band : structured ndarray or None
        `score`, `low` and `high` along the steps of the finite-sample band, if that was asked for.
    validation : ValidationSummary or None
        The numbers that stand beside the diagram in clinical papers, if they were asked for.
    groups : tuple of structured ndarray
        The curve of each group, if they were asked for.

    Examples
    --------
    >>> from calibrant import simulate
    >>> from calibrant.reliability import reliability
    >>> data = simulate.bayes_iso(1000, rng=0)
    >>> result = reliability(data.labels, data.scores, n_bins=5)
    >>> result.points["total"].tolist()
    [200.0, 200.0, 200.0, 200.0, 200.0]
    >>> bool((result.points["low"] <= result.points["fraction"]).all())
    True
    """

    points: Table
    curve: Table | None
    histogram: Table
    total: float
    base_rate: float
    level: float
    strategy: str
    scale: str
    curve_name: str | None
    name: str | None
    band: Table | None = None
    validation: ValidationSummary | None = None
    groups: tuple[Table, ...] = ()

    def to_frame(self) -> Any:
        """The bins as a pandas data frame: a row for each, with the columns of `points`."""
        return make_frame({name: self.points[name] for name in self.points.dtype.names or ()})


@of_sample
def reliability(
    sample: ScoreSample,
    *,
    n_bins: int | str = "auto",
    strategy: str = "quantile",
    curve: Any = "corp",
    level: float = 0.9,
    scale: str = "linear",
    name: str | None = None,
    band: str = "curve",
    validation: bool = False,
    each_group: bool = False,
) -> Reliability:
    """Compute everything that a reliability diagram shows.

    Parameters
    ----------
    y_true : array-like of shape (n,), or Tally
        Labels; or a tally of probabilities and labels, in place of both arrays.
    y_prob : array-like of shape (n,), (n, 1) or (n, 2)
        Predicted probabilities of the positive class.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights, counted as numbers of rows: a weight of 2 is the row twice.
    pos_label : label, optional
        The positive class, where the labels are not bool, {0, 1} or {-1, 1}.
    n_bins : int or "auto"
        "auto" is the cube root of the number of rows, rounded up, at most 20.
    strategy : {"quantile", "uniform"}
        Bins of nearly equal mass that never part tied scores, or of equal width on [0, 1]. Empty bins are left out.
    curve : "corp", method name, calibrator or None
        "corp" is isotonic regression (Dimitriadis, Gneiting and Jordan 2021), a step line that needs no choice of
        bins. A Bayesian method, such as "abb", "bayes_iso" or "spline", gives a curve with a credible band. A
        calibrator object is copied, then fitted to these data.
    level : float
        Of intervals and bands.
    scale : {"linear", "logit"}
        Of the histogram. "logit" spreads out probabilities near 0 and 1.
    name : str, optional
        Of the model.
    band : {"curve", "finite_sample"}
        "curve" is the credible band of a Bayesian curve, if there is one. "finite_sample" holds the whole true curve
        with probability `level`, whatever the number of rows, if only that curve never decreases (Dimitriadis and
        others 2023); see `calibrant.metrics.finite_sample_band`. It needs independent rows.
    validation : bool
        Whether to compute O/E, intercept, slope, AUC and Brier score as well, with intervals at `level`.
    groups : array-like of shape (n,), optional
        The group of each row, such as a patient or a centre: the band of a Bayesian curve and the intervals of the
        validation then allow for rows of one group that depend on each other. Those of the points do not.
    each_group : bool
        Whether to compute the curve of each group, too.

    Returns
    -------
    Reliability

    Notes
    -----
    The Clopper–Pearson interval takes the rows of a bin as draws of one probability. Where the probabilities differ
    inside the bin the fraction varies less than that, so the interval still covers their mean.

    Examples
    --------
    >>> from calibrant.reliability import reliability
    >>> result = reliability([0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.2, 0.6, 0.7, 0.9], n_bins=2)
    >>> result
    Reliability(total=6.0, base_rate=0.5, level=0.9, strategy=quantile, scale=linear, curve_name=CORP)
    >>> result.points["fraction"].round(3).tolist(), result.points["total"].tolist()
    ([0.333, 0.667], [3.0, 3.0])
    >>> result.curve["probability"].tolist()
    [0.0, 0.0, 0.3333333333333333, 0.3333333333333333, 1.0, 1.0]
    """
    check_choice("scale", scale, SCALES)
    check_choice("band", band, BANDS)
    tally = sample.tally
    points = binned_points(tally, n_bins=n_bins, strategy=strategy, level=level)
    curve_columns, curve_name = fit_curve(tally, curve, level)
    if each_group and sample.rows is None:
        raise InvalidInputError("`each_group` needs the `groups` of the rows, such as their centres; got none.")
    if sample.rows is not None and curve_columns is not None and "low" in (curve_columns.dtype.names or ()):
        curve_columns = _group_band(sample, curve, curve_columns, level)
    return Reliability(
        points=points,
        curve=curve_columns,
        histogram=histogram(tally, scale),
        total=tally.total,
        base_rate=tally.base_rate,
        level=float(level),
        strategy=strategy,
        scale=scale,
        curve_name=curve_name,
        name=name,
        band=finite_sample_table(tally, level) if band == "finite_sample" else None,
        validation=summarise_validation(sample, level) if validation else None,
        groups=_group_curves(sample.rows, curve) if each_group and sample.rows is not None else (),
    )
