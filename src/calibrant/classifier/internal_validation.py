"""Internal validation: how much better a model looks on the rows of its development than on others."""
# ruff: noqa: N803 - X is how scikit-learn calls the features

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _num_samples

from calibrant import _validation
from calibrant._typing import ArrayLike, Floats, Ints
from calibrant.errors import InvalidInputError
from calibrant.intervals import Interval
from calibrant.metrics import validation
from calibrant.metrics.curve_errors import Gaps
from calibrant.metrics.samples import Groups, Seed, both_classes, number_groups, read_sample
from calibrant.metrics.validation import NOISY, REPLICATE_CELLS, ValidationSummary
from calibrant.tally import Tally

METHODS = {
    "bootstrap": ", corrected for optimism by {} bootstrap replicates of the modelling",
    "632+": ", corrected by the .632+ bootstrap with {} replicates of the modelling",
    "cross_validation": ", corrected by {} repetitions of cross-validation",
}
GRID = np.linspace(0.02, 0.98, 49)  # shares of rows between which the curve is drawn
UNSEEN = 0.632  # of the rows, in a bootstrap replicate: 1 − 1/e


def validate(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    method: str = "bootstrap",
    thresholds: ArrayLike = (),
    level: float = 0.9,
    n_resamples: int = 200,
    cv: int = 10,
    groups: ArrayLike | None = None,
    n_jobs: int | None = None,
    rng: Seed = 0,
    pos_label: Any = None,
) -> ValidationSummary:
    """Internal validation of a whole modelling: every step inside `estimator` is repeated in every replicate.

    Parameters
    ----------
    estimator : scikit-learn classifier
        With `predict_proba`, unfitted: a logistic regression, a pipeline with its selection of features, a
        `CalibratedClassifier`. Copies are fitted to labels 0 and 1.
    X : array-like of shape (n, d) or data frame
        Features.
    y : array-like of shape (n,)
        Labels of two classes.
    method : {"bootstrap", "632+", "cross_validation"}
        "bootstrap" subtracts the mean optimism: how much better models of drawn rows are on these than on all rows
        (Harrell). "632+" weighs the apparent measure with that of rows not drawn (Efron and Tibshirani).
        "cross_validation" measures predictions for rows left out, all folds together, `n_resamples` times. In a
        simulation of 250 rows and 8 features the first was nearest to the truth: the other two made the slope too low,
        by 0.04 and 0.10, and "632+" made the ICI too large (``python -m benchmarks.accuracy.clinic internal 60``).
    thresholds : array-like of shape (t,)
        Probabilities from which one would act, increasing, for net benefit.
    level : float
        Confidence level of all intervals.
    n_resamples : int
        Number of replicates; of cross-validations some twenty are enough.
    cv : int
        Number of folds.
    groups : array-like of shape (n,), optional
        The group of each row, such as a patient: groups are drawn and left out as a whole. An estimator that splits
        rows itself is not told of them, nor of rows that were drawn twice.
    n_jobs : int, optional
        Number of processes, -1 for all; the result does not depend on it.
    rng : int, numpy.random.Generator or None
        The seed or generator.
    pos_label : label, optional
        The positive class, where the labels are not bool, {0, 1} or {-1, 1}.

    Returns
    -------
    ValidationSummary
        The corrected measures; their intervals are those of the apparent measures, moved by the optimism. In `columns`
        the "apparent" measures, their "optimism", and its "noise", the standard error by the finite number of
        replicates; in `curve` the flexible calibration curve.

    References
    ----------
    Harrell, Lee, Mark 1996, "Multivariable prognostic models". Efron, Tibshirani 1997, "Improvements on
    cross-validation: the .632+ bootstrap method". Noma and others 2021, "Confidence intervals of prediction accuracy
    measures for multivariable prediction models based on the bootstrap-based optimism correction methods".

    Examples
    --------
    >>> import calibrant
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = make_classification(150, 10, flip_y=0.3, random_state=0)
    >>> model = LogisticRegression(C=1e6)  # hardly shrunk, so too sure of itself
    >>> calibrant.validate(model, X, y, method="cross_validation", n_resamples=5)["slope"].value < 0.9
    True
    """
    _validation.check_choice("method", method, list(METHODS))
    _validation.check_count("n_resamples", n_resamples)
    labels, _ = _validation.encode_labels(y, pos_label, "y")
    _validation.check_same_length(_num_samples(X), len(labels), "y")
    units = number_groups(np.arange(len(labels)) if groups is None else groups, len(labels))
    everything = np.arange(len(labels))
    modelling = _Modelling(estimator, X, labels.astype(np.int64), units, validation.read_thresholds(thresholds))
    fitted = modelling.predict(everything, everything)
    modelling = replace(modelling, grid=np.unique(np.quantile(fitted, GRID)))
    apparent = validation.summarise_validation(read_sample(labels, fitted, groups=groups), level, thresholds)
    own = modelling.measure(Tally.from_arrays(fitted, labels))
    seeds = np.random.default_rng(rng).integers(2**32, size=n_resamples)
    found = Parallel(n_jobs=n_jobs)(delayed(modelling.replicate)(method, cv, int(seed)) for seed in seeds)
    kept = np.array([values for values in found if values is not None])
    if len(kept) < 2:
        raise InvalidInputError("Replicates need a calibration slope; fewer than two of them have one. Add rows.")
    optimism = kept.mean(axis=0) if method == "bootstrap" else own - kept.mean(axis=0)
    if method == "632+":
        flat = Tally.from_arrays(fitted, labels)
        uninformed = modelling.measure(Tally(flat.scores, flat.totals * flat.base_rate, flat.totals))
        optimism = own - _weigh(own, kept.mean(axis=0), uninformed)
    names = list(apparent.measures)
    columns = {"apparent": own, "optimism": optimism, "noise": kept.std(axis=0) / np.sqrt(len(kept))}
    by_name = {column: dict(zip(names, values.tolist(), strict=False)) for column, values in columns.items()}
    lost = f"{len(found) - len(kept)} of {len(found)} replicates had no calibration slope and were left out."
    remarks = apparent.remarks + ((lost,) if len(kept) < len(found) else ())
    measures = {name: _moved(name, apparent[name], by_name["optimism"][name]) for name in names}
    curve = {"score": modelling.grid, "apparent": own[len(names) :], "corrected": (own - optimism)[len(names) :]}
    how = METHODS[method].format(len(kept))
    return replace(apparent, measures=measures, remarks=remarks, how=how, columns=by_name, curve=curve)


