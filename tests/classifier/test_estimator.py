"""The meta-estimator: its twin in scikit-learn, its data, its options and its errors."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import DataConversionWarning, NotFittedError, UnsetMetadataPassedError
from sklearn.feature_extraction import DictVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneOut,
    PredefinedSplit,
    ShuffleSplit,
    TimeSeriesSplit,
    cross_val_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from calibrant import CalibratedClassifier, IsotonicCalibration, PlattScaling, SegmentedCalibrator, TemperatureScaling
from calibrant.calibrators import SCORE_METHODS
from calibrant.calibrators.base import BayesianCalibrator
from calibrant.errors import InvalidInputError
from calibrant.maps.functions import Step
from calibrant.maps.score import CalibrationMap

MODELS = {
    "decision": LinearSVC(random_state=0),
    "probability": GaussianNB(),
    "both": LogisticRegression(),
}
TWINS = {
    "isotonic": lambda: IsotonicCalibration(target_correction=False),
    "sigmoid": lambda: PlattScaling(space="decision"),
}


def data(n_classes=2, n=240):
    return make_classification(n, 6, n_informative=4, n_classes=n_classes, class_sep=0.7, flip_y=0.1, random_state=3)


# Two fits of one classifier on arrays that lie differently in memory can differ by an ulp; so 1e-9 means "the same".


def weights(n):
    return np.random.default_rng(5).uniform(0.2, 3.0, n)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("ensemble", [True, False])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("method", TWINS)
def test_agrees_with_scikit_learn(method, model, n_classes, ensemble, weighted):
    X, y = data(n_classes)
    w = weights(len(y)) if weighted else None
    twin = CalibratedClassifierCV(MODELS[model], method=method, cv=4, ensemble=ensemble)
    ours = CalibratedClassifier(MODELS[model], TWINS[method](), cv=4, ensemble=ensemble)
    expected = twin.fit(X[:200], y[:200], w[:200] if weighted else None)
    found = ours.fit(X[:200], y[:200], w[:200] if weighted else None)
    np.testing.assert_allclose(found.predict_proba(X), expected.predict_proba(X), atol=1e-6)
    assert len(found.calibrated_classifiers_) == len(expected.calibrated_classifiers_)


@pytest.mark.parametrize("ensemble", [True, False])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("model", MODELS)
def test_temperature_agrees_with_scikit_learn(model, n_classes, ensemble):
    pytest.importorskip("sklearn", minversion="1.8", reason="it had no temperature scaling before")
    X, y = data(n_classes)
    expected = CalibratedClassifierCV(MODELS[model], method="temperature", cv=4, ensemble=ensemble).fit(X, y)
    found = CalibratedClassifier(MODELS[model], "temperature", cv=4, ensemble=ensemble).fit(X, y)
    np.testing.assert_allclose(found.predict_proba(X), expected.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("method", TWINS)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_frozen_models_agree_with_scikit_learn_and_use_all_rows(method, n_classes):
    X, y = data(n_classes)
    model = FrozenEstimator(LogisticRegression().fit(X[:120], y[:120]))
    expected = CalibratedClassifierCV(model, method=method).fit(X[120:], y[120:])
    found = CalibratedClassifier(model, TWINS[method]()).fit(X[120:], y[120:])
    np.testing.assert_allclose(found.predict_proba(X), expected.predict_proba(X), atol=1e-6)
    assert len(found.calibrated_classifiers_) == 1
    assert found.calibrated_classifiers_[0].estimator is model


def test_named_methods_are_told_what_the_scores_are():
    X, y = data()
    for model, space in (("decision", "decision"), ("probability", "probability"), ("both", "decision")):
        for method in ("platt", "temperature"):
            fitted = CalibratedClassifier(MODELS[model], method, cv=2).fit(X, y)
            assert fitted.calibrated_classifiers_[0].calibrators[0].space == space
    forced = CalibratedClassifier(MODELS["both"], "platt", cv=2, response_method="predict_proba").fit(X, y)
    assert forced.calibrated_classifiers_[0].calibrators[0].space == "probability"


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("method", SCORE_METHODS)
@pytest.mark.parametrize("multiclass", ["one_vs_rest", "top_label"])
def test_every_method_gives_probabilities(method, n_classes, multiclass):
    X, y = data(n_classes)
    proba = CalibratedClassifier(MODELS["both"], method, cv=2, multiclass=multiclass).fit(X, y).predict_proba(X)
    assert proba.shape == (len(y), n_classes)
    assert proba.min() >= 0.0
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)


def test_repairs_an_overconfident_model():
    X, y = make_classification(3000, 20, n_informative=4, n_redundant=12, flip_y=0.05, random_state=0)
    raw = GaussianNB().fit(X[:2000], y[:2000])
    model = CalibratedClassifier(GaussianNB()).fit(X[:2000], y[:2000])
    assert log_loss(y[2000:], model.predict_proba(X[2000:])) < 0.8 * log_loss(y[2000:], raw.predict_proba(X[2000:]))


@pytest.mark.parametrize("ensemble", [True, False])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "names",
    [
        ["no", "perhaps", "yes"],
        [-7, 3, 11],
        [1.5, 2.5, 3.5],
        np.array(["a", "b", "c"], dtype=object),
    ],
    ids=["str", "int", "float", "object"],
)
def test_labels_of_any_kind(names, n_classes, ensemble):
    X, y = data(n_classes)
    plain = CalibratedClassifier(GaussianNB(), cv=3, ensemble=ensemble).fit(X, y)
    named = np.asarray(names)[y] if n_classes == 3 else np.asarray(names)[2 * y]
    if named.dtype.kind == "f":
        with pytest.raises(ValueError, match="continuous"):  # as everywhere in scikit-learn
            clone(plain).fit(X, named)
        return
    model = clone(plain).fit(X, named)
    np.testing.assert_array_equal(model.classes_, np.unique(named))
    np.testing.assert_allclose(model.predict_proba(X), plain.predict_proba(X), rtol=1e-9)
    np.testing.assert_array_equal(model.predict(X), np.unique(named)[plain.predict(X)])


@pytest.mark.parametrize(
    "wrap",
    [
        lambda y: y.tolist(),
        lambda y: y.astype(bool),
        lambda y: pd.Series(y, index=np.arange(len(y))[::-1]),
        lambda y: pd.Series(y, index=[f"row{i % 7}" for i in range(len(y))]),
        lambda y: pd.Series(y).astype("category"),
        lambda y: pd.Series(y).astype("Int64"),
        lambda y: pl.Series(y),
    ],
    ids=["list", "bool", "reversed", "repeated", "category", "nullable", "polars"],
)
@pytest.mark.parametrize("ensemble", [True, False])
def test_targets_with_any_index(wrap, ensemble):
    X, y = data()
    expected = CalibratedClassifier(GaussianNB(), cv=3, ensemble=ensemble).fit(X, y)
    found = clone(expected).fit(X, wrap(y))
    np.testing.assert_allclose(found.predict_proba(X), expected.predict_proba(X), rtol=1e-9)


def test_a_column_of_labels_is_read_with_a_warning():
    X, y = data()
    with pytest.warns(DataConversionWarning):
        model = CalibratedClassifier(GaussianNB(), cv=2).fit(X, y[:, None])
    np.testing.assert_array_equal(model.classes_, [0, 1])


class KeepsTable(ClassifierMixin, BaseEstimator):
    """Remembers what type of table it saw."""

    def fit(self, X, y):
        self.classes_, self.table_ = np.unique(y), type(X)
        return self

    def predict_proba(self, X):
        assert type(X) is self.table_
        p = 1 / (1 + np.exp(-np.asarray(X["f0"])))
        return np.column_stack((1 - p, p))


@pytest.mark.parametrize("table", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("ensemble", [True, False])
def test_tables_reach_the_classifier_untouched(table, ensemble):
    X, y = data()
    X = table({f"f{j}": X[:, j] for j in range(X.shape[1])})
    model = CalibratedClassifier(KeepsTable(), cv=3, ensemble=ensemble).fit(X, y)
    assert model.calibrated_classifiers_[0].estimator.table_ is table
    named = CalibratedClassifier(GaussianNB(), cv=3, ensemble=ensemble).fit(X, y)
    assert named.predict_proba(X).shape == (len(y), 2)
    assert named.n_features_in_ == 6
    assert list(named.feature_names_in_) == [f"f{j}" for j in range(6)]


def test_sparse_missing_and_list_features():
    X, y = data()
    dense = CalibratedClassifier(LogisticRegression(), cv=3).fit(X, y)
    for container in (sparse.csr_array, sparse.csc_array, sparse.coo_array):
        model = clone(dense).fit(container(X), y)
        np.testing.assert_allclose(model.predict_proba(sparse.csr_array(X)), dense.predict_proba(X), atol=1e-3)
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    assert CalibratedClassifier(HistGradientBoostingClassifier(max_iter=3), cv=2).fit(holes, y).score(holes, y) > 0.6
    records = [{"a": row[0], "b": row[1]} for row in X]
    pipeline = make_pipeline(DictVectorizer(), GaussianNB()).set_params(dictvectorizer__sparse=False)
    model = CalibratedClassifier(FrozenEstimator(pipeline.fit(records[:120], y[:120]))).fit(records[120:], y[120:])
    assert model.predict_proba(records).shape == (len(y), 2)
    assert not hasattr(model, "n_features_in_")


def test_parallel_is_the_same():
    X, y = data(3)
    one = CalibratedClassifier(GaussianNB(), cv=3).fit(X, y, weights(len(y)))
    two = CalibratedClassifier(GaussianNB(), cv=3, n_jobs=2).fit(X, y, weights(len(y)))
    np.testing.assert_allclose(one.predict_proba(X), two.predict_proba(X), rtol=1e-9)


@pytest.mark.parametrize("ensemble", [True, False])
def test_weights_are_repetitions(ensemble):
    X, y = data(3, 150)
    counts = np.random.default_rng(1).integers(1, 4, len(y))
    rows = np.repeat(np.arange(len(y)), counts)
    folds = np.arange(len(y)) % 3
    weighted = CalibratedClassifier(GaussianNB(), cv=PredefinedSplit(folds), ensemble=ensemble)
    repeated = CalibratedClassifier(GaussianNB(), cv=PredefinedSplit(folds[rows]), ensemble=ensemble)
    np.testing.assert_allclose(
        weighted.fit(X, y, sample_weight=counts).predict_proba(X), repeated.fit(X[rows], y[rows]).predict_proba(X)
    )


def test_weights_for_a_model_that_takes_none():
    X, y = data()
    w = weights(len(y))
    with pytest.warns(UserWarning, match="does not appear to accept sample_weight"):
        found = CalibratedClassifier(KNeighborsClassifier(), TWINS["isotonic"](), cv=3).fit(X, y, w)
    with pytest.warns(UserWarning, match="does not appear to accept sample_weight"):
        expected = CalibratedClassifierCV(KNeighborsClassifier(), method="isotonic", cv=3).fit(X, y, w)
    np.testing.assert_allclose(found.predict_proba(X), expected.predict_proba(X), atol=1e-6)
    # A frozen model is not trained, so nothing is amiss.
    CalibratedClassifier(FrozenEstimator(KNeighborsClassifier().fit(X, y))).fit(X, y, w)


class Recorder(ClassifierMixin, BaseEstimator):
    """Remembers what its fit was given."""

    def fit(self, X, y, sample_weight=None, colour=None, note=None):
        self.classes_, self.seen_ = np.unique(y), (len(X), sample_weight, colour, note)
        return self

    def decision_function(self, X):
        return np.asarray(X)[:, 0]


@pytest.mark.parametrize("ensemble", [True, False])
def test_fit_parameters_are_split_like_the_data(ensemble):
    X, y = data(n=90)
    w = pd.Series(weights(90), index=np.arange(90)[::-1])
    model = CalibratedClassifier(Recorder(), cv=3, ensemble=ensemble)
    model.fit(X, y, w, colour=[f"c{i}" for i in range(90)], note="all")
    rows, seen_w, colour, note = model.calibrated_classifiers_[0].estimator.seen_
    assert rows == len(seen_w) == len(colour) == (60 if ensemble else 90)
    np.testing.assert_array_equal(seen_w, [w.iloc[int(c[1:])] for c in colour])
    assert note == "all"


@pytest.mark.parametrize("ensemble", [True, False])
def test_metadata_routing_of_weights_and_groups(ensemble):
    X, y = data(n=90)
    groups, w = np.repeat(np.arange(9), 10), weights(90)
    with config_context(enable_metadata_routing=True):
        inner = Recorder().set_fit_request(sample_weight="w", colour=True)
        model = CalibratedClassifier(inner, cv=GroupKFold(3), ensemble=ensemble)
        model.fit(X, y, groups=groups, w=w, colour=np.arange(90))
        rows, seen_w, colour, _ = model.calibrated_classifiers_[0].estimator.seen_
        np.testing.assert_array_equal(seen_w, w[colour])
        assert rows == (60 if ensemble else 90)
        if ensemble:
            assert len(set(groups[colour])) == 6
        with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
            CalibratedClassifier(Recorder(), cv=3).fit(X, y, sample_weight=w)
        with pytest.raises(TypeError, match="unexpected argument"):
            CalibratedClassifier(Recorder(), cv=3).fit(X, y, nonsense=w)
        only_here = CalibratedClassifier(Recorder().set_fit_request(sample_weight=False), cv=3, ensemble=ensemble)
        only_here.fit(X, y, sample_weight=w)
        assert only_here.calibrated_classifiers_[0].estimator.seen_[1] is None
    plain = CalibratedClassifier(Recorder(), cv=3, ensemble=ensemble).fit(X, y, sample_weight=w)
    np.testing.assert_allclose(only_here.predict_proba(X), plain.predict_proba(X), rtol=1e-9)


def missing_class():
    X, y = data(4, 80)
    rows = np.argsort(y, kind="stable")
    return X[rows], y[rows], KFold(4)


def test_a_class_missing_from_training_has_probability_zero_in_that_split():
    X, y, cv = missing_class()
    expected = CalibratedClassifierCV(GaussianNB(), method="isotonic", cv=cv).fit(X, y)
    with pytest.warns(RuntimeWarning, match="Number of classes in training fold"):
        model = CalibratedClassifier(GaussianNB(), TWINS["isotonic"](), cv=cv).fit(X, y)
    absent = [i for i, m in enumerate(model.calibrated_classifiers_) if not m.known.all()]
    assert absent
    for i in absent:
        part = model.calibrated_classifiers_[i]
        proba = part.predict_proba(X)
        assert not proba[:, ~part.known].any()
        np.testing.assert_allclose(proba.sum(axis=1), 1.0)
        # scikit-learn says the same, but is uniform over all classes, missing ones too, where every score maps to zero.
        twin = expected.calibrated_classifiers_[i].predict_proba(X)
        same = ~twin[:, ~part.known].any(axis=1)
        np.testing.assert_allclose(proba[same], twin[same], atol=1e-6)


def test_a_class_missing_from_training_with_pooled_scores():
    X, y, cv = missing_class()
    with pytest.warns(RuntimeWarning, match="Number of classes in training fold"):
        expected = CalibratedClassifierCV(GaussianNB(), method="isotonic", cv=cv, ensemble=False).fit(X, y)
    with pytest.warns(RuntimeWarning, match="Number of classes in training fold"):
        model = CalibratedClassifier(GaussianNB(), TWINS["isotonic"](), cv=cv, ensemble=False).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), expected.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("method", ["isotonic", "platt", "temperature"])
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("ensemble", [True, False])
def test_a_split_that_knows_two_of_three_classes(method, model, ensemble):
    X, y = data(3, 90)
    rows = np.argsort(y, kind="stable")
    X, y = X[rows], y[rows]
    with pytest.warns(RuntimeWarning, match="Number of classes in training fold"):
        fitted = CalibratedClassifier(MODELS[model], method, cv=KFold(3), ensemble=ensemble).fit(X, y)
    proba = fitted.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    assert np.isfinite(proba).all()


def test_one_class_of_two_is_certain_where_a_split_knows_no_other():
    X, y = np.arange(8.0)[:, None], np.array([0, 0, 1, 1, 0, 1, 0, 1])
    splits = [([0, 1, 4], [2, 3, 5, 6]), ([0, 1, 2, 3], [4, 5, 6, 7])]
    with pytest.warns(RuntimeWarning, match="in 1 of 2 splits"):
        model = CalibratedClassifier(RandomForestClassifier(3, random_state=0), cv=splits).fit(X, y)
    np.testing.assert_array_equal(model.calibrated_classifiers_[0].predict_proba(X), np.tile([1.0, 0.0], (8, 1)))


@pytest.mark.parametrize("method", ["blend", "spline", "isotonic", "platt", "bayes_iso", "bbq"])
def test_rows_without_a_class_speak_against_it_as_far_as_they_reach(method):
    X, y = data(3, 600)
    frozen = FrozenEstimator(GaussianNB().fit(X, y))
    with pytest.warns(RuntimeWarning, match="No row to calibrate on is of class 2"):
        model = CalibratedClassifier(frozen, method, multiclass="one_vs_rest").fit(X[y < 2], y[y < 2])
    proba, raw = model.predict_proba(X), frozen.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    # None of some 400 rows was of class 2, where the classifier expects about 100; a flexible prior gives up slowly.
    assert proba[y < 2, 2].mean() < 0.03
    assert raw[y < 2, 2].mean() > 0.2


def test_classes_without_rows_are_no_matter_to_methods_for_all_classes_at_once():
    X, y = data(3)
    frozen = FrozenEstimator(GaussianNB().fit(X, y))
    for options in ({"method": "temperature"}, {"method": "isotonic", "multiclass": "top_label"}):
        model = CalibratedClassifier(frozen, **options).fit(X[y < 2], y[y < 2])
        assert not model.calibrated_classifiers_[0].unproven.any()


def test_one_split_with_rows_of_a_class_to_calibrate_on_is_enough():
    X, y = data(3, 90)
    half, rest = np.arange(90) < 45, y < 2
    model = CalibratedClassifier(GaussianNB(), "isotonic", cv=[(half, ~half & rest), (~half, half)]).fit(X, y)
    assert [m.unproven.tolist() for m in model.calibrated_classifiers_] == [[False, False, True], [False] * 3]
    none = CalibratedClassifier(GaussianNB(), "isotonic", cv=[(half, ~half & rest), (~half, half & rest)])
    with pytest.warns(RuntimeWarning, match="is of class 2"):
        none.fit(X, y)
    # Rows of weight 0 are no rows.
    frozen = CalibratedClassifier(FrozenEstimator(GaussianNB().fit(X, y)), "isotonic")
    with pytest.warns(RuntimeWarning, match="is of class 2"):
        frozen.fit(X, y, sample_weight=np.where(rest, 1.0, 0.0))


def test_frozen_models_keep_classes_that_the_rows_do_not_show():
    X, y = data(3)
    frozen = FrozenEstimator(GaussianNB().fit(X, y))
    with pytest.warns(RuntimeWarning, match="is of class 2, which the classifier knows"):
        model = CalibratedClassifier(frozen, "isotonic").fit(X[y < 2], y[y < 2])
    np.testing.assert_array_equal(model.classes_, [0, 1, 2])
    assert model.predict_proba(X)[:, 2].max() < 0.05
    ensemble = CalibratedClassifier(frozen, ensemble=True, cv=3).fit(X, y)
    assert [m.estimator for m in ensemble.calibrated_classifiers_] == [frozen] * 3
    with pytest.raises(InvalidInputError, match=r"frozen classifier knows.*got 'a'"):
        CalibratedClassifier(frozen).fit(X, np.array(["a", "b", "c"])[y])
    with pytest.raises(NotFittedError):
        CalibratedClassifier(FrozenEstimator(GaussianNB())).fit(X, y)
    with pytest.raises(ValueError, match="X has 3 features"):
        CalibratedClassifier(frozen).fit(X[:, :3], y)


def test_pooled_scores_take_any_split_that_repeats_no_row():
    X, y = data(n=60)
    for cv in (LeaveOneOut(), TimeSeriesSplit(3), iter(list(KFold(3).split(X)))):
        model = CalibratedClassifier(GaussianNB(), "platt", cv=cv, ensemble=False).fit(X, y)
        assert len(model.calibrated_classifiers_) == 1
    masks = [(np.arange(60) % 2 == k, np.arange(60) % 2 != k) for k in (0, 1)]
    numbers = [(np.flatnonzero(a), np.flatnonzero(b)) for a, b in masks]
    for ensemble in (True, False):
        with_masks, with_numbers = (
            CalibratedClassifier(GaussianNB(), "platt", cv=cv, ensemble=ensemble).fit(X, y) for cv in (masks, numbers)
        )
        np.testing.assert_allclose(with_masks.predict_proba(X), with_numbers.predict_proba(X), rtol=1e-9)
    many = CalibratedClassifier(GaussianNB(), "platt", cv=ShuffleSplit(40, random_state=0)).fit(X, y)
    assert len(many.calibrated_classifiers_) == 40


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "magic"}, "`method` must be one of"),
        ({"method": IsotonicCalibration}, "`method` must be the name of a method or a calibrator object"),
        ({"method": 3}, "`method` must be the name of a method or a calibrator object"),
        ({"cv": "prefit"}, "`cv` must be.*FrozenEstimator"),
        ({"cv": 1}, "`cv` must be an integer of at least 2"),
        ({"cv": []}, "`cv` must hold out at least one row"),
        ({"cv": 200}, "Requesting 200-fold cross-validation.*rarest has"),
        ({"cv": KFold(200)}, "Requesting 200-fold"),
        ({"cv": LeaveOneOut()}, "LeaveOneOut"),
        ({"cv": ShuffleSplit(3), "ensemble": False}, "at most once"),
        ({"ensemble": "yes"}, "`ensemble` must be"),
        ({"multiclass": "one"}, "`multiclass` must be one of auto, one_vs_rest, top_label"),
        ({"response_method": "predict"}, "`response_method` must be one of"),
        ({"method": "beta", "response_method": "decision_function"}, "BetaCalibration needs probabilities"),
        ({"method": "beta", "estimator": LinearSVC()}, "BetaCalibration needs probabilities, and LinearSVC"),
        ({"multiclass": "top_label", "estimator": LinearSVC()}, "top_label' needs probabilities"),
        ({"estimator": StandardScaler()}, "must have decision_function or predict_proba; StandardScaler"),
        ({"estimator": GaussianNB(), "response_method": "decision_function"}, "must have decision_function"),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_bad_options(options, message):
    X, y = data()
    with pytest.raises(InvalidInputError, match=f"(?s){message}"):
        CalibratedClassifier(**({"estimator": LogisticRegression()} | options)).fit(X, y)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, _, w: (X, None, w), "requires y to be passed"),
        (lambda X, y, w: (X, y * 0, w), "at least two classes"),
        (lambda X, y, w: (X[:0], y[:0], w[:0]), "at least two classes"),
        (lambda X, y, w: (X[:9], y, w), "inconsistent numbers of samples"),
        (lambda X, y, w: (X, y + X[:, 0], w), "continuous"),
        (lambda X, y, w: (X, np.where(y, np.nan, 0.0), w), "must be finite; got NaN"),
        (lambda X, y, w: (X, np.column_stack((y, y)), w), "should be a 1d array"),
        (lambda X, y, w: (X, y, -w), "must not be negative"),
        (lambda X, y, w: (X, y, w[:9]), "as many rows"),
        (lambda X, y, w: (X, y, w * np.nan), "must be finite"),
    ],
)
def test_bad_data(change, message):
    X, y, w = change(*data(), weights(240))
    with pytest.raises(ValueError, match=message):
        CalibratedClassifier(GaussianNB()).fit(X, y, sample_weight=w)


def test_predicting_before_fitting():
    with pytest.raises(NotFittedError):
        CalibratedClassifier(GaussianNB()).predict_proba([[0.0]])
    with pytest.raises(NotFittedError):
        CalibratedClassifier(GaussianNB()).predict_interval([[0.0]])


def test_one_vs_one_scores_are_refused():
    X, y = data(4)
    with pytest.raises(InvalidInputError, match="one column for each of the 4 classes"):
        CalibratedClassifier(SVC(decision_function_shape="ovo"), cv=2).fit(X, y)


def test_lives_among_scikit_learn_tools():
    X, y = data()
    model = CalibratedClassifier(GaussianNB(), PlattScaling(space="probability"), cv=2)
    assert repr(model) == "CalibratedClassifier(cv=2, estimator=GaussianNB(), method=PlattScaling())"
    assert repr(CalibratedClassifier(GaussianNB())) == "CalibratedClassifier(estimator=GaussianNB())"
    assert clone(model).set_params(method__target_correction=False).method.target_correction is False
    assert model.method.target_correction is True
    fitted = clone(model).fit(X, y)
    assert not hasattr(fitted.method, "map_")
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict_proba(X), fitted.predict_proba(X))
    pipeline = make_pipeline(StandardScaler(), CalibratedClassifier(make_pipeline(StandardScaler(), SVC()), cv=2))
    assert pipeline.fit(X, y).score(X, y) > 0.6
    search = GridSearchCV(
        CalibratedClassifier(GaussianNB(), cv=2),
        {"method": ["isotonic", "platt", TemperatureScaling()], "estimator__var_smoothing": [1e-9, 1e-2]},
        scoring="neg_log_loss",
        cv=2,
    )
    assert search.fit(X, y).best_params_["method"] is not None
    tags = CalibratedClassifier(HistGradientBoostingClassifier()).__sklearn_tags__()
    assert tags.input_tags.allow_nan
    assert not tags.input_tags.sparse


class Coin(BayesianCalibrator):
    """A posterior that ignores the scores: Beta(1 + positives, 1 + negatives)."""

    def fit_map(self, tally):
        self.counts_ = 1 + tally.total_positive, 1 + tally.total - tally.total_positive
        return CalibrationMap(Step(np.empty(0), [self.counts_[0] / sum(self.counts_)]))

    def draw_maps(self, scores, n_draws, rng):
        draws = rng.beta(*self.counts_, n_draws)
        return np.repeat(draws[:, None], len(scores), axis=1)

    def interval_ends(self, scores, level):
        low, high = np.quantile(self.sample_maps(scores, 4000), [0.5 - level / 2, 0.5 + level / 2], axis=0)
        return low, high


def test_intervals_of_bayesian_methods():
    X, y = data()
    y = y.copy()
    y[y.argmin()] = 1
    for ensemble in (False, True):
        model = CalibratedClassifier(GaussianNB(), Coin(), ensemble=ensemble).fit(X, y)
        low, high = model.predict_interval(X)
        assert low.shape == high.shape == (len(y),)
        np.testing.assert_allclose(high - low, 0.106, rtol=0.15)  # the standard error of 240 coins, times 3.29
        assert (low < y.mean()).all()
        assert (high > y.mean()).all()
        narrow = model.predict_interval(X, level=0.5)
        assert (narrow[0] > low).all()
    with pytest.raises(InvalidInputError, match="`level` must lie strictly between 0 and 1"):
        model.predict_interval(X, level=90)
    with pytest.raises(InvalidInputError, match="IsotonicCalibration has no posterior"):
        CalibratedClassifier(GaussianNB(), "isotonic").fit(X, y).predict_interval(X)
    with pytest.raises(InvalidInputError, match="Intervals of several classes need"):
        CalibratedClassifier(GaussianNB(), Coin()).fit(*data(3)).predict_interval(X)


def test_several_classes_are_calibrated_as_a_whole_by_default_with_intervals():
    X, y = data(3, 300)
    model = CalibratedClassifier(GaussianNB(), cv=3).fit(X, y)
    assert {type(one.calibrators[0]).__name__ for one in model.calibrated_classifiers_} == {"Blend"}
    proba = model.predict_proba(X)
    low, high = model.predict_interval(X[:20], level=0.9)
    assert low.shape == high.shape == (20, 3)
    assert ((low <= proba[:20]) & (proba[:20] <= high)).all()
    rest = CalibratedClassifier(GaussianNB(), cv=3, multiclass="one_vs_rest").fit(X, y)
    assert type(rest.calibrated_classifiers_[0].calibrators[0]).__name__ == "Blend"


def test_a_class_without_rows_keeps_a_sensible_probability_by_default():
    X, y = data(3, 600)
    frozen = FrozenEstimator(GaussianNB().fit(X, y))
    model = CalibratedClassifier(frozen).fit(X[y < 2], y[y < 2])
    proba, raw = model.predict_proba(X), frozen.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    assert 0.0 < proba[:, 2].mean() < raw[:, 2].mean()


@pytest.fixture
def countries():
    """Rows of three countries, in one of which positives are more common than the features say."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(3000, 2))
    country = rng.choice(["de", "fr", "us"], 3000)
    logits = X[:, 0] - 1.0 + np.where(country == "fr", 1.5, 0.0)
    return X, (rng.random(3000) < 1 / (1 + np.exp(-logits))).astype(int), country


