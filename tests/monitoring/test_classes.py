import numpy as np
import pytest

from calibrant import Tally
from calibrant.errors import InvalidInputError
from calibrant.monitoring.classes import Evidence, MatrixMonitor, compare_matrices
from calibrant.monitoring.monitor import CalibrationMonitor


def draw(rng, n, n_classes=3, power=1.0):
    truth = rng.dirichlet(np.ones(n_classes), n)
    y = (truth.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1).clip(max=n_classes - 1)
    p = truth**power
    return y, p / p.sum(axis=1, keepdims=True)


def test_the_evidence_is_a_weighted_mean_by_hand():
    evidence = Evidence(10.0, {"a": 2.0, "b": 300.0, "c": 118.0})
    assert evidence.e_value == 0.5 * 10.0 + 0.5 * 140.0
    # At 5 % each of three classes has a rate of 5 / 6 %: an e-value of 120.
    assert evidence.off(0.05) == ["b"]
    assert evidence.off(0.06) == ["b", "c"]


def test_each_part_is_the_test_of_two_classes():
    rng = np.random.default_rng(0)
    y, p = draw(rng, 500, power=1.5)
    change = compare_matrices((y, p), (y, p))
    alone = CalibrationMonitor().updated(Tally.from_arrays(p[:, 1], y == 1))
    assert change.classes["1"].e_value == pytest.approx(alone.running_e_value)
    top = p.argmax(axis=1)
    hits = CalibrationMonitor().updated(Tally.from_arrays(p.max(axis=1), top == y))
    assert change.top.e_value == pytest.approx(hits.running_e_value)
    parts = [one.e_value for one in change.classes.values()]
    assert change.e_value == pytest.approx(0.5 * hits.running_e_value + 0.5 * np.mean(parts))
    assert change.p_value == pytest.approx(min(1.0, 1.0 / change.e_value))
    assert "mean predicted now" in str(change)


def test_one_rate_of_false_alarms():
    """At most 10 % of 120 series of four looks: 12, and hardly ever more than 20 by chance."""
    rng = np.random.default_rng(1)
    alarms = named = 0
    for _ in range(120):
        monitor = MatrixMonitor(4)
        for _ in range(4):
            monitor = monitor.updated(*draw(rng, 60, 4))
        alarms += monitor.alarm(0.1)
        named += bool(monitor.off(0.1))
    assert alarms <= 20
    assert named <= alarms


def test_a_late_change_is_found_and_named():
    rng = np.random.default_rng(2)
    monitor = MatrixMonitor(3, ["ant", "bee", "cow"])
    assert (monitor.e_value, monitor.alarm()) == (1.0, False)
    for _ in range(5):
        monitor = monitor.updated(*draw(rng, 200))
    assert not monitor.alarm(0.05)
    for _ in range(4):
        y, p = draw(rng, 200)
        monitor = monitor.updated(y, p[:, [0, 2, 1]])
    assert monitor.looks == 9
    assert monitor.alarm(0.05)
    assert set(monitor.off(0.05)) == {"bee", "cow"}


def test_many_classes_are_shown_in_part():
    rng = np.random.default_rng(3)
    rows = draw(rng, 100, 20)
    assert "and 8 more classes" in str(compare_matrices(rows, rows))


def test_refusals():
    rows = draw(np.random.default_rng(4), 50)
    four = draw(np.random.default_rng(4), 50, 4)
    with pytest.raises(InvalidInputError, match="`current` must have the 3 classes of `reference`; got 4"):
        compare_matrices(rows, four)
    with pytest.raises(InvalidInputError, match="`classes` must name the 3 columns; got 1"):
        compare_matrices(rows, rows, classes=["a"])
    with pytest.raises(InvalidInputError, match="`p` must have 3 columns; got 4"):
        MatrixMonitor(3).updated(*four)
    with pytest.raises(InvalidInputError, match="`n_classes` must be"):
        MatrixMonitor(1)
    with pytest.raises(InvalidInputError, match="`alpha` must lie between 0 and 1; got 2"):
        MatrixMonitor(3).alarm(2)
