import numpy as np
import pytest

from calibrant import BPM, simulate
from calibrant.errors import InvalidInputError
from calibrant.maps.functions import Beta


def test_recovers_d1_as_published():
    """Mean error over a uniform grid at N = 10000: published .0099 (median), .0110 over our 30 seeds."""
    grid = np.linspace(0.0, 1.0, 1001)[1:-1]
    truth = simulate.TRUTHS["D1"](grid)
    errors = []
    for seed in range(30):
        data = simulate.from_truth("D1", 10_000, rng=seed)
        errors.append(np.abs(BPM().fit(data.scores, data.labels).predict(grid) - truth).mean())
    assert 0.008 < np.mean(errors) < 0.0121
    assert 0.008 < np.median(errors) < 0.011


def test_the_map_is_equation_12():
    data = simulate.from_truth("asymmetric", 3000)
    calibrator = BPM().fit(data.scores, data.labels)
    assert calibrator.map_.function.to_dict() == Beta(calibrator.alpha_, calibrator.beta_, -calibrator.c_).to_dict()
    s = np.array([0.2, 0.7])
    expected = 1.0 / (1.0 + s**-calibrator.alpha_ * (1.0 - s) ** calibrator.beta_ * np.exp(calibrator.c_))
    np.testing.assert_allclose(calibrator.predict(s), expected)


@pytest.mark.parametrize("n", [3, 10, 60, 239])
def test_any_number_of_rows(n):
    data = simulate.from_truth("underconfident", n, rng=4)
    y = data.labels.copy()
    y[:2] = [0, 1]
    assert np.isfinite(BPM().fit(data.scores, y).predict([0.0, 0.3, 1.0])).all()


def test_one_class_is_refused():
    with pytest.raises(InvalidInputError, match="both classes"):
        BPM().fit([0.2, 0.4], [1, 1])
