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
from calibrant._frames import make_frame
from calibrant._tables import Table, TableResult
from calibrant._typing import ArrayLike, Floats, Ints
from calibrant.errors import InvalidInputError
from calibrant.intervals import Interval
from calibrant.metrics.curve_errors import Gaps
from calibrant.metrics.samples import Groups, Seed, both_classes, number_groups, read_sample
from calibrant.metrics.validation import (
    NOISY,
    REPLICATE_CELLS,
    ValidationSummary,
    interval_text,
    measure_named,
    measure_tally,
    read_thresholds,
    summarise_validation,
)
from calibrant.tally import Tally

METHODS = {
    "bootstrap": "optimism by {} bootstrap replicates of the modelling",
    "632+": ".632+ bootstrap, {} replicates of the modelling",
    "cross_validation": "{} repetitions of cross-validation",
}
GRID = np.linspace(0.02, 0.98, 49)  # shares of rows between which the curve is drawn
UNSEEN = 0.632  # of the rows, in a bootstrap replicate: 1 − 1/e


@dataclass(frozen=True, repr=False)
class InternalValidation(TableResult):
    """What a model's development rows say about its performance on others of their kind: ``result["slope"]``.

    Attributes
    ----------
    apparent : ValidationSummary
        All measures on the rows of the development, which flatter the model.
    optimism, noise : dict of str to float
        By how much they flatter it, and the standard error of that by the finite number of replicates.
    corrected : dict of str to Interval
        Apparent minus optimism; the interval is that of the apparent measure, moved by as much.
    curve : dict of str to ndarray
        The flexible calibration curve: `score`, `apparent` and `corrected`.
    title : str
        How it was done.
    remarks : tuple of str
        What to know about groups of rows, and about replicates that had no slope.

    Examples
    --------
    >>> import calibrant
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = make_classification(150, 10, flip_y=0.3, random_state=0)
    >>> found = calibrant.validate(LogisticRegression(C=1e6), X, y, n_resamples=20)
    >>> found["slope"].value < found.apparent["slope"].value
    True
    """

    apparent: ValidationSummary
    optimism: dict[str, float]
    noise: dict[str, float]
    corrected: dict[str, Interval]
    curve: dict[str, Floats]
    title: str
    remarks: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Interval:
        """A corrected measure with its interval."""
        return self.corrected[_validation.check_choice("name", name, list(self.corrected))]

    def to_frame(self) -> Any:
        """A pandas data frame with a row for each measure."""
        columns = {"apparent": self.apparent.measures, "corrected": self.corrected}
        return make_frame(
            [
                {"measure": name, "optimism": optimism, "noise": self.noise[name]}
                | {column: intervals[name].to_dict() for column, intervals in columns.items()}
                for name, optimism in self.optimism.items()
            ]
        )

    def table(self) -> Table:
        """The texts of the table."""
        facts = {name: measure_named(name) for name in self.optimism}
        rows = []
        for name, fact in facts.items():
            own, optimism = (f"{x:z.{fact.digits}f}" for x in (self.apparent[name].value, self.optimism[name]))
            rows.append([fact.title, own, optimism, interval_text(name, self.corrected[name])])
        caption = f"{self.apparent.table().caption}; {self.title}"
        kinds = [fact.kind for fact in facts.values()]
        return Table(caption, ["Measure", "Apparent", "Optimism", "Corrected"], kinds, rows)

    def __repr__(self) -> str:
        return f"InternalValidation({self.table().caption})"


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
) -> InternalValidation:
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
        "cross_validation" measures predictions for rows left out, all folds together, `n_resamples` times.
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
    InternalValidation

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
    modelling = _Modelling(estimator, X, labels.astype(np.int64), units, read_thresholds(thresholds))
    fitted = modelling.predict(everything, everything)
    modelling = replace(modelling, grid=np.unique(np.quantile(fitted, GRID)))
    apparent = summarise_validation(read_sample(labels, fitted, groups=groups), level, thresholds)
    own = modelling.measure(Tally.from_arrays(fitted, labels))
    seeds = np.random.default_rng(rng).integers(2**32, size=n_resamples)
    found = Parallel(n_jobs=n_jobs)(delayed(modelling.replicate)(method, cv, int(seed)) for seed in seeds)
    kept = np.array([values for values in found if values is not None])
    if len(kept) < 2:
        raise InvalidInputError(
            "`validate` needs replicates with a calibration slope; fewer than two have one. Add rows."
        )
    optimism = kept.mean(axis=0) if method == "bootstrap" else own - kept.mean(axis=0)
    if method == "632+":
        flat = Tally.from_arrays(fitted, labels)
        uninformed = modelling.measure(Tally(flat.scores, flat.totals * flat.base_rate, flat.totals))
        optimism = own - _weigh(own, kept.mean(axis=0), uninformed)
    names = list(apparent.measures)
    lost = f"{len(found) - len(kept)} of {len(found)} replicates had no calibration slope and were left out."
    curve = {"score": modelling.grid, "apparent": own[len(names) :]}
    return InternalValidation(
        apparent=apparent,
        optimism=dict(zip(names, optimism.tolist(), strict=False)),
        noise=dict(zip(names, (kept.std(axis=0) / np.sqrt(len(kept))).tolist(), strict=False)),
        corrected={
            name: _moved(name, interval, by)
            for (name, interval), by in zip(apparent.measures.items(), optimism.tolist(), strict=False)
        },
        curve=curve | {"corrected": np.clip((own - optimism)[len(names) :], 0.0, 1.0)},
        title=METHODS[method].format(len(kept)),
        remarks=apparent.remarks + ((lost,) if len(kept) < len(found) else ()),
    )


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
        values = list(measure_tally(tally, self.cuts).values())
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
