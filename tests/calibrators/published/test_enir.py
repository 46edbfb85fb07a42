import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrant import ENIR, IsotonicCalibration, simulate


def test_by_hand():
    # 0 1 0 1 has one model with λ > 0, which pools the middle.
    calibrator = ENIR(target_correction=False).fit([1, 2, 3, 4], [0, 1, 0, 1])
    assert calibrator.predict([0, 1, 1.5, 2, 2.5, 3, 4, 5]).tolist() == [0, 0, 0.25, 0.5, 0.5, 0.5, 1, 1]
    assert calibrator.n_models_ == 1


def test_two_models_by_hand():
    # 1 0 1 0: the outer blocks fall with λ and the inner ones rise; all falls close in two steps, at λ = ½ and 1.
    y = np.array([1.0, 0.0, 1.0, 0.0])
    p = ENIR(target_correction=False).fit([1, 2, 3, 4], y).predict([1, 2, 3, 4])
    assert p[0] == pytest.approx(1 - p[3])
    assert p.mean() == pytest.approx(0.5)


def test_target_correction_avoids_zero_and_one():
    scores, y = np.arange(40), np.arange(40) >= 20
    assert ENIR(target_correction=False).fit(scores, y).predict([0, 39]).tolist() == [0.0, 1.0]
    assert ENIR().fit(scores, y).predict([0, 39]) == pytest.approx([1 / 22, 21 / 22])


def test_close_to_isotonic_where_the_truth_rises():
    data, test = simulate.bayes_iso(10_000, rng=0), simulate.bayes_iso(5000, rng=1)
    ensemble = ENIR().fit(data.scores, data.labels).predict(test.scores)
    isotonic = IsotonicCalibration().fit(data.scores, data.labels).predict(test.scores)
    assert np.abs(ensemble - isotonic).mean() < 0.01
    assert np.abs(ensemble - test.probabilities).mean() < 0.03


@pytest.mark.filterwarnings("ignore:High scores go with the negative class")
def test_recovers_a_fall_that_isotonic_regression_cannot():
    rng = np.random.default_rng(0)
    scores = rng.random(20_000)
    truth = np.where(scores < 0.5, 0.8, 0.3)
    calibrator = ENIR().fit(scores, rng.random(20_000) < truth)
    p = calibrator.predict([0.2, 0.8])
    assert p[0] - p[1] > 0.2
    assert not calibrator.map_.monotone


def test_points_of_the_map_are_few():
    data = simulate.bayes_iso(10_000, rng=0)
    assert len(ENIR().fit(data.scores, data.labels).map_.function.x) < 1000


@pytest.mark.filterwarnings("ignore:High scores go with the negative class")
@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 12), st.booleans(), st.sampled_from([0.5, 1.0, 4.0])), min_size=1, max_size=40)
)
def test_keeps_the_mean_and_the_range(rows):
    scores, y, weights = map(np.array, zip(*rows, strict=True))
    p = ENIR(target_correction=False).fit(scores, y, weights).predict(scores)
    # Every model keeps the weighted mean of the labels, because what λ adds to one block it takes from the next.
    assert np.average(p, weights=weights) == pytest.approx(np.average(y, weights=weights), abs=1e-9)
    assert p.min() >= 0.0
    assert p.max() <= 1.0