@pytest.mark.parametrize("ensemble", [True, False])
def test_segments_have_maps_of_their_own(countries, ensemble):
    X, y, country = countries
    model = CalibratedClassifier(LogisticRegression(), "platt", ensemble=ensemble).fit(X, y, segment=country)
    proba = model.predict_proba(X, segment=country)
    for name in ("de", "fr", "us"):
        assert proba[country == name, 1].mean() == pytest.approx(y[country == name].mean(), abs=0.02)
    np.testing.assert_array_equal(model.predict(X, segment=country), proba.argmax(axis=1))
    low, high = model.predict_interval(X[:50], segment=country[:50])
    assert (low < high).all()
    with pytest.raises(InvalidInputError, match="`segment` must be given for every row"):
        model.predict_proba(X)
    pooled = CalibratedClassifier(LogisticRegression(), "platt", ensemble=ensemble).fit(X, y)
    with pytest.raises(InvalidInputError, match="`segment` must be given to `fit`, too"):
        pooled.predict_proba(X, segment=country)


def test_segments_can_be_a_column(countries):
    X, y, country = countries
    number = np.searchsorted(["de", "fr", "us"], country)
    by_number = CalibratedClassifier(LogisticRegression(), "platt", cv=2, segment=2).fit(
        np.column_stack((X, number)), y
    )
    table = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "country": country})
    learner = make_pipeline(make_column_transformer(("passthrough", ["a", "b"])), LogisticRegression())
    by_name = CalibratedClassifier(learner, "platt", cv=2, segment="country").fit(table, y)
    passed = CalibratedClassifier(learner, "platt", cv=2).fit(table, y, segment={"country": country})
    np.testing.assert_array_equal(by_name.predict_proba(table), passed.predict_proba(table, segment=country))
    assert abs(by_number.predict_proba(np.column_stack((X, number)))[country == "fr", 1].mean() - 0.57) < 0.1
    assert cross_val_score(by_name, table, y, cv=2).mean() > 0.6  # no routing is needed
    with pytest.raises(InvalidInputError, match="`segment` must name columns of `X`; 'nation' is none"):
        CalibratedClassifier(learner, segment="nation").fit(table, y)
    with pytest.raises(InvalidInputError, match="in the constructor or passed, not both"):
        by_name.predict_proba(table, segment=country)


