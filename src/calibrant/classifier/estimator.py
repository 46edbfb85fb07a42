"""Any scikit-learn classifier, calibrated by cross-fitting."""
# ruff: noqa: N803, N806 - X is how scikit-learn calls the features

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from inspect import signature
from typing import Any, Self

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.model_selection import BaseShuffleSplit, LeaveOneOut, check_cv
from sklearn.preprocessing import LabelEncoder
from sklearn.utils import Tags, _safe_indexing, column_or_1d, get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from calibrant import _validation
from calibrant._typing import ArrayLike, Floats, Ints
from calibrant.calibrators.base import Calibrator
from calibrant.calibrators.registry import DEFAULT_METHOD
from calibrant.classifier.models import Models, as_one, is_frozen
from calibrant.classifier.rows import ClassifierRows, find_segments
from calibrant.classifier.splits import CrossFit, Split, calibrate_splits, with_own_map
from calibrant.classifier.views import CalibratedModel, Recipe, choose_recipe
from calibrant.errors import InvalidInputError
from calibrant.estimates.estimation import Estimate
from calibrant.maps.base import ends_like

MATRIX_DRAWS = 400  # behind the intervals of several classes, over all models together
SHOWN_CLASSES = 5


class CalibratedClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """A classifier whose probabilities are calibrated on rows that it was not trained on.

    The data are split `cv` times into a part that trains a copy of the classifier and a part that calibrates it.
    A classifier that is already fitted, wrapped in `sklearn.frozen.FrozenEstimator`, is calibrated on all rows; take
    care that it was trained on others.

    Parameters
    ----------
    estimator : classifier, or dict or list of classifiers
        Anything with ``fit`` and ``predict_proba`` or ``decision_function``. Several are calibrated together, by
        `PanelCalibrator`, to one probability; the names of a dictionary are those of its scores. With more than two
        classes their probabilities are pooled to one matrix, by a sum of logarithms with a learned weight for each.
    method : str or calibrator
        The name of a method, such as ``"isotonic"``, ``"platt"`` or ``"temperature"``, or a calibrator object, which
        is copied and used as it is. A named method that has a `space` gets the one that fits the scores. Several
        classifiers have one method of their own.
    cv : int, splitter, or iterable of (train, test)
        How to split. Folds of an integer are stratified.
    ensemble : {"auto", True, False}
        Whether to keep one calibrated model for each split and average their probabilities. Otherwise one calibrator
        learns from the held-out scores of all splits, and serves a classifier that is trained on all rows.
        ``"auto"`` is True unless the classifier is frozen. See the notes on who shares a map.
    n_jobs : int, optional
        Splits to work on at the same time, by joblib.
    multiclass : {"auto", "one_vs_rest", "top_label"}
        For more than two classes. ``"auto"``: the default method, `Blend`, calibrates the whole
        matrix at once, because classes are confused with one another; any other method is fitted to each class
        against the rest and normalised, unless it takes matrices itself (temperature, `VectorScaling`).
        ``"one_vs_rest"`` asks for that with the default method, too. ``"top_label"``: calibrate the confidence in the
        predicted class and let the others share the rest in proportion to their raw probabilities.
    response_method : {"auto", "predict_proba", "decision_function"}
        Which scores to calibrate. ``"auto"`` takes probabilities where the method (or the top-label view) needs
        them, and otherwise decision scores if the classifier has them, as scikit-learn does.
    segment : str, int, or list of them, optional
        Columns of `X`, by name or number, that say which segment a row is of: a country, a product. Calibration is
        then a `SegmentedCalibrator` with `method` as its pooled curve; the classifier sees these columns, too. Segments
        that are no columns of `X` are passed as ``segment=`` to `fit` and to all predictions instead.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted: the columns of `predict_proba`.
    calibrated_classifiers_ : list
        The calibrated models, each with its fitted ``estimator`` and ``calibrators`` and its own ``predict_proba``.
    n_features_in_ : int
        Number of features, where the classifier tells it.
    feature_names_in_ : ndarray
        Names of features, where the classifier tells them.

    Notes
    -----
    In an ensemble, a method with a posterior, such as the default, learns one map for all models from the held-out
    scores of all splits: a prior that entered the map of every split would stay in their average. The models keep maps
    of their own if these make the labels of left-out rows more than twenty times as likely, which happens where
    models differ, or if some model lacks a class. Other methods, and segments, have maps for each model, as in
    scikit-learn.

    A model whose training failed, such as a booster that diverged on one split, would spoil the average, and its
    scores the map. It is left out, with a warning, if its loss on held-out rows is beyond doubt higher than that of
    the others and if it is worse on rows that it was trained on, too, so that its rows are not to blame.

    A class that is missing from the training part of a split has probability 0 in the model of that split, and a
    warning says so.

    A class that the classifier knows but that no row to calibrate on shows is left to the method, with a warning. It
    gets only rows that are not of that class: they lower its probability wherever such rows are, and say nothing
    about scores that none of them has. There a method with a prior stays near the classifier, and others go to 0.

    Weights reach the calibrators, and the classifier too where it accepts them; with scikit-learn's metadata routing,
    weights, groups and other columns go to whoever requested them. Segments that are passed are routed, too, after
    ``set_fit_request(segment=True)`` and ``set_predict_proba_request(segment=True)``; but scorers hand no columns to
    predictions, so cross-validation needs segments that are columns of `X`.

    Examples
    --------
    >>> from calibrant import CalibratedClassifier
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = make_classification(random_state=0)
    >>> model = CalibratedClassifier(GaussianNB(), "isotonic", cv=3).fit(X, y)
    >>> model.predict_proba(X[:2]).shape, len(model.calibrated_classifiers_)
    ((2, 2), 3)
    """

    def __init__(
        self,
        estimator: Any,
        method: str | Calibrator = DEFAULT_METHOD,
        *,
        cv: Any = 5,
        ensemble: bool | str = "auto",
        n_jobs: int | None = None,
        multiclass: str = "auto",
        response_method: str = "auto",
        segment: Any = None,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.cv = cv
        self.ensemble = ensemble
        self.n_jobs = n_jobs
        self.multiclass = multiclass
        self.response_method = response_method
        self.segment = segment

    def fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, *, segment: Any = None, **fit_params: Any
    ) -> Self:
        """Train and calibrate.

        Parameters
        ----------
        X : array, sparse matrix, table or list of n rows
            Handed to the classifier as it is.
        y : array-like of shape (n,)
            Labels: numbers or strings, two classes or more.
        sample_weight : array-like of shape (n,), optional
            Non-negative weights.
        segment : array-like of shape (n,) or (n, keys), table, or dict of columns, optional
            The segment of each row, where the constructor names no column of `X` for it. Then every prediction needs
            segments, too.
        **fit_params : dict
            For the classifier's ``fit``; entries with n rows are split like the data.

        Returns
        -------
        self
        """
        X, labels = _read(X, y)
        weights = _validation.check_weights(sample_weight, len(labels))
        for_model, for_split = self._route(sample_weight, fit_params)
        model = as_one(self.estimator)
        self.classes_ = _find_classes(model, labels)
        columns = find_segments(X, self.segment, segment)
        recipe = choose_recipe(
            self.method, model, self.response_method, self.multiclass, self.classes_, segmented=columns is not None
        )
        data = ClassifierRows(X, labels, np.searchsorted(self.classes_, labels), weights, for_model, columns)
        self._has_segments = columns is not None
        self.calibrated_classifiers_ = self._calibrated(recipe, model, data, for_split)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.calibrated_classifiers_[0].estimator, name):
                setattr(self, name, getattr(self.calibrated_classifiers_[0].estimator, name))
        return self

    def _calibrated(
        self, recipe: Recipe, model: Any, data: ClassifierRows, for_split: Mapping[str, Any]
    ) -> list[CalibratedModel]:
        frozen = is_frozen(model)
        _validation.check_choice("ensemble", self.ensemble, ("auto", True, False))
        ensemble = not frozen if self.ensemble == "auto" else bool(self.ensemble)
        if frozen and not ensemble:
            check_is_fitted(model)
            scores = recipe.scores(model, data.X, data.segment)
            return _checked([recipe.calibrate(model, scores, data.codes, data.weights)])
        splits = _splits(self.cv, data, for_split, ensemble=ensemble)
        parallel = Parallel(n_jobs=self.n_jobs)
        fitted = parallel(delayed(_fit_split)(recipe, clone(model), data, *split) for split in splits)
        _warn_of_missing([split.scores.known for split in fitted])
        models = calibrate_splits(CrossFit(recipe, data, parallel, pooled=not ensemble), fitted)
        if ensemble:
            return _checked(models)
        whole = clone(model).fit(data.X, data.labels, **data.fit_params)
        return _checked([replace(models[0], estimator=whole, held_out=None)])

    def predict_proba(self, X: Any, segment: Any = None) -> Floats:
        """Calibrated probabilities, (n, n_classes): the mean over the calibrated models; a tensor for a tensor."""
        return _validation.like(X, self._proba(X, segment))

    def _proba(self, X: Any, segment: Any) -> Floats:
        check_is_fitted(self)
        columns = find_segments(X, self.segment, segment, self._has_segments)
        total: Floats = self.calibrated_classifiers_[0].predict_proba(X, columns)
        for model in self.calibrated_classifiers_[1:]:
            total += model.predict_proba(X, columns)
        return total / len(self.calibrated_classifiers_)

    def predict(self, X: Any, segment: Any = None) -> np.ndarray[Any, Any]:
        """The most probable class; it can differ from what the uncalibrated classifier predicts."""
        proba = self._proba(X, segment)
        return self.classes_[proba.argmax(axis=1)]

    def predict_interval(self, X: Any, level: float = 0.9, segment: Any = None) -> tuple[Floats, Floats]:
        """Lower and upper ends of the credible interval of P(y = ``classes_[1]``), each (n,).

        With more than two classes, the ends for each class, (n, n_classes) each. The method must have a posterior. An
        ensemble pools the posterior draws of its models, so the interval also covers how much they differ.
        """
        check_is_fitted(self)
        columns, models = find_segments(X, self.segment, segment, self._has_segments), self.calibrated_classifiers_
        tails = [0.5 - _validation.check_level(level) / 2, 0.5 + level / 2]
        if len(self.classes_) > 2:
            each = max(1, MATRIX_DRAWS // len(models))
            draws = [model.sample_maps(X, each, i) for i, model in enumerate(models)]
            low, high = np.quantile(np.concatenate(draws), tails, axis=0)
            predicted = self._proba(X, segment)
            return ends_like(X, (np.minimum(low, predicted), np.maximum(high, predicted)))
        own = {} if columns is None else {"segment": columns}
        posteriors: list[tuple[Any, Floats]] = [model.posterior(X) for model in models]
        if len(posteriors) == 1:
            calibrator, scores = posteriors[0]
            return ends_like(X, calibrator.predict_interval(scores, level=level, **own))
        draws = [one.sample_maps(scores, random_state=i, **own) for i, (one, scores) in enumerate(posteriors)]
        return ends_like(X, np.quantile(np.concatenate(draws), tails, axis=0))

    def estimate(self, X: Any, quantity: str = "mean", **options: Any) -> Estimate:
        """Say something about rows without labels, such as their share of positives or the accuracy of `predict`.

        For two classes and a method with a posterior; ``classes_[1]`` is the positive class.

        Parameters
        ----------
        X : array, sparse matrix, table or list of n rows
            Rows for which the relation of scores and labels is that of the rows of the fit.
        quantity : str
            Any of those that `calibrant.estimates.estimate` knows.
        **options : dict
            `threshold`, `level`, `sampling_noise`, `n_draws` and `rng`, as there.

        Returns
        -------
        Estimate
        """
        from calibrant.estimates.ensemble import estimate_ensemble

        check_is_fitted(self)
        if isinstance(as_one(self.estimator), Models):
            raise InvalidInputError("`estimate` must have one score of each row; got several classifiers.")
        members = [with_own_map(model).posterior(X) for model in self.calibrated_classifiers_]
        return estimate_ensemble(members, self._proba(X, None)[:, 1], quantity, **options)

    def summary(self) -> str:
        """Say in a few lines what was calibrated how, and what each calibrator has to say about itself."""
        check_is_fitted(self)
        models, names = self.calibrated_classifiers_, [str(label) for label in self.classes_.tolist()]
        shown = ", ".join(names[:SHOWN_CLASSES]) + ", …" * (len(names) > SHOWN_CLASSES)
        method = type(models[0].calibrators[0]).__name__ if models[0].calibrators else "nothing"
        times = "once" if len(models) == 1 else f"{len(models)} times, on different rows"
        estimator = type(models[0].estimator).__name__
        lines = [f"{estimator} of {len(names)} classes ({shown}), trained {times}, calibrated by {method}."]
        if len(names) == 2:
            lines.append(f"The positive class is {names[1]}, the second column of `predict_proba`.")
        shared = len(models) > 1 and all(model.calibrators == models[0].calibrators for model in models)
        for i, model in enumerate(models[:1] if shared else models, 1):
            which = "All models" if shared else f"Model {i}"
            lines += [f"{which}{who}: {text}" for who, text in _texts(model, names)]
        return "\n".join(lines)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name; those of several classifiers as ``name__parameter``, where they have names."""
        params = super().get_params(deep)
        named = self.estimator if deep and isinstance(self.estimator, Mapping) else {}
        inner = {f"{name}__{key}": value for name, one in named.items() for key, value in one.get_params().items()}
        return {**named, **inner, **params}

    def get_metadata_routing(self) -> MetadataRouter:
        """Say who gets weights, groups and other columns: this object, the classifier's fit, and the splitter."""
        router = MetadataRouter(owner=type(self).__name__).add_self_request(self)
        router.add(estimator=as_one(self.estimator), method_mapping=MethodMapping().add(caller="fit", callee="fit"))
        return router.add(splitter=self.cv, method_mapping=MethodMapping().add(caller="fit", callee="split"))

    def _route(self, sample_weight: Any, fit_params: dict[str, Any]) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """Split the arguments into those of the classifier's fit and those of the splitter."""
        if get_config()["enable_metadata_routing"]:
            routed = process_routing(self, "fit", sample_weight=sample_weight, **fit_params)
            return routed.estimator.fit, routed.splitter.split
        model = as_one(self.estimator)
        if sample_weight is None or is_frozen(model):
            return fit_params, {}
        if "sample_weight" in signature(model.fit).parameters:
            return fit_params | {"sample_weight": sample_weight}, {}
        warnings.warn(
            f"{type(model).__name__} does not appear to accept sample_weight, so the weights are used for the "
            "calibration alone. Its training ignores them, and the result may not suit the weighted population.",
            UserWarning,
            stacklevel=3,
        )
        return fit_params, {}

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        own = get_tags(as_one(self.estimator))
        tags.input_tags.sparse = own.input_tags.sparse
        tags.input_tags.allow_nan = own.input_tags.allow_nan
        if own.classifier_tags is not None:
            tags.classifier_tags.multi_class = own.classifier_tags.multi_class
        return tags


def _read(X: Any, y: Any) -> tuple[Any, np.ndarray[Any, Any]]:
    """The features as they are, if only rows can be picked from them, and the labels as an array."""
    if y is None:
        raise InvalidInputError("CalibratedClassifier.fit requires y to be passed, but the target y is None.")
    X, y = indexable(X, y)
    labels: np.ndarray[Any, Any] = column_or_1d(y, warn=True)
    if labels.dtype.kind == "f":
        _validation.check_finite(labels, "y")
    check_classification_targets(labels)
    return X, labels


def _find_classes(estimator: Any, labels: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    seen: np.ndarray[Any, Any] = LabelEncoder().fit(labels).classes_
    if is_frozen(estimator) and hasattr(estimator, "classes_"):
        known = np.unique(estimator.classes_)
        strange = [label for label in seen.tolist() if label not in known.tolist()]
        if strange:
            raise InvalidInputError(
                f"`y` must hold classes that the frozen classifier knows, {known.tolist()}; got {strange[0]!r}. "
                "Drop these rows, or train the classifier on them."
            )
        return known
    if len(seen) < 2:
        raise InvalidInputError(f"`y` must have at least two classes; got 1 class: {seen.tolist()}. Add other rows.")
    return seen


def _splits(cv: Any, data: ClassifierRows, for_split: Mapping[str, Any], *, ensemble: bool) -> list[tuple[Ints, Ints]]:
    try:
        splitter = check_cv(cv, data.labels, classifier=True)
    except ValueError as error:
        raise InvalidInputError(
            f"`cv` must be an integer of at least 2, a splitter, or an iterable of (train, test); got {cv!r}. "
            "Wrap a classifier that is already fitted in sklearn.frozen.FrozenEstimator."
        ) from error
    if ensemble and isinstance(splitter, LeaveOneOut):
        raise InvalidInputError(
            "LeaveOneOut cross-validation does not go with `ensemble`: it holds out one row, and `cv` must hold out "
            "rows of every class. Use folds, or ensemble=False."
        )
    # Random splits hold out rows of a rare class again and again; folds share them out.
    n_splits = 0 if isinstance(splitter, BaseShuffleSplit) else getattr(splitter, "n_splits", 0)
    _, counts = np.unique(data.labels, return_counts=True)
    if counts.min() < n_splits:
        raise InvalidInputError(
            f"Requesting {n_splits}-fold cross-validation but provided less than {n_splits} examples for at least one "
            f"class (the rarest has {counts.min()}). Lower `cv`, or add rows of that class."
        )
    every = np.arange(len(data.labels))  # indexing it turns masks into row numbers
    splits = [(every[train], every[test]) for train, test in splitter.split(data.X, data.labels, **for_split)]
    tested = np.concatenate([every[:0], *(test for _, test in splits)])
    if len(tested) == 0:
        raise InvalidInputError(f"`cv` must hold out at least one row; {cv!r} gave {len(splits)} splits without any.")
    if not ensemble and len(np.unique(tested)) < len(tested):
        raise InvalidInputError(
            f"`cv` must hold out each row at most once when `ensemble` is false, as KFold does; {cv!r} repeats rows. "
            "Use ensemble=True."
        )
    return splits


def _fit_split(recipe: Recipe, estimator: Any, data: ClassifierRows, train: Ints, test: Ints) -> Split:
    estimator.fit(_safe_indexing(data.X, train), data.labels[train], **data.fit_params_of(train))
    return Split(estimator, train, test, recipe.scores(estimator, _safe_indexing(data.X, test), data.segment_of(test)))


def _warn_of_missing(known: list[Any]) -> None:
    short = [part for part in known if not part.all()]
    if short:
        warnings.warn(
            f"Number of classes in training fold ({short[0].sum()}) does not match total number of classes "
            f"({len(short[0])}) in {len(short)} of {len(known)} splits: there, the missing class has probability 0, "
            "which skews the result. Use a stratified `cv`, or add rows of that class.",
            RuntimeWarning,
            stacklevel=4,
        )


def _checked(models: list[CalibratedModel]) -> list[CalibratedModel]:
    """The models, with a warning if a class that they know had rows to be calibrated on in none of the splits."""
    unproven = np.all([model.unproven for model in models], axis=0)
    if unproven.any():
        labels = ", ".join(map(repr, models[0].classes[unproven].tolist()[:5]))
        warnings.warn(
            f"No row to calibrate on is of class {labels}, which the classifier knows: how often it is right about "
            "that class cannot be learnt. Add rows of that class, or use multiclass='top_label' or a method for all "
            "classes at once, such as 'temperature'.",
            RuntimeWarning,
            stacklevel=4,
        )
    return models


def _texts(model: Any, names: Sequence[str]) -> list[tuple[str, str]]:
    """The summaries of the calibrators that have one, and of which class each is."""
    texts = [calibrator.summary() for calibrator in model.calibrators if hasattr(calibrator, "summary")]
    if not isinstance(model.estimator, Models):  # that of a panel is a table
        texts = [" ".join(text.splitlines()) for text in texts]
    owners = [f", class {name}" for name in names] if len(texts) == len(names) > 1 else [""] * len(texts)
    return list(zip(owners, texts, strict=True))
