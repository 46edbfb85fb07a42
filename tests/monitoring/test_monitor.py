import numpy as np
import pytest
from scipy import special, stats

from calibrant import CalibrationMap, IsotonicCalibration, PlattScaling, Tally, simulate
from calibrant.errors import InvalidInputError, ModelFileError
from calibrant.maps import functions
from calibrant.maps.files import write_model
from calibrant.monitoring.monitor import CalibrationMonitor, compare_tallies, update

GRID = np.linspace(0.02, 0.98, 49)


def day(rng, truth, n=200):
    counts = np.bincount(rng.integers(0, len(GRID), n), minlength=len(GRID))
    kept = counts > 0
    positives = rng.binomial(counts[kept], truth(GRID[kept]))
    return Tally(GRID[kept], positives.astype(float), counts[kept].astype(float))


def shifted(amount):
    return lambda p: special.expit(special.logit(p) + amount)


def test_one_alternative_by_hand():
    # One row at 1/2 that is positive: every alternative p' contributes p' / (1/2).
    monitor = CalibrationMonitor().updated(Tally.from_arrays([0.5], [1]))
    shifts = np.repeat([-1.6, -0.8, -0.4, -0.2, -0.1, 0.0, 0.1, 0.2, 0.4, 0.8, 1.6], 7)
    lines = np.delete(shifts, 5 * 7 + 3)  # without the identity
    local = [a * (i == 3) for a in (-0.8, -0.3, 0.3, 0.8) for i in range(8)]
    expected = np.mean(special.expit(np.concatenate((lines, local))) / 0.5)
    assert monitor.running_e_value == pytest.approx(expected)
    # Today's change has weight 1/2, and with weight 1/2 it has not begun.
    assert monitor.e_value == pytest.approx(0.5 * expected + 0.5 * (0.5 * expected + 0.5))


def test_false_alarms_over_a_thousand_looks():
    rng = np.random.default_rng(0)
    alarms = 0
    for _ in range(30):
        monitor = CalibrationMonitor()
        for _ in range(100):
            monitor = monitor.updated(day(rng, lambda p: p, 20))
        alarms += monitor.alarm(0.05)
    # 1000 looks and 300 series are in benchmarks/accuracy/monitoring.py; here 30 series of 100 looks.
    assert alarms <= stats.binom.ppf(0.999, 30, 0.05)


def test_the_mean_of_the_evidence_stays_one_while_calibration_holds():
    rng = np.random.default_rng(1)
    values = [CalibrationMonitor().updated(day(rng, lambda p: p, 3)).e_value for _ in range(1500)]
    assert np.mean(values) == pytest.approx(1.0, abs=0.06)


@pytest.mark.parametrize("truth", [shifted(0.4), shifted(-0.4), lambda p: special.expit(0.6 * special.logit(p))])
def test_drift_is_found(truth):
    rng = np.random.default_rng(2)
    monitor = CalibrationMonitor()
    for _ in range(30):
        monitor = monitor.updated(day(rng, truth))
    assert monitor.alarm(0.05)


def test_a_late_change_is_found_too():
    rng = np.random.default_rng(3)
    monitor = CalibrationMonitor()
    for _ in range(100):
        monitor = monitor.updated(day(rng, lambda p: p))
    assert not monitor.alarm(0.05)
    for _ in range(20):
        monitor = monitor.updated(day(rng, shifted(0.6)))
    assert monitor.alarm(0.05)


def test_evidence_since_the_start_depends_on_the_sum_alone():
    rng = np.random.default_rng(4)
    a, b = day(rng, shifted(0.1)), day(rng, shifted(0.1))
    apart = CalibrationMonitor().updated(a).updated(b).running_e_value
    assert apart == pytest.approx(CalibrationMonitor().updated(a + b).running_e_value)


def test_a_map_turns_scores_into_what_is_tested():
    rng = np.random.default_rng(5)
    map_ = CalibrationMap(functions.Sigmoid(1.0, 0.5, "logit"), "probability", True)
    current = day(rng, shifted(0.5), 3000)
    assert compare_tallies(current, current, map_=map_).p_value > 0.05
    assert compare_tallies(current, current).p_value < 1e-6


def test_nothing_moved():
    tally = day(np.random.default_rng(6), lambda p: p, 1000)
    result = compare_tallies(tally, tally)
    assert result.score_shift == 0.0
    assert result.population_stability_index == 0.0
    assert result.base_rate_interval[0] < 0.0 < result.base_rate_interval[1]
    assert result.rows == (1000.0, 1000.0)


def test_shift_of_scores_and_base_rate_by_hand():
    reference = Tally.from_arrays([0.2] * 50 + [0.8] * 50, [0] * 90 + [1] * 10)
    current = Tally.from_arrays([0.2] * 20 + [0.8] * 80, [0] * 50 + [1] * 50)
    result = compare_tallies(reference, current)
    assert result.score_shift == pytest.approx(0.3)
    p, q = np.array([50.5, 50.5]) / 101, np.array([20.5, 80.5]) / 101
    assert result.population_stability_index == pytest.approx(((q - p) * np.log(q / p)).sum())
    assert result.base_rates == (0.1, 0.5)
    assert result.mean_predicted == pytest.approx(0.68)
    low, high = result.base_rate_interval
    assert low < 0.4 < high
    assert high - low < 0.25


