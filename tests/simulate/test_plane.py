import numpy as np
import pytest

from calibrant import simulate


def test_xor_defeats_the_regression_but_not_its_calibration():
    accuracies = []
    for seed in range(8):
        data = simulate.xor(2000, rng=seed)
        assert ((data.scores > 0.5) == data.labels).mean() < 0.75
        accuracies.append(((data.probabilities > 0.5) == data.labels).mean())
    assert max(accuracies) > 0.8


def test_circular_is_a_hill():
    data = simulate.circular(5000, rng=1)
    order = np.argsort(data.scores)
    truth = data.probabilities[order]
    assert truth[0] == truth[-1] == 0.0
    assert truth[2000:3000].min() > 0.5
    assert ((data.probabilities > 0.5) == data.labels).mean() == pytest.approx(0.8, abs=0.03)


def test_separable_truths_are_certain():
    data = simulate.separable(5000, rng=1)
    assert np.array_equal(data.probabilities, data.labels)
    assert 0.01 < data.error < 0.05
