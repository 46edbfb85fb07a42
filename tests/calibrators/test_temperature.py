import numpy as np
import pytest
from scipy import special
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

import calibrant
from calibrant import TemperatureScaling
from calibrant.errors import InvalidInputError, NotFittedError


class Features(LogisticRegression):
    """A model whose answers are its features."""

    def decision_function(self, X):
        return X if X.shape[1] > 1 else X[:, 0]


def scikit_learn(X, y, weights=None):
    pytest.importorskip("sklearn", minversion="1.8")  # the first with temperatures
    frozen = FrozenEstimator(Features().fit(X, y))
    return CalibratedClassifierCV(frozen, method="temperature", ensemble=False).fit(X, y, sample_weight=weights)


def binary(n=400, temperature=2.5, seed=0):
    rng = np.random.default_rng(seed)
    z = 3.0 * rng.standard_normal(n)
    return z, (rng.random(n) < special.expit(z / temperature)).astype(int)


def matrix(n=400, n_classes=4, temperature=2.5, seed=0):
    rng = np.random.default_rng(seed)
    logits = 4.0 * rng.standard_normal((n, n_classes))
    return logits, np.argmax(logits / temperature + rng.gumbel(size=logits.shape), axis=1)


def test_by_hand():
    # Three of four are right at a logit of ±1: expit(1/T) = 3/4.
    calibrator = TemperatureScaling(space="decision").fit([1.0, 1.0, -1.0, -1.0], [1, 1, 0, 1])
    assert calibrator.temperature_ == pytest.approx(1.0 / np.log(3.0))
    np.testing.assert_allclose(calibrator.predict([-1.0, 0.0, 1.0]), [0.25, 0.5, 0.75], atol=1e-9)


@pytest.mark.filterwarnings("ignore:Since FrozenEstimator does not appear to accept sample_weight")
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("weighted", [False, True])
def test_two_classes_agree_with_scikit_learn(seed, weighted):
    z, y = binary(seed=seed)
    weights = np.random.default_rng(seed).uniform(0.2, 3.0, len(y)) if weighted else None
    expected = scikit_learn(z[:, None], y, weights).predict_proba(z[:, None])
    ours = TemperatureScaling(space="decision").fit(z, y, weights)
    np.testing.assert_allclose(ours.predict_proba(z), expected, rtol=0, atol=1e-6)
    on_probabilities = TemperatureScaling().fit(special.expit(z), y, weights)
    np.testing.assert_allclose(on_probabilities.predict(special.expit(z)), expected[:, 1], rtol=0, atol=1e-6)


@pytest.mark.filterwarnings("ignore:Since FrozenEstimator does not appear to accept sample_weight")
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("weighted", [False, True])
def test_several_classes_agree_with_scikit_learn(seed, weighted):
    logits, y = matrix(seed=seed)
    weights = np.random.default_rng(seed).uniform(0.2, 3.0, len(y)) if weighted else None
    expected = scikit_learn(logits, y, weights).predict_proba(logits)
    ours = TemperatureScaling(space="decision").fit(logits, y, weights)
    np.testing.assert_allclose(ours.predict_proba(logits), expected, rtol=0, atol=1e-6)
    proba = special.softmax(logits, axis=1)
    np.testing.assert_allclose(
        TemperatureScaling().fit(proba, y, weights).predict_proba(proba), expected, rtol=0, atol=1e-6
    )


@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
def test_recovers_the_truth(temperature):
    z, y = binary(100_000, temperature)
    assert TemperatureScaling(space="decision").fit(z, y).temperature_ == pytest.approx(temperature, rel=0.04)
    logits, labels = matrix(30_000, temperature=temperature)
    assert TemperatureScaling(space="decision").fit(logits, labels).temperature_ == pytest.approx(temperature, rel=0.04)


def test_scores_that_say_nothing_leave_the_temperature_at_one():
    assert TemperatureScaling().fit([0.5, 0.5, 0.5], [0, 1, 1]).temperature_ == 1.0


def test_the_temperature_is_bounded():
    wrong = TemperatureScaling().fit([0.2, 0.8], [1, 0])
    assert wrong.temperature_ == pytest.approx(np.exp(10.0))
    np.testing.assert_allclose(wrong.predict([0.2, 0.8]), 0.5, atol=1e-4)
    right = TemperatureScaling(space="decision").fit([-1e-9, 1e-9], [0, 1])
    assert right.temperature_ == pytest.approx(np.exp(-10.0))


def test_labels_of_the_columns():
    logits, y = matrix()
    plain = TemperatureScaling(space="decision").fit(logits, y)
    np.testing.assert_array_equal(plain.classes_, np.arange(4))
    words = TemperatureScaling(space="decision").fit(logits, np.array(list("abcd"))[y])
    assert words.classes_.tolist() == list("abcd")
    assert words.temperature_ == plain.temperature_
    rare = TemperatureScaling(space="decision").fit(logits[y != 2], y[y != 2])
    assert rare.classes_.tolist() == [0, 1, 2, 3]
    with pytest.raises(InvalidInputError, match="`y` must have one label for each of the 4 columns"):
        TemperatureScaling(space="decision").fit(logits[y != 2], np.array(list("abcd"))[y[y != 2]])


def test_the_most_likely_class_never_changes():
    logits, y = matrix()
    proba = TemperatureScaling(space="decision").fit(logits, y).predict_proba(logits)
    np.testing.assert_array_equal(proba.argmax(axis=1), logits.argmax(axis=1))
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)


def test_a_matrix_fit_has_no_binary_map(tmp_path):
    logits, y = matrix()
    calibrator = TemperatureScaling(space="decision").fit(logits, y)
    calibrator.save(tmp_path / "map.json")
    assert (calibrant.load(tmp_path / "map.json")(logits) == calibrator.predict(logits)).all()
    with pytest.raises(InvalidInputError, match="`scores` must have the 4 columns of the fit; got 3"):
        calibrator.predict_proba(logits[:, :3])


def test_fitting_again_with_two_classes_forgets_the_matrix():
    calibrator = TemperatureScaling(space="decision").fit(*matrix())
    calibrator.fit(*binary())
    assert calibrator.predict([0.0]).tolist() == [0.5]
    calibrator.fit(*matrix())
    assert calibrator.map_.kind == "matrix"
    with pytest.raises(NotFittedError):
        TemperatureScaling().predict_proba(matrix()[0])
