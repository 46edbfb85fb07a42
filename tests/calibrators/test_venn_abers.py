import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression

from calibrant import Tally, VennAbers, simulate

# Recorded from the venn-abers package, version 1.5.4, by benchmarks/record/venn_abers_pairs.py.
P0 = [
    0.0,
    0.0,
    0.0,
    0.125,
    0.2,
    0.3333333333333333,
    0.5,
    0.5,
    0.5384615384615384,
    0.8,
    0.8,
    0.8333333333333334,
    0.0,
    0.125,
    0.2,
    0.3333333333333333,
    0.5,
    0.5,
    0.5384615384615384,
    0.8,
    0.8,
    0.8333333333333334,
]
P1 = [
    0.15384615384615385,
    0.25,
    0.25,
    0.4,
    0.5714285714285714,
    0.5833333333333334,
    0.5833333333333334,
    0.9,
    0.9,
    0.9,
    1.0,
    1.0,
    0.15384615384615385,
    0.25,
    0.4,
    0.5714285714285714,
    0.5833333333333334,
    0.5833333333333334,
    0.9,
    0.9,
    0.9,
    1.0,
]
MERGED = [
    0.13333333333333336,
    0.2,
    0.2,
    0.3137254901960785,
    0.41666666666666663,
    0.4666666666666667,
    0.5384615384615384,
    0.6428571428571429,
    0.6610169491525424,
    0.8181818181818181,
    0.8333333333333334,
    0.8571428571428572,
    0.13333333333333336,
    0.2222222222222222,
    0.3333333333333333,
    0.4615384615384615,
    0.5384615384615384,
    0.5384615384615384,
    0.6610169491525424,
    0.8181818181818181,
    0.8181818181818181,
    0.8571428571428572,
]


def recorded_table():
    rng = np.random.default_rng(7)
    scores = np.round(rng.random(40), 1) * 0.9 + 0.05
    labels = (rng.random(40) < scores).astype(int)
    return scores, labels, np.concatenate((np.linspace(0.0, 1.0, 12), np.unique(scores)))


def test_equals_the_venn_abers_package():
    scores, labels, tests = recorded_table()
    calibrator = VennAbers().fit(scores, labels)
    low, high = calibrator.predict_interval(tests)
    np.testing.assert_allclose(low, P0, rtol=0, atol=1e-12)
    np.testing.assert_allclose(high, P1, rtol=0, atol=1e-12)
    np.testing.assert_allclose(calibrator.predict(tests), MERGED, rtol=0, atol=1e-12)


def test_by_hand():
    # Labels 0 1 at 1 2. At 1: with a 0 there, (0 0) 1 → 0; with a 1 there, (0 1) 1 → ½. Beyond both ends: 0 and 1.
    calibrator = VennAbers().fit([1, 2], [0, 1])
    low, high = calibrator.predict_interval([0.5, 1, 1.5, 2, 2.5])
    assert low.tolist() == [0.0, 0.0, 0.0, 0.5, 0.5]
    assert high.tolist() == [0.5, 0.5, 1.0, 1.0, 1.0]
    assert calibrator.predict([1, 1.5, 2]) == pytest.approx([1 / 3, 1 / 2, 2 / 3])


def with_row(scores, y, weights, new, label):
    """Isotonic regression of all rows and one more, at the new score."""
    tally = Tally.from_arrays(np.append(scores, new), np.append(y, label), np.append(weights, 1.0), pos_label=1)
    fit = isotonic_regression(tally.positives / tally.totals, weights=tally.totals).x
    return fit[np.searchsorted(tally.scores, new)]


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 1), st.sampled_from([0.5, 1.0, 3.0])), min_size=1, max_size=15)
)
def test_equals_its_definition(rows):
    scores, y, weights = map(np.array, zip(*rows, strict=True))
    calibrator = VennAbers().fit_tally(Tally.from_arrays(scores, y, weights, pos_label=1))
    tests = np.arange(-0.5, 7.0, 0.5)
    low, high = calibrator.predict_interval(tests)
    np.testing.assert_allclose(low, [with_row(scores, y, weights, t, 0) for t in tests], atol=1e-12)
    np.testing.assert_allclose(high, [with_row(scores, y, weights, t, 1) for t in tests], atol=1e-12)
    p = calibrator.predict(tests)
    assert ((low <= p) & (p <= high)).all()
    assert (np.diff(p) >= 0).all()


def test_jumps_lie_exactly_at_scores():
    scores = np.array([0.1, 0.2, 0.3, 0.4])
    calibrator = VennAbers().fit(scores, [0, 1, 0, 1])
    low, _ = calibrator.predict_interval(np.concatenate((scores, np.nextafter(scores, -1.0))))
    np.testing.assert_array_equal(low[4:], np.concatenate(([0.0], low[:3])))
    _, high = calibrator.predict_interval(np.concatenate((scores, np.nextafter(scores, 1.0))))
    np.testing.assert_array_equal(high[4:], np.concatenate((high[1:4], [1.0])))


def test_the_lowest_double_is_a_score_too():
    lowest = np.finfo(float).min
    calibrator = VennAbers().fit([lowest, 0.0, 1.0], [0, 0, 1])
    assert np.isfinite(calibrator.map_.function.knots()).all()
    assert calibrator.predict([lowest])[0] < 0.5


def test_recovery():
    data, test = simulate.bayes_iso(20_000, rng=0), simulate.bayes_iso(5000, rng=1)
    calibrator = VennAbers().fit(data.scores, data.labels)
    assert np.abs(calibrator.predict(test.scores) - test.probabilities).mean() < 0.02
    low, high = calibrator.predict_interval(test.scores)
    assert (high - low).mean() < 0.02


def test_the_map_keeps_only_its_jumps():
    data = simulate.bayes_iso(20_000, rng=0)
    assert len(VennAbers().fit(data.scores, data.labels).map_.function.edges) < 2000
