"""The numbers of a reliability diagram, from labels and probabilities or from a tally."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from calibrant._frames import make_frame
from calibrant._validation import check_choice
from calibrant.metrics.samples import Column, Labels, read_sample
from calibrant.metrics.validation import ValidationSummary, summarise_validation
from calibrant.reliability.tables import (
    SCALES,
    Table,
    binned_points,
    finite_sample_table,
    fit_curve,
    histogram,
)
from calibrant.tally import row_count

BANDS = ("curve", "finite_sample")


@dataclass(frozen=True, eq=False, repr=False)
class Reliability:
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

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, tables as lists by column, ready for JSON."""
        return {field.name: _plain(getattr(self, field.name)) for field in fields(self)}

    def to_frame(self) -> Any:
        """The bins as a pandas data frame: a row for each, with the columns of `points`."""
        return make_frame({name: self.points[name] for name in self.points.dtype.names or ()})

    def __repr__(self) -> str:
        owner = f"{self.name}: " if self.name else ""
        return (
            f"Reliability({owner}{row_count(self.total)} rows, {100 * self.base_rate:.3g} % positive, "
            f"{len(self.points)} bins, {self.curve_name or 'no'} curve)"
        )


def reliability(
    y_true: Labels,
    y_prob: Column = None,
    *,
    sample_weight: Column = None,
    pos_label: Any = None,
    n_bins: int | str = "auto",
    strategy: str = "quantile",
    curve: Any = "corp",
    level: float = 0.9,
    scale: str = "linear",
    name: str | None = None,
    band: str = "curve",
    validation: bool = False,
    groups: Column = None,
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
    Reliability(6 rows, 50 % positive, 2 bins, CORP curve)
    >>> result.points["fraction"].round(3).tolist(), result.points["total"].tolist()
    ([0.333, 0.667], [3.0, 3.0])
    >>> result.curve["probability"].tolist()
    [0.0, 0.0, 0.3333333333333333, 0.3333333333333333, 1.0, 1.0]
    """
    check_choice("scale", scale, SCALES)
    check_choice("band", band, BANDS)
    sample = read_sample(y_true, y_prob, sample_weight, pos_label, groups)
    tally = sample.tally
    points = binned_points(tally, n_bins=n_bins, strategy=strategy, level=level)
    curve_columns, curve_name = fit_curve(tally, curve, level)
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
    )


def _plain(value: Any) -> Any:
    if isinstance(value, ValidationSummary):
        return value.to_dict()
    if isinstance(value, np.ndarray):
        return {name: value[name].tolist() for name in value.dtype.names or ()}
    return value
