import numpy as np
import pytest

from calibrant import Tally, compare
from calibrant.errors import InvalidInputError
from calibrant.report.matrix_study import make_matrix_study, read_matrices


def draw(n=300, seed=0):
    """Three classes whose probabilities are too extreme."""
    rng = np.random.default_rng(seed)
    truth = rng.dirichlet(np.ones(3), n)
    y = (truth.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
    return truth**2 / (truth**2).sum(axis=1, keepdims=True), np.array(["ant", "bee", "cow"])[y]


@pytest.fixture(scope="module")
def comparison():
    return compare(*draw(), methods=["temperature", "vector_scaling"])


def test_the_rows_of_a_comparison(comparison):
    scores, y = draw()
    matrices = read_matrices(comparison, "temperature")
    assert matrices.names == ("ant", "bee", "cow")
    np.testing.assert_array_equal(matrices.before, scores)
    np.testing.assert_array_equal(matrices.predicted, scores.argmax(axis=1))
    np.testing.assert_array_equal(np.array(matrices.names)[matrices.labels], y)
    np.testing.assert_array_equal(matrices.after, comparison.fits["temperature"].out_of_fold.probabilities)
    assert matrices.tally(1, "before") == Tally.from_arrays(scores[:, 1], y == "bee")
    assert read_matrices(comparison, "temperature", [1, 2, 3]).names == ("1", "2", "3")


def test_repeats_are_shown_once():
    scores, y = draw(60)
    comparison = compare(scores, y, methods=["temperature"], repeats=3, sample_weight=np.arange(60) % 3)
    matrices = read_matrices(comparison, "temperature")
    assert matrices.after.shape == (40, 3)
    assert matrices.weights.sum() == 60.0


def test_the_study_is_of_the_predicted_class(comparison):
    scores, y = draw()
    study = make_matrix_study(comparison)
    assert study.name in ("temperature", "vector_scaling")
    assert next(iter(study.maps)) == study.name
    assert set(study.maps) == {"temperature", "vector_scaling"}
    assert study.base_rate == np.mean(np.array(["ant", "bee", "cow"])[scores.argmax(axis=1)] == y)
    assert study.before.error.value > study.after.error.value
    assert study.calibrate
    curve = study.maps["temperature"]
    assert (np.diff(curve["score"]) > 0).all()
    assert (curve["probability"] < curve["score"]).mean() > 0.9  # they were too sure


def test_the_method_must_have_been_compared(comparison):
    assert make_matrix_study(comparison, "vector_scaling").name == "vector_scaling"
    with pytest.raises(InvalidInputError, match=r"`method` must be one of the methods compared, .*; got 'dirichlet'"):
        make_matrix_study(comparison, "dirichlet")
    with pytest.raises(InvalidInputError, match="at least one method"):
        make_matrix_study(compare(*draw(60), methods=["identity"]))
