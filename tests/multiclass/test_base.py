import numpy as np
import pytest
from sklearn.base import clone

import calibrant
from calibrant.errors import InvalidInputError, NotFittedError
from calibrant.multiclass.blend import MatrixBlend
from calibrant.multiclass.dirichlet import DirichletCalibration
from calibrant.multiclass.matrix_scaling import MatrixScaling
from calibrant.multiclass.vector_scaling import VectorScaling

METHODS = [
    MatrixBlend(),
    VectorScaling(),
    MatrixScaling(),
    DirichletCalibration(),
    DirichletCalibration(regularisation="odir"),
]


@pytest.fixture(params=METHODS, ids=lambda m: f"{m.name}{'_odir' if 'odir' in str(m) else ''}")
def method(request):
    return clone(request.param)


@pytest.fixture(scope="module")
def data():
    """Four classes, scores too sure of themselves, some of them exact zeros."""
    rng = np.random.default_rng(7)
    truth = rng.dirichlet(np.full(4, 0.5), size=300)
    y = np.array([rng.choice(4, p=p) for p in truth])
    scores = truth**1.7 + np.where(truth < 1e-4, -(truth**1.7), 0.0)
    return scores / scores.sum(axis=1, keepdims=True), y


def test_predictions_are_probabilities_and_better_than_the_scores(method, data):
    scores, y = data
    p = method.fit(scores, y).predict_proba(scores)
    assert (p > 0.0).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    at = np.arange(len(y))
    assert np.log(p[at, y]).mean() > np.log(np.maximum(scores[at, y], 1e-6)).mean()
    assert (method.predict(scores) == p).all()


def test_weights_are_repetitions(method, data):
    scores, y = data
    weights = 1.0 + (np.arange(len(y)) % 3 == 0)
    weights[:5] = 0.0
    twice = np.repeat(np.arange(len(y)), weights.astype(int))
    once = clone(method).fit(scores, y, sample_weight=weights).predict_proba(scores)
    np.testing.assert_allclose(once, method.fit(scores[twice], y[twice]).predict_proba(scores), atol=1e-6)


def test_the_order_of_rows_and_of_classes_does_not_matter(method, data):
    scores, y = data
    rows, classes = np.random.default_rng(0).permutation(len(y)), np.array([2, 0, 3, 1])
    p = clone(method).fit(scores, y).predict_proba(scores)
    moved = method.fit(scores[rows][:, classes], np.argsort(classes)[y[rows]]).predict_proba(scores[:, classes])
    np.testing.assert_allclose(moved, p[:, classes], atol=1e-6)


def test_logits_and_probabilities_are_the_same_scores(method, data):
    scores, y = data
    positive = np.maximum(scores, 1e-5) / np.maximum(scores, 1e-5).sum(axis=1, keepdims=True)
    p = clone(method).fit(positive, y).predict_proba(positive)
    q = method.set_params(space="decision").fit(np.log(positive) + 3.0, y).predict_proba(np.log(positive) - 2.0)
    np.testing.assert_allclose(p, q, atol=1e-6)


def test_fitting_twice_gives_the_same_and_the_saved_map_predicts_it(method, data, tmp_path):
    scores, y = data
    p = clone(method).fit(scores, y).predict_proba(scores)
    assert (method.fit(scores, y).predict_proba(scores) == p).all()
    method.save(tmp_path / "map.json")
    loaded = calibrant.load(tmp_path / "map.json")
    assert (loaded(scores) == p).all()
    assert loaded == method.map_
    assert loaded.has_posterior
    np.testing.assert_allclose(loaded.predict_interval(scores), method.predict_interval(scores), atol=1e-5)
    assert loaded.sample_maps(scores[:5], 7).shape == (7, 5, 4)


def test_draws_and_intervals_surround_the_prediction(method, data):
    scores, y = data
    method.fit(scores, y)
    draws = method.sample_maps(scores[:6], n_draws=50, random_state=1)
    assert draws.shape == (50, 6, 4)
    np.testing.assert_allclose(draws.sum(axis=2), 1.0)
    assert (draws == method.sample_maps(scores[:6], n_draws=50, random_state=1)).all()
    low, high = method.predict_interval(scores[:6], level=0.9)
    wide_low, wide_high = method.predict_interval(scores[:6], level=0.99)
    p = method.predict_proba(scores[:6])
    assert ((wide_low <= low) & (low <= p) & (p <= high) & (high <= wide_high)).all()
    assert (low < high).all()


def test_labels_may_be_strings_and_classes_may_be_missing(method, data):
    scores, y = data
    names = np.array(["ant", "bee", "cat", "dog"])
    method.fit(scores, names[y])
    assert method.classes_.tolist() == names.tolist()
    kept = y != 3
    p = clone(method).fit(scores[kept], y[kept]).predict_proba(scores)
    assert (p[:, 3] > 0.0).all()
    assert p[:, 3].mean() < scores[:, 3].mean()


def test_unfitted_and_mismatched_input_is_refused(method, data):
    scores, y = data
    with pytest.raises(NotFittedError, match="not fitted"):
        method.predict_proba(scores)
    with pytest.raises(InvalidInputError, match="requires y"):
        method.fit(scores, None)
    with pytest.raises(InvalidInputError, match="as many rows"):
        method.fit(scores, y[:-1])


def test_every_method_states_its_facts(method):
    assert method.name
    assert method.title
    assert method.description.endswith(".")
    assert method.reference
    assert method.shape == "matrix"
    assert method.bayesian
