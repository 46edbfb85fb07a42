"""Several classifiers, fitted or not, calibrated together to one probability."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

from calibrant import CalibratedClassifier, PanelCalibrator
from calibrant.errors import InvalidInputError

LEARNERS = {
    "forest": RandomForestClassifier(30, random_state=0),
    "bayes": GaussianNB(),
    "machine": LinearSVC(random_state=0),
}


@pytest.fixture(scope="module")
def rows():
    return make_classification(1600, 12, n_informative=5, flip_y=0.1, class_sep=0.8, random_state=1)


@pytest.fixture(scope="module")
def fitted(rows):
    X, y = rows
    return {name: FrozenEstimator(clone(model).fit(X[:400], y[:400])) for name, model in LEARNERS.items()}


def test_fitted_models_are_the_columns_of_a_panel(rows, fitted):
    X, y = rows
    model = CalibratedClassifier(fitted).fit(X[400:800], y[400:800])
    columns = {
        "forest": fitted["forest"].predict_proba(X)[:, 1],
        "bayes": fitted["bayes"].predict_proba(X)[:, 1],
        "machine": fitted["machine"].decision_function(X),
    }
    panel = PanelCalibrator(space={"machine": "decision"})
    panel.fit({name: column[400:800] for name, column in columns.items()}, y[400:800])
    new = {name: column[800:] for name, column in columns.items()}
    np.testing.assert_allclose(model.predict_proba(X[800:]), panel.predict_proba(new), atol=1e-12)
    np.testing.assert_allclose(model.predict_interval(X[800:], 0.8), panel.predict_interval(new, 0.8), atol=1e-12)
    assert all(name in model.summary() for name in fitted)
    together = log_loss(y[800:], model.predict_proba(X[800:]))
    alone = [CalibratedClassifier(one).fit(X[400:800], y[400:800]).predict_proba(X[800:]) for one in fitted.values()]
    assert together < min(log_loss(y[800:], p) for p in alone) + 0.005
    listed = CalibratedClassifier(list(fitted.values())).fit(X[400:800], y[400:800])
    np.testing.assert_allclose(listed.predict_proba(X[800:]), model.predict_proba(X[800:]), atol=1e-9)


@pytest.mark.parametrize("ensemble", [True, False])
def test_models_that_are_not_fitted_are_cross_fitted(rows, ensemble):
    X, y = rows
    learners = {"bayes": GaussianNB(), "line": LogisticRegression()}
    model = CalibratedClassifier(learners, cv=3, ensemble=ensemble).fit(X[:600], y[:600], np.ones(600))
    assert len(model.calibrated_classifiers_) == (3 if ensemble else 1)
    low, high = model.predict_interval(X[600:])
    p = model.predict_proba(X[600:])[:, 1]
    assert np.mean((low <= p) & (p <= high)) > 0.99
    alone = CalibratedClassifier(LogisticRegression(), cv=3, ensemble=ensemble).fit(X[:600], y[:600])
    assert log_loss(y[600:], p) < log_loss(y[600:], alone.predict_proba(X[600:])[:, 1]) + 0.005


def test_scikit_learn_copies_and_changes_them(rows, fitted):
    X, y = rows
    model = CalibratedClassifier(fitted)
    np.testing.assert_array_equal(
        clone(model).fit(X[400:600], y[400:600]).predict_proba(X[:9]),
        model.fit(X[400:600], y[400:600]).predict_proba(X[:9]),
    )
    learners = CalibratedClassifier({"line": LogisticRegression(), "near": KNeighborsClassifier()}, cv=2)
    assert clone(learners).get_params()["near__n_neighbors"] == 5
    search = GridSearchCV(learners, {"near__n_neighbors": [3, 9]}, cv=2).fit(X[:200], y[:200])
    assert search.best_estimator_.estimator["near"].n_neighbors == search.best_params_["near__n_neighbors"]
    with config_context(enable_metadata_routing=True):
        learners.set_fit_request(sample_weight=True).fit(X[:200], y[:200], sample_weight=np.ones(200))
    assert cross_val_score(CalibratedClassifier([GaussianNB()], cv=2), X[:200], y[:200], cv=2).mean() > 0.6


def test_segments_are_a_column_of_the_panel(rows):
    X, y = rows
    team = np.where(np.arange(len(y)) % 2, "left", "right")
    labels = np.where(team == "left", y, 0)
    model = CalibratedClassifier([GaussianNB(), LogisticRegression()], cv=2).fit(X, labels, segment=team)
    assert model.predict_proba(X, segment=team)[team == "right", 1].max() < 0.2
    assert (np.subtract(*model.predict_interval(X[:20], segment=team[:20])) < 0.0).all()
    with pytest.raises(InvalidInputError, match="`segment` must be given for every row"):
        model.predict_proba(X)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"estimator": {}}, "`estimator` must be a classifier, or a dictionary of names to classifiers"),
        ({"estimator": {"a": 3}}, "`estimator` must be a classifier, or a dictionary of names to classifiers"),
        ({"estimator": [GaussianNB()], "method": "platt"}, "Several classifiers must have the default `method`"),
        ({"estimator": [GaussianNB()], "multiclass": "top_label"}, "Several classifiers must have the default"),
        ({"estimator": [LinearSVC()], "response_method": "predict_proba"}, "`estimator` must have predict_proba"),
    ],
)
def test_what_is_refused(rows, options, message):
    with pytest.raises(InvalidInputError, match=message):
        CalibratedClassifier(**options).fit(*rows)


def test_unlabelled_rows_are_not_estimated(rows, fitted):
    model = CalibratedClassifier(fitted).fit(*rows)
    with pytest.raises(InvalidInputError, match="`estimate` must have one score of each row"):
        model.estimate(rows[0])


def test_several_classes_are_pooled_to_one_matrix():
    X, y = make_classification(2400, 12, n_informative=6, n_classes=3, flip_y=0.1, random_state=0)
    names = np.array(["ant", "bee", "cat"])[y]
    learners = {"near": KNeighborsClassifier(20), "bayes": GaussianNB(), "line": LogisticRegression()}
    fitted = {name: FrozenEstimator(model.fit(X[:600], names[:600])) for name, model in learners.items()}
    rows, other = slice(600, 1200), slice(1200, None)
    model = CalibratedClassifier(fitted).fit(X[rows], names[rows], np.ones(600))
    p = model.predict_proba(X[other])
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    alone = [CalibratedClassifier(one).fit(X[rows], names[rows]).predict_proba(X[other]) for one in fitted.values()]
    assert log_loss(names[other], p) < min(log_loss(names[other], q) for q in alone) + 0.005
    low, high = model.predict_interval(X[other])
    assert ((low <= p) & (p <= high)).all()
    assert low.shape == (1200, 3)
    turned = CalibratedClassifier(dict(reversed(fitted.items()))).fit(X[rows], names[rows])
    np.testing.assert_allclose(turned.predict_proba(X[other]), p, atol=1e-9)
    crossed = CalibratedClassifier([GaussianNB(), LogisticRegression()], cv=2).fit(X[rows], y[rows])
    assert crossed.predict_proba(X[other]).shape == (1200, 3)
    assert "Models of 3 classes (ant, bee, cat)" in model.summary()
    with pytest.raises(InvalidInputError, match="One matrix of several needs probabilities"):
        CalibratedClassifier([GaussianNB(), LinearSVC()]).fit(X[rows], y[rows])
    against_rest = CalibratedClassifier([GaussianNB(), LinearSVC()], multiclass="one_vs_rest", cv=2)
    assert against_rest.fit(X[rows], y[rows]).predict_proba(X[other]).shape == (1200, 3)
