from itertools import combinations

import numpy as np
import pytest

from calibrant import IsotonicCalibration, SegmentedCalibrator, Tally
from calibrant.errors import InvalidInputError
from calibrant.monitoring.segments import NEW, SegmentMonitor, adjust_e_values, compare_segments, name_of


def day(rng, n, shift=0.0):
    z = rng.normal(0.0, 1.2, n)
    return Tally.from_arrays(1 / (1 + np.exp(-z)), rng.random(n) < 1 / (1 + np.exp(-z - shift)))


def test_adjusted_values_are_the_smallest_means_over_sets():
    rng = np.random.default_rng(0)
    for size in (1, 2, 5, 7):
        values = np.exp(rng.normal(0.0, 2.0, size))
        for one, adjusted in enumerate(adjust_e_values(values)):
            others = [i for i in range(size) if i != one]
            sets = [(one, *some) for count in range(size) for some in combinations(others, count)]
            assert adjusted == pytest.approx(min(values[list(chosen)].mean() for chosen in sets))


def test_some_segment_is_named_exactly_when_the_mean_is_large():
    values = np.array([70.0, 3.0, 0.2, 0.1])
    assert adjust_e_values(values).max() == pytest.approx(values.mean())


def test_false_alarms_over_all_segments_and_all_looks_are_rare():
    """Sixty series of four looks at six segments; `benchmarks.accuracy.segment_monitor` has many more."""
    rng = np.random.default_rng(11)
    alarms = 0
    for _ in range(60):
        monitor = SegmentMonitor(range(6))
        for _ in range(4):
            monitor = monitor.updated({g: day(rng, 30) for g in range(6)})
        alarms += bool(monitor.alarms(0.2))
    assert alarms <= 60 * 0.2


def test_the_segment_that_changed_is_named_and_no_other():
    rng = np.random.default_rng(2)
    monitor = SegmentMonitor(["a", "b", "c"])
    for look in range(8):
        monitor = monitor.updated({name: day(rng, 200, 1.0 if name == "b" and look > 3 else 0.0) for name in "abc"})
    assert monitor.alarms() == ["b"]
    assert monitor.e_values()["b"] >= 20.0


def test_new_segments_are_watched_together():
    rng = np.random.default_rng(3)
    monitor = SegmentMonitor(["a"])
    for look in range(5):
        monitor = monitor.updated({"a": day(rng, 200), f"new {look}": day(rng, 200, 1.0)})
    assert monitor.alarms() == [NEW]
    with pytest.raises(InvalidInputError, match="must be distinct"):
        SegmentMonitor(["a", NEW]).updated({})
    with pytest.raises(InvalidInputError, match="`alpha` must lie between 0 and 1"):
        monitor.alarms(2.0)


def test_comparisons_name_segments_and_print_them():
    rng = np.random.default_rng(4)
    reference = {("de", 1): day(rng, 500), ("fr", None): day(rng, 500)}
    current = {("de", 1): day(rng, 500), ("fr", None): day(rng, 500, 1.0), ("mt", 1): day(rng, 10)}
    change = compare_segments(reference, current)
    assert change.alarms() == [("fr", None)]
    assert change.p_value < 0.05
    assert set(change.segments) == {("de", 1), ("fr", None), NEW}
    lines = str(change).splitlines()
    assert lines[0].split()[0] == "segment"
    assert lines[1].startswith("fr · (missing)")
    assert name_of("de") == "de"
    with pytest.raises(InvalidInputError, match="`reference` must have at least one segment"):
        compare_segments({}, current)


def test_maps_turn_scores_into_probabilities():
    rng = np.random.default_rng(5)
    before = {name: day(rng, 3000, shift) for name, shift in {"a": 0.0, "b": 1.0}.items()}
    now = {name: day(rng, 1000, shift) for name, shift in {"a": 0.0, "b": 1.0}.items()}
    map_ = SegmentedCalibrator("platt").fit_tallies(before).map_
    assert compare_segments(before, now, map_=map_).alarms() == []
    assert compare_segments(before, now).alarms() == ["b"]
    pooled = IsotonicCalibration().fit_tally(before["a"] + before["b"]).map_
    assert set(compare_segments(before, now, map_=pooled).alarms()) == {"a", "b"}
    monitor = SegmentMonitor(["a", "b"], map_).updated(now)
    assert monitor.alarms() == []