@dataclass(frozen=True)
class _Modelling:
    """An estimator with the rows of its development, the units in which they are drawn, and what is measured."""

    estimator: Any
    X: Any
    labels: Ints
    units: Groups
    cuts: Floats
    grid: Floats = field(default_factory=lambda: np.empty(0))

    def predict(self, train: Ints, rows: Ints) -> Floats:
        """Probabilities of some rows by a model of others."""
        model = clone(self.estimator).fit(_safe_indexing(self.X, train), self.labels[train])
        out: Floats = model.predict_proba(_safe_indexing(self.X, rows))[:, 1]
        return out

    def measure(self, tally: Tally) -> Floats:
        """All measures, then the curve at the grid."""
        gaps = Gaps.of(tally, max_cells=REPLICATE_CELLS)
        values = list(validation.measure_tally(tally, self.cuts).values())
        return np.concatenate((values, np.interp(self.grid, gaps.scores, gaps.curve)))

    def replicate(self, method: str, cv: int, seed: int) -> Floats | None:
        """The optimism of one replicate, or with other methods its measures of rows not seen; None without a slope."""
        rng, rows = np.random.default_rng(seed), np.arange(len(self.labels))
        try:
            if method == "cross_validation":
                fold, out = self.units.deal(cv, rng), np.empty(len(rows))
                for k in range(cv):
                    out[fold == k] = self.predict(rows[fold != k], rows[fold == k])
                return self.measure(Tally.from_arrays(out, self.labels))
            drawn = np.repeat(rows, self.units.draw(1, rng)[0][self.units.codes])
            both_classes(Tally.from_arrays(np.zeros(len(drawn)), self.labels[drawn]), "A replicate")
            p = self.predict(drawn, rows)
            if method == "632+":
                unseen = np.setdiff1d(rows, drawn)
                return self.measure(Tally.from_arrays(p[unseen], self.labels[unseen]))
            seen = self.measure(Tally.from_arrays(p[drawn], self.labels[drawn]))
            return seen - self.measure(Tally.from_arrays(p, self.labels))
        except InvalidInputError:
            return None


def _moved(name: str, interval: Interval, by: float) -> Interval:
    """The interval of an apparent measure after its optimism was taken away; distances stay positive."""
    lowest = 0.0 if name in NOISY else -np.inf
    value, low, high = (max(end - by, lowest) for end in (interval.value, interval.low, interval.high))
    return Interval(value, low, high, interval.level)


def _weigh(apparent: Floats, unseen: Floats, uninformed: Floats) -> Floats:
    """The .632+ rule: the more a model overfits, the more the rows not drawn count, up to all."""
    span = uninformed - apparent
    unseen = np.where(span > 0.0, np.minimum(unseen, uninformed), np.maximum(unseen, uninformed))
    overfit = np.clip(np.divide(unseen - apparent, span, out=np.zeros(len(span)), where=span != 0.0), 0.0, 1.0)
    weight = UNSEEN / (1.0 - (1.0 - UNSEEN) * overfit)
    return (1.0 - weight) * apparent + weight * unseen
