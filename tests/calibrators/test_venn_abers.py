import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression

from calibrant import Tally, VennAbers, simulate

# Recorded from the venn-abers package, version 1.5.4, by benchmarks/record/venn_abers_pairs.py; all are shares of few
# rows, and so fractions: p0 and p1 at an even grid, then at the scores of the table.
P0_GRID = [0, 0, 0, 1 / 8, 1 / 5, 1 / 3, 1 / 2, 1 / 2, 7 / 13, 4 / 5, 4 / 5, 5 / 6]
P0_SCORES = [0, 1 / 8, 1 / 5, 1 / 3, 1 / 2, 1 / 2, 7 / 13, 4 / 5, 4 / 5, 5 / 6]
P1_GRID = [2 / 13, 1 / 4, 1 / 4, 2 / 5, 4 / 7, 7 / 12, 7 / 12, 9 / 10, 9 / 10, 9 / 10, 1, 1]
P1_SCORES = [2 / 13, 1 / 4, 2 / 5, 4 / 7, 7 / 12, 7 / 12, 9 / 10, 9 / 10, 9 / 10, 1]


def recorded_table():
    rng = np.random.default_rng(7)
    scores = np.round(rng.random(40), 1) * 0.9 + 0.05
    labels = (rng.random(40) < scores).astype(int)
    return scores, labels, np.concatenate((np.linspace(0.0, 1.0, 12), np.unique(scores)))


def test_equals_the_venn_abers_package():
    scores, labels, tests = recorded_table()
    calibrator = VennAbers().fit(scores, labels)
    low, high = calibrator.predict_interval(tests)
    p0, p1 = np.array(P0_GRID + P0_SCORES), np.array(P1_GRID + P1_SCORES)
    np.testing.assert_allclose(low, p0, rtol=0, atol=1e-12)
    np.testing.assert_allclose(high, p1, rtol=0, atol=1e-12)
    np.testing.assert_allclose(calibrator.predict(tests), p1 / (1 - p0 + p1), rtol=0, atol=1e-12)


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