def test_update_counts_old_rows_less():
    old, new = Tally.from_arrays([1, 2], [0, 0]), Tally.from_arrays([2, 3], [1, 1])
    calibrator, total = update(IsotonicCalibration(target_correction=False), old, new, forgetting=0.5)
    assert total.scores.tolist() == [1, 2, 3]
    assert total.totals.tolist() == [0.5, 1.5, 1.0]
    assert calibrator.predict([2])[0] == pytest.approx(1 / 1.5)


def test_update_without_forgetting_is_a_fit_to_all_rows():
    rng = np.random.default_rng(7)
    s, y = rng.random(300), rng.random(300) < 0.4
    halves = [Tally.from_arrays(s[i::2], y[i::2]) for i in range(2)]
    calibrator, total = update(IsotonicCalibration(), *halves)
    assert total == Tally.from_arrays(s, y)
    assert calibrator.map_ == IsotonicCalibration().fit(s, y).map_
    assert len(update(IsotonicCalibration(), *halves, max_cells=20)[1]) <= 20


def test_scaled_tallies():
    tally = Tally.from_arrays([1, 2], [0, 1])
    assert tally.scaled(2.0) == tally + tally
    with pytest.raises(InvalidInputError, match="`factor` must be positive"):
        tally.scaled(0.0)


def test_what_cannot_be_tested_is_refused():
    tally = Tally.from_arrays([0.5], [1])
    with pytest.raises(InvalidInputError, match="`current` must have at least one row"):
        compare_tallies(tally, Tally.empty())
    with pytest.raises(InvalidInputError, match="must count whole rows"):
        CalibrationMonitor().updated(tally.scaled(0.5))
    with pytest.raises(InvalidInputError, match=r"must lie in \[0, 1\]"):
        CalibrationMonitor().updated(Tally.from_arrays([2.0], [1]))
    with pytest.raises(InvalidInputError, match="`forgetting`"):
        update(IsotonicCalibration(), tally, tally, forgetting=0.0)
    with pytest.raises(InvalidInputError, match="`alpha`"):
        CalibrationMonitor().alarm(2.0)
    assert CalibrationMonitor().updated(Tally.empty()).e_value == 1.0


def test_rows_may_come_as_arrays():
    scores, labels = [0.1, 0.4, 0.4], ["no", "yes", "no"]
    by_arrays = CalibrationMonitor().updated(scores, labels, pos_label="yes")
    by_tally = CalibrationMonitor().updated(Tally.from_arrays(scores, labels, pos_label="yes"))
    assert by_arrays.e_value == by_tally.e_value
    with pytest.raises(InvalidInputError, match="`y` must be given"):
        CalibrationMonitor().updated(scores)
    with pytest.raises(InvalidInputError, match="pass it alone"):
        CalibrationMonitor().updated(Tally.from_arrays(scores, [0, 1, 1]), labels)


def test_a_saved_monitor_goes_on_where_it_was(tmp_path):
    map_ = PlattScaling().fit([0.1, 0.4, 0.6, 0.9], [0, 1, 0, 1]).map_
    rng = np.random.default_rng(0)
    for start in (CalibrationMonitor(), CalibrationMonitor(map_)):
        first, second = (Tally.from_arrays(rng.random(50), rng.random(50) < 0.5) for _ in range(2))
        monitor = start.updated(first)
        monitor.save(tmp_path / "monitor.json")
        loaded = CalibrationMonitor.load(tmp_path / "monitor.json")
        assert repr(loaded) == repr(monitor)
        assert loaded.updated(second).largest_e_value == monitor.updated(second).largest_e_value
        start.save(tmp_path / "fresh.json")
        assert CalibrationMonitor.load(tmp_path / "fresh.json").looks == 0


@pytest.mark.parametrize(
    ("change", "message"), [({"looks": None}, "not a sound monitor"), ({"from_start": [0.0]}, "other alternatives")]
)
def test_damaged_monitors_are_refused(tmp_path, change, message):
    content = {"map": None, "looks": 1, "from_start": None, "from_any": None, "largest_e_value": 1.0} | change
    write_model(tmp_path / "monitor.json", "calibrant-monitor", 1, content)
    with pytest.raises(ModelFileError, match=message):
        CalibrationMonitor.load(tmp_path / "monitor.json")


def test_a_comparison_is_shown_in_words():
    data = simulate.from_truth("D1", 500)
    result = compare_tallies(data.tally, data.tally)
    assert repr(result) == str(result)
    assert repr(result).startswith("Rows: 500 in the reference, 500 now.")