def test_segments_are_routed(countries):
    X, y, country = countries
    model = CalibratedClassifier(LogisticRegression(), "platt", cv=2)
    with config_context(enable_metadata_routing=True):
        model.set_fit_request(segment=True).set_predict_proba_request(segment=True)
        piped = make_pipeline(StandardScaler(), model).fit(X, y, segment=country)
        proba = piped.predict_proba(X, segment=country)
    alone = CalibratedClassifier(LogisticRegression(), "platt", cv=2)
    scaled = StandardScaler().fit_transform(X)
    np.testing.assert_allclose(
        proba, alone.fit(scaled, y, segment=country).predict_proba(scaled, segment=country), atol=1e-9
    )


def test_segments_with_several_classes_and_other_methods(countries):
    X, y, country = countries
    three = y + (X[:, 1] > 0)
    model = CalibratedClassifier(LogisticRegression(), SegmentedCalibrator("platt"), cv=2)
    model.fit(X, three, segment=country)
    np.testing.assert_allclose(model.predict_proba(X, segment=country).sum(axis=1), 1.0)
    with pytest.raises(InvalidInputError, match="`segment` must be given for every row"):
        model.predict_interval(X)
    with pytest.raises(InvalidInputError, match=r"Intervals of several classes need .* got SegmentedCalibrator"):
        model.predict_interval(X, segment=country)
    with pytest.raises(InvalidInputError, match="`segment` must be given to `fit`, too"):
        CalibratedClassifier(LogisticRegression(), cv=2).fit(X, three).predict_interval(X, segment=country)
    margins = CalibratedClassifier(LinearSVC(), "platt", cv=2).fit(X, y, segment=country)
    assert margins.predict_proba(X, segment=country)[country == "fr", 1].mean() > 0.45
    with pytest.raises(InvalidInputError, match="SegmentedCalibrator needs segments"):
        CalibratedClassifier(LogisticRegression(), SegmentedCalibrator()).fit(X, y)
    with pytest.raises(InvalidInputError, match="`segment` must have as many rows"):
        CalibratedClassifier(LogisticRegression()).fit(X, y, segment=country[:5])
