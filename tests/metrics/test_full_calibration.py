import numpy as np
import pytest

from calibrant.errors import InvalidInputError
from calibrant.metrics import multiclass
from calibrant.metrics.multiclass import full_calibration_test


def draw(p, rng):
    return (rng.random((len(p), 1)) > p.cumsum(axis=1)[:, :-1]).sum(axis=1)


def matrix(rng, n=300, k=4):
    return rng.dirichlet(np.full(k, 0.5), size=n)


def test_calibrated_probabilities_are_rejected_as_often_as_the_level_says():
    rng = np.random.default_rng(0)
    p_values = []
    for _ in range(400):
        p = matrix(rng, n=60)
        p_values.append(full_calibration_test(draw(p, rng), p, n_simulations=99, rng=rng).p_value)
    # 400 tests at 5 %: 20 ± 4.4 rejections.
    assert 8 <= np.sum(np.array(p_values) <= 0.05) <= 34
    assert 0.42 <= np.mean(p_values) <= 0.59


@pytest.mark.parametrize("error", ["temperature", "frequency", "swap"])
def test_errors_are_found(error):
    rng = np.random.default_rng(1)
    p = matrix(rng, n=1000)
    y = draw(p, rng)
    if error == "temperature":
        wrong = p**1.4
    elif error == "frequency":
        wrong = p * [1.5, 1.0, 1.0, 1.0]
    else:  # a part of class 0 belongs to class 1
        wrong = p + np.outer(p[:, 0], [-0.2, 0.2, 0.0, 0.0])
    wrong = wrong / wrong.sum(axis=1, keepdims=True)
    assert full_calibration_test(y, wrong).p_value <= 0.01


def test_squared_gaps_by_hand():
    p = np.array([[0.5, 0.5], [0.25, 0.75]])
    families = multiclass._Gaps(p, np.ones(2)).families(np.array([0, 1]))
    variance = 0.25 + 3 / 16
    assert families[1] == pytest.approx(2 * (1 - 0.75) ** 2 / variance)
    gap = np.log(0.5) + np.log(0.75) - (np.log(0.5) + 0.25 * np.log(0.25) + 0.75 * np.log(0.75))
    assert families[0] == pytest.approx(gap**2)


def test_sure_and_right_is_not_rejected_and_sure_and_wrong_is():
    y = np.arange(30) % 3
    assert full_calibration_test(y, np.eye(3)[y]).p_value == 1.0
    assert full_calibration_test(y, np.eye(3)[(y + 1) % 3], n_simulations=99).p_value == 0.01


def test_the_same_seed_gives_the_same_answer_and_many_rows_are_thinned(monkeypatch):
    rng = np.random.default_rng(2)
    p = matrix(rng)
    y = draw(p, rng)
    whole = full_calibration_test(y, p, n_simulations=50)
    assert whole == full_calibration_test(y, p, n_simulations=50)
    monkeypatch.setattr(multiclass, "MOST_ENTRIES", 600)
    thinned = full_calibration_test(y, p, n_simulations=50)
    assert thinned == full_calibration_test(y[::2], p[::2], n_simulations=50)


def test_many_classes_do_without_pairs():
    rng = np.random.default_rng(3)
    p = matrix(rng, n=100, k=40)
    assert len(multiclass._Gaps(p, np.ones(100)).families(draw(p, rng))) == 3


def test_at_least_one_simulation():
    with pytest.raises(InvalidInputError, match="`n_simulations`"):
        full_calibration_test([0, 1, 2], np.eye(3), n_simulations=0)
