import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from calibrant import CalibratedClassifier
from calibrant.errors import InvalidInputError, ModelFileError
from calibrant.export import classifier_to_onnx, classifiers
from calibrant.multiclass.scaling import MatrixIdentity

pytest.importorskip("skl2onnx", reason="the export needs skl2onnx")
pytest.importorskip("onnxruntime", reason="the export is checked with onnxruntime")

from calibrant.export.onnx import run_session

TWO = make_classification(300, random_state=0)
THREE = make_classification(300, n_classes=3, n_informative=5, random_state=0)


@pytest.mark.parametrize("data", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize(
    "estimator",
    [LogisticRegression(), GaussianNB(), make_pipeline(StandardScaler(), LogisticRegression())],
    ids=["decision", "proba", "pipeline"],
)
@pytest.mark.parametrize("method", ["isotonic", "beta"])
def test_probabilities_and_labels_are_the_same(data, estimator, method):
    X, y = data
    model = CalibratedClassifier(estimator, method, cv=2).fit(X, y)
    label, proba = run_session(classifier_to_onnx(model, X), {"X": X})
    # Beta calibration takes log(1 - p), which makes the last digit of a score near 1 the fifth of the answer.
    np.testing.assert_allclose(proba, model.predict_proba(X), rtol=0, atol=1e-5 if method == "beta" else 1e-9)
    assert np.array_equal(label, model.predict(X))


def test_features_can_be_single_precision():
    X, y = TWO
    model = CalibratedClassifier(LogisticRegression(), "platt", cv=2).fit(X, y)
    _, proba = run_session(classifier_to_onnx(model, X, dtype="float32"), {"X": X.astype(np.float32)})
    assert proba.dtype == np.float32
    np.testing.assert_allclose(proba, model.predict_proba(X), rtol=0, atol=1e-4)


def test_string_labels():
    X, y = TWO
    model = CalibratedClassifier(LogisticRegression(), "platt", cv=2).fit(X, np.array(["no", "yes"])[y])
    label, _ = run_session(classifier_to_onnx(model, X), {"X": X})
    assert label.tolist() == model.predict(X).tolist()


def test_an_export_that_differs_is_refused():
    X, y = TWO
    model = CalibratedClassifier(LogisticRegression(), "platt", cv=2).fit(X, y)
    with pytest.raises(ModelFileError, match="differ from the model's"):
        classifier_to_onnx(model, X, dtype="float32", tolerance=1e-15)


@pytest.mark.parametrize("data", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize(
    "options",
    [
        {"method": "isotonic", "multiclass": "top_label"},
        {"method": "spline", "multiclass": "top_label"},
        {"method": "temperature"},
        {"method": "temperature", "response_method": "predict_proba"},
    ],
    ids=["top label, isotonic", "top label, spline", "temperature of logits", "temperature of probabilities"],
)
def test_every_view_of_the_classes_converts(data, options):
    X, y = data
    model = CalibratedClassifier(LogisticRegression(), cv=2, **options).fit(X, y)
    label, proba = run_session(classifier_to_onnx(model, X), {"X": X})
    np.testing.assert_allclose(proba, model.predict_proba(X), rtol=0, atol=1e-9)
    assert np.array_equal(label, model.predict(X))


@pytest.mark.parametrize("options", [{}, {"ensemble": False}, {"method": "vector_scaling"}])
def test_the_default_of_several_classes_converts(options):
    X, y = THREE
    model = CalibratedClassifier(GaussianNB(), cv=2, **options).fit(X, y)
    assert model.calibrated_classifiers_[0].calibrators[0].map_.kind == "matrix"
    label, proba = run_session(classifier_to_onnx(model, X), {"X": X})
    np.testing.assert_allclose(proba, model.predict_proba(X), rtol=0, atol=1e-9)
    assert np.array_equal(label, model.predict(X))


def test_what_cannot_be_converted_is_said():
    X, y = THREE
    half = np.arange(len(y)) % 2 == 0
    folds = [(np.flatnonzero(half & (y < 2)), np.flatnonzero(~half)), (np.flatnonzero(~half), np.flatnonzero(half))]
    with pytest.warns(RuntimeWarning, match="does not match total number of classes"):
        partly = CalibratedClassifier(LogisticRegression(), "isotonic", cv=folds).fit(X, y)
    with pytest.raises(InvalidInputError, match="must know all classes"):
        classifier_to_onnx(partly, X)
    with pytest.raises(InvalidInputError, match="fitted CalibratedClassifier"):
        classifier_to_onnx(CalibratedClassifier(LogisticRegression()), X)
    with pytest.raises(InvalidInputError, match="`dtype`"):
        classifier_to_onnx(partly, X, dtype="int8")


def test_a_foreign_method_for_matrices_is_not_taken_for_a_temperature():
    class AsItIs(MatrixIdentity):
        """Its map is not one of ours."""

        def fit(self, scores, y, sample_weight=None):  # noqa: ARG002 - nothing to learn
            self.map_ = SimpleNamespace(predict_proba=lambda scores: scores)
            return self

    model = CalibratedClassifier(GaussianNB(), AsItIs(), cv=2).fit(*THREE)
    with pytest.raises(InvalidInputError, match="AsItIs cannot be converted to ONNX for several classes"):
        classifier_to_onnx(model, THREE[0])


def test_a_classifier_that_skl2onnx_does_not_know_is_named():
    class Unknown(LogisticRegression):
        pass

    model = CalibratedClassifier(Unknown(), "platt", cv=2).fit(*TWO)
    with pytest.raises(InvalidInputError, match="skl2onnx cannot convert Unknown; choose a classifier that it knows"):
        classifier_to_onnx(model, TWO[0])


def test_only_the_public_names_of_skl2onnx_are_used():
    modules = re.findall(r"skl2onnx[\w.]*", Path(classifiers.__file__).read_text(encoding="utf-8"))
    assert "skl2onnx" in modules
    assert not [name for name in modules if "._" in name]
