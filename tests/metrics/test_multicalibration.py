import numpy as np
import pytest

from calibrant.errors import InvalidInputError
from calibrant.metrics.multicalibration import multicalibration_error


def slow_statistic(y, p, inside):
    """The largest |Σ (y − p)| up to any probability, over the spread of the whole sum."""
    y, p = y[inside], p[inside]
    sums = [abs(np.sum((y - p)[p <= t])) for t in np.unique(p)]
    return max(sums) / np.sqrt(max(np.sum(p * (1.0 - p)), 1.0))


def draw_rows(n, seed, segments=4):
    rng = np.random.default_rng(seed)
    p = rng.beta(1.0, 2.0, n).round(2)
    return (rng.random(n) < p).astype(int), p, rng.integers(0, segments, n), rng.choice(["x", "y"], n)


def test_statistic_and_segment_agree_with_the_obvious_way():
    y, p, a, b = draw_rows(300, 0)
    found = multicalibration_error(y, p, segment={"a": a, "b": b}, n_simulations=19)
    places = [{}] + [{"a": g} for g in range(4)] + [{"b": h} for h in "xy"]
    places += [{"a": g, "b": h} for g in range(4) for h in "xy"]
    columns = {"a": a, "b": b}
    slow = [
        slow_statistic(y, p, np.all([np.ones(300, bool), *(columns[k] == v for k, v in place.items())], axis=0))
        for place in places
    ]
    assert found.statistic == pytest.approx(max(slow))
    assert found.segment == places[int(np.argmax(slow))]
    assert found.n_segments == 15
    assert multicalibration_error(y, p, segment={"a": a, "b": b}, depth=1, n_simulations=19).n_segments == 7


def test_by_hand():
    y, p, segment = [1, 1, 1, 1, 1, 0, 1, 0], [0.5] * 8, ["a"] * 4 + ["b"] * 4
    found = multicalibration_error(y, p, segment=segment, n_simulations=99)
    # in "a" the gap is 4 − 2 with a spread of √(4 · ¼) = 1; over all rows it is 2 with a spread of √2
    assert found.statistic == pytest.approx(2.0)
    assert found.segment == {"segment": "a"}
    assert found.error == pytest.approx(0.5)
    # each simulated "a" or "b" has a gap of 2 with probability ⅛: at least one of them has it in 15 of 64 cases
    assert multicalibration_error(y, p, segment=segment, n_simulations=4000).p_value == pytest.approx(15 / 64, abs=0.03)


def test_a_segment_that_is_off_is_found():
    y, p, a, b = draw_rows(4000, 1)
    y = np.where((a == 2) & (b == "y"), np.random.default_rng(2).random(4000) < np.sqrt(p), y)
    found = multicalibration_error(y, p, segment={"a": a, "b": b}, n_simulations=199)
    assert found.segment == {"a": 2, "b": "y"}
    assert found.p_value == pytest.approx(1 / 200)
    assert found.error > found.smallest_error > 0.0
    assert "a = 2, b = y" in str(found)
    assert "more than chance" in str(found)


def test_weights_are_rows():
    y, p, a, _ = draw_rows(200, 3)
    weights = np.random.default_rng(0).integers(0, 3, 200)
    rows = np.repeat(np.arange(200), weights)
    one = multicalibration_error(y, p, segment=a, sample_weight=weights, n_simulations=49)
    other = multicalibration_error(y[rows], p[rows], segment=a[rows], n_simulations=49)
    assert one == other


def test_many_rows_are_joined_to_cells():
    rng = np.random.default_rng(0)
    p, a = rng.random(60_000), rng.integers(0, 3, 60_000)
    y = rng.random(60_000) < p
    found = multicalibration_error(y, p, segment=a, n_simulations=99)
    exact = max(slow_statistic(y, p.round(3), a == g) for g in range(3))
    assert found.statistic == pytest.approx(max(exact, slow_statistic(y, p.round(3), np.ones(60_000, bool))), rel=0.1)
    assert found.p_value > 0.05


@pytest.mark.parametrize("segments", [5, 50])
def test_calibrated_probabilities_are_rarely_rejected(segments):
    """A light version of benchmarks/accuracy/multicalibration.py."""
    rejected = 0
    for seed in range(100):
        y, p, a, _ = draw_rows(300, [seed, segments], segments)
        rejected += multicalibration_error(y, p, segment=a, n_simulations=59, rng=seed).p_value <= 0.05
    assert rejected <= 12  # of 100; more happens once in 700 times


def test_bad_input():
    with pytest.raises(InvalidInputError, match="`depth` must be 1 or 2"):
        multicalibration_error([0, 1], [0.2, 0.8], segment=[1, 2], depth=3)
    with pytest.raises(InvalidInputError, match="whole numbers"):
        multicalibration_error([0, 1], [0.2, 0.8], segment=[1, 2], sample_weight=[0.5, 1.0])
    with pytest.raises(InvalidInputError, match="`n_simulations` must be an integer of at least 19"):
        multicalibration_error([0, 1], [0.2, 0.8], segment=[1, 2], n_simulations=5)
