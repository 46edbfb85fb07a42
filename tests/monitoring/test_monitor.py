from functools import reduce

import numpy as np
import pytest
from scipy import special, stats

from calibrant import (
    CalibrationMap,
    IsotonicCalibration,
    PanelCalibrator,
    PlattScaling,
    SegmentedCalibrator,
    Tally,
)
from calibrant.errors import InvalidInputError, ModelFileError
from calibrant.maps import functions
from calibrant.maps.files import write_model
from calibrant.maps.matrix import MatrixMap, MatrixMember
from calibrant.monitoring import CalibrationMonitor, compare_tallies
from calibrant.monitoring.named_tallies import ALL, NEW, TOP

from .rows import SHAPES, day, judges, matrix, segments, shifted


def test_one_alternative_by_hand():
    # One row at 1/2 that is positive: every alternative p' contributes p' / (1/2).
    one = Tally.from_arrays([0.5], [1])
    shifts = np.repeat([-1.6, -0.8, -0.4, -0.2, -0.1, 0.0, 0.1, 0.2, 0.4, 0.8, 1.6], 7)
    lines = np.delete(shifts, 5 * 7 + 3)  # without the identity
    local = [a * (i == 3) for a in (-0.8, -0.3, 0.3, 0.8) for i in range(8)]
    expected = np.mean(special.expit(np.concatenate((lines, local))) / 0.5)
    assert compare_tallies(one, one).e_value == pytest.approx(expected)
    # Today's change has weight 1/2, and with weight 1/2 it has not begun.
    assert CalibrationMonitor().updated(one).e_value == pytest.approx(0.5 * expected + 0.5 * (0.5 * expected + 0.5))


def test_a_fitted_calibrator_stands_for_its_map(tmp_path):
    rows = day(np.random.default_rng(0), 400)
    calibrator = PlattScaling().fit_tally(rows)
    monitor = CalibrationMonitor(calibrator).updated(rows)
    assert monitor.e_value == CalibrationMonitor(calibrator.map_).updated(rows).e_value
    monitor.save(tmp_path / "monitor.json")
    assert CalibrationMonitor.load(tmp_path / "monitor.json").map_ == calibrator.map_


@pytest.mark.parametrize(
    ("shape", "series", "looks", "rows", "alpha"),
    [("score", 30, 100, 20, 0.05), ("matrix", 120, 4, 60, 0.1), ("segments", 60, 4, 180, 0.2)],
)
def test_false_alarms_over_all_looks_and_names_are_rare(shape, series, looks, rows, alpha):
    """More series and looks are in `benchmarks.accuracy.monitoring` and `benchmarks.accuracy.segment_monitor`."""
    rng = np.random.default_rng(1)
    alarms = 0
    for _ in range(series):
        monitor = CalibrationMonitor()
        for _ in range(looks):
            monitor = monitor.updated(*SHAPES[shape](rng, rows))
        alarms += bool(monitor.alarms(alpha))
    assert alarms <= stats.binom.ppf(0.999, series, alpha)


@pytest.mark.parametrize(("shape", "series"), [("score", 1500), ("matrix", 400), ("segments", 400)])
def test_the_mean_of_the_e_value_stays_one_while_calibration_holds(shape, series):
    rng = np.random.default_rng(1)
    values = [CalibrationMonitor().updated(*SHAPES[shape](rng, 3)).e_value for _ in range(series)]
    assert np.mean(values) == pytest.approx(1.0, abs=0.06)


@pytest.mark.parametrize("truth", [shifted(0.4), shifted(-0.4), lambda p: special.expit(0.6 * special.logit(p))])
def test_drift_is_found(truth):
    rng = np.random.default_rng(2)
    monitor = CalibrationMonitor()
    for _ in range(30):
        monitor = monitor.updated(day(rng, truth=truth))
    assert monitor.alarms(0.05) == [ALL]


def shocked_day(rng, n=200, scale=1.0):
    """Rows that are right on average over days, all moved by one shock a day."""
    return day(
        rng, n, lambda p: special.expit(special.logit(p) * np.sqrt(1 + np.pi / 8 * scale**2) + scale * rng.normal())
    )


def test_rows_that_share_their_outcome_need_clustered():
    """400 series, also of the adaptive calibrator, are in `benchmarks.accuracy.adaptive`."""
    rng = np.random.default_rng(7)
    alarms = 0
    for _ in range(20):
        plain, clustered = CalibrationMonitor(), CalibrationMonitor(clustered=True)
        days = [shocked_day(rng) for _ in range(30)]
        for rows in days:
            clustered = clustered.updated(rows)
        with pytest.warns(UserWarning, match="start again with `clustered=True`"):
            plain = reduce(CalibrationMonitor.updated, days, plain)
        assert plain.alarms() == [ALL]
        alarms += bool(clustered.alarms())
    assert alarms <= 2


@pytest.mark.parametrize("shape", SHAPES)
def test_clustered_e_values_keep_their_mean_and_find_changes(shape, tmp_path):
    rng = np.random.default_rng(1)
    values = [CalibrationMonitor(clustered=True).updated(*SHAPES[shape](rng, 3)).e_value for _ in range(400)]
    assert np.mean(values) == pytest.approx(1.0, abs=0.06)
    monitor = CalibrationMonitor(clustered=True)
    for _ in range(60):
        monitor = monitor.updated(day(rng, truth=shifted(1.5)))
    monitor.save(tmp_path / "monitor.json")
    assert CalibrationMonitor.load(tmp_path / "monitor.json").clustered
    assert monitor.alarms() == [ALL]


@pytest.mark.parametrize("change", [0.0, 2.0])
def test_neither_chance_nor_one_change_looks_like_shared_outcomes(change):
    rng = np.random.default_rng(8)
    for _ in range(10):
        monitor = CalibrationMonitor()
        for look in range(40):
            monitor = monitor.updated(day(rng, truth=shifted(change * (look > 20))))  # a warning is an error here


def late_score(rng, bad):
    return (day(rng, 200, shifted(0.6 * bad)),)


def late_matrix(rng, bad):
    return matrix(rng, 200, order=[0, 2, 1] if bad else None)


def late_segment(rng, bad):
    return (segments(rng, 200, "abc", {"b": 1.0 * bad}),)


@pytest.mark.parametrize(
    ("look", "named"), [(late_score, {ALL}), (late_matrix, {TOP, "1", "2"}), (late_segment, {"b"})]
)
def test_a_late_change_is_found_and_named(look, named):
    rng = np.random.default_rng(2)
    monitor = CalibrationMonitor()
    assert (monitor.e_value, monitor.alarms(), monitor.looks) == (1.0, [], 0)
    for _ in range(20):
        monitor = monitor.updated(*look(rng, False))
    assert monitor.alarms(0.05) == []
    for _ in range(12):
        monitor = monitor.updated(*look(rng, True))
    assert set(monitor.alarms(0.05)) == named
    assert all(monitor.e_values()[name] >= 20.0 for name in named)
    assert monitor.looks == 32
    assert "no longer hold" in str(monitor)


def test_new_segments_are_watched_together():
    rng = np.random.default_rng(3)
    monitor = CalibrationMonitor(segments=["a"])
    for look in range(5):
        monitor = monitor.updated({"a": day(rng), f"new {look}": day(rng, 200, shifted(1.0))})
    assert monitor.alarms() == [NEW]


def test_classes_and_segments_may_be_named():
    p, y = matrix(np.random.default_rng(4), 90)
    names = np.array(["ant", "bee", "cow"])
    by_name = CalibrationMonitor(classes=names).updated(p, names[y])
    assert list(by_name.e_values()) == [TOP, "ant", "bee", "cow"]
    assert by_name.e_value == CalibrationMonitor().updated(p, y).e_value
    # A day without rows of a class is no reason to mix up the columns.
    some = y != 0
    by_number = CalibrationMonitor(classes=[0, 1, 2]).updated(p[some], y[some])
    assert by_number.e_value == CalibrationMonitor(classes=names).updated(p[some], names[y[some]]).e_value


def test_rows_may_come_as_arrays():
    scores, labels, team = [0.1, 0.4, 0.4, 0.9], ["no", "yes", "no", "yes"], ["a", "a", None, "b"]
    by_arrays = CalibrationMonitor().updated(scores, labels, pos_label="yes")
    by_tally = CalibrationMonitor().updated(Tally.from_arrays(scores, labels, pos_label="yes"))
    assert by_arrays.e_value == by_tally.e_value
    by_segment = CalibrationMonitor().updated(scores, labels, segment=team, pos_label="yes")
    named = {"a": Tally.from_arrays([0.1, 0.4], [0, 1]), None: Tally.from_arrays([0.4], [0])}
    named["b"] = Tally.from_arrays([0.9], [1])
    assert by_segment.e_values() == CalibrationMonitor().updated(named).e_values()
    assert CalibrationMonitor().updated([], [], segment=[]).looks == 0
    two_keys = CalibrationMonitor().updated(scores, [0, 1, 0, 1], segment={"team": team, "level": [1, 1, 2, 2]})
    assert list(two_keys.e_values()) == [("a", 1), ("b", 2), (None, 2), NEW]


def start_of(shape, rng):
    """A monitor with a map of the shape, and a look at scores."""
    if shape == "score":
        map_ = PlattScaling().fit([0.1, 0.4, 0.6, 0.9], [0, 1, 0, 1]).map_
        return CalibrationMonitor(map_), (day(rng, 50),)
    if shape == "matrix":
        map_ = MatrixMap(("ant", "bee", "cow"), "decision", 0.5, (MatrixMember(1.0),))
        return CalibrationMonitor(map_), (rng.normal(size=(50, 3)), rng.choice(["ant", "bee", "cow"], 50))
    names = [("a", True), ("b", False)]
    map_ = SegmentedCalibrator("platt").fit_tallies(segments(rng, 300, names)).map_
    return CalibrationMonitor(map_, segments=names), (segments(rng, 50, names),)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_saved_monitor_goes_on_where_it_was(shape, tmp_path):
    rng = np.random.default_rng(0)
    start, first = start_of(shape, rng)
    second = start_of(shape, rng)[1]
    for fresh in (start, CalibrationMonitor() if shape == "score" else start):
        monitor = fresh.updated(*first)
        monitor.save(tmp_path / "monitor.json")
        loaded = CalibrationMonitor.load(tmp_path / "monitor.json")
        assert repr(loaded) == repr(monitor)
        assert loaded.updated(*second).e_values() == monitor.updated(*second).e_values()
        fresh.save(tmp_path / "fresh.json")
        assert CalibrationMonitor.load(tmp_path / "fresh.json").updated(*first).e_value == monitor.e_value


def test_names_of_numpy_are_saved_and_other_things_are_refused(tmp_path):
    p, y = matrix(np.random.default_rng(6), 60)
    CalibrationMonitor(classes=np.arange(3)).updated(p, y).save(tmp_path / "classes.json")
    assert CalibrationMonitor.load(tmp_path / "classes.json").classes == [0, 1, 2]
    tally = Tally.from_arrays([0.5], [1])
    CalibrationMonitor().updated({np.int64(3): tally, (np.str_("a"), None): tally}).save(tmp_path / "segments.json")
    assert list(CalibrationMonitor.load(tmp_path / "segments.json").e_values()) == [3, ("a", None), NEW]
    with pytest.raises(InvalidInputError, match="Rename the segments"):
        CalibrationMonitor().updated({frozenset("a"): tally}).save(tmp_path / "sets.json")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"looks": None}, "not a sound model"),
        ({"tests": [["(all)", 1.0, {"looks": 1, "from_start": [0.0], "from_any": [0.0]}]]}, "other alternatives"),
    ],
)
def test_damaged_monitors_are_refused(tmp_path, change, message):
    nothing = dict.fromkeys(("map_kind", "map", "classes", "segments"))
    content = {"kind": "monitor", **nothing, "looks": 1, "largest_e_value": 1.0, "clustered": False, "residuals": []}
    write_model(tmp_path / "monitor.json", content | {"tests": []} | change)
    with pytest.raises(ModelFileError, match=message):
        CalibrationMonitor.load(tmp_path / "monitor.json")


def test_maps_turn_scores_into_what_is_tested():
    rng = np.random.default_rng(5)
    map_ = CalibrationMap(functions.Sigmoid(1.0, 0.5, "logit"), "probability", True)
    current = day(rng, 3000, shifted(0.5))
    assert CalibrationMonitor(map_).updated(current).alarms() == []
    assert CalibrationMonitor().updated(current).alarms() == [ALL]
    before, now = (segments(rng, n, "ab", {"b": 1.0}) for n in (3000, 1000))
    of_segments = SegmentedCalibrator("platt").fit_tallies(before).map_
    assert CalibrationMonitor(of_segments).updated(now).alarms() == []
    assert CalibrationMonitor().updated(now).alarms() == ["b"]
    pooled = IsotonicCalibration().fit_tally(before["a"] + before["b"]).map_
    assert set(CalibrationMonitor(pooled).updated(now).alarms()) == {"a", "b"}
    with pytest.raises(InvalidInputError, match="pass `segment`, or tallies by segment"):
        CalibrationMonitor(of_segments).updated(current)


@pytest.mark.parametrize("n", [5000, 20_000])
def test_a_drift_one_way_is_no_shared_outcome(n):
    for seed in range(5):
        rng, monitor = np.random.default_rng(seed), CalibrationMonitor()
        for look in range(30):
            monitor = monitor.updated(day(rng, n, shifted(0.1 * look)))  # a warning is an error here
        assert monitor.alarms() == [ALL]


def test_the_logarithm_of_the_e_value_has_no_limit():
    p, y = np.full(2000, 0.02), np.ones(2000)
    monitors = [CalibrationMonitor()]
    for _ in range(2):
        monitors.append(monitors[-1].updated(p, y))
    logs = [monitor.log_e_value for monitor in monitors]
    assert logs[0] == 0.0
    assert 1000.0 < logs[1] < logs[2] - 1000.0
    assert monitors[2].e_value == pytest.approx(np.exp(700.0))
    assert "the e-value is above 1e+304; it alarms at 20." in str(monitors[2])
    assert "e-value above 1e+304 now" in repr(monitors[2])
    one = CalibrationMonitor().updated([0.2] * 20, [0] * 12 + [1] * 8)
    assert one.log_e_value == pytest.approx(np.log(one.e_value))


def test_what_cannot_be_tested_is_refused():
    tally, rng = Tally.from_arrays([0.5], [1]), np.random.default_rng(4)
    three, four = matrix(rng, 50), matrix(rng, 50, 4)
    halves = MatrixMap((0, 1, 2), "decision", 0.5, (MatrixMember(1.0),))
    refused = {
        "must count whole rows": lambda: CalibrationMonitor().updated(tally.scaled(0.5)),
        r"must lie in \[0, 1\]": lambda: CalibrationMonitor().updated(Tally.from_arrays([2.0], [1])),
        "`alpha` must lie between 0 and 1, both excluded; got 2": lambda: CalibrationMonitor().alarms(2.0),
        "`y` must be given": lambda: CalibrationMonitor().updated([0.1, 0.4]),
        "pass it alone": lambda: CalibrationMonitor().updated(tally, [1]),
        "`segment` goes with scores": lambda: CalibrationMonitor().updated(tally, segment=["a"]),
        "must be distinct": lambda: CalibrationMonitor(segments=["a", NEW]),
        "exclude each other": lambda: CalibrationMonitor(segments=["a"], classes=["b", "c"]),
        "must name the 3 columns": lambda: CalibrationMonitor(classes=["a"]).updated(*three),
        "`y` must hold the labels of the columns, a, b, c": lambda: CalibrationMonitor(classes="abc").updated(*three),
        "of the shape that is watched": lambda: CalibrationMonitor().updated(*three).updated(*four),
        "not tallies": lambda: CalibrationMonitor(halves).updated(tally),
        "must be a map of several classes": lambda: CalibrationMonitor(PlattScaling().fit([0, 1], [0, 1]).map_).updated(
            *three
        ),
    }
    for message, call in refused.items():
        with pytest.raises(InvalidInputError, match=message):
            call()
    assert CalibrationMonitor().updated(Tally.empty()).looks == 0


@pytest.fixture(scope="module")
def panel():
    return PanelCalibrator().fit(*judges(1500, 0))


def test_several_scores_are_watched_by_the_probability_of_their_map(panel, tmp_path):
    monitor, plain = CalibrationMonitor(panel.map_), CalibrationMonitor()
    for look in range(3):
        scores, y = judges(200, 1 + look)
        monitor, plain = monitor.updated(scores, y), plain.updated(panel.predict(scores), y)
    assert monitor.e_value == plain.e_value
    assert monitor.alarms() == []
    monitor.save(tmp_path / "monitor.json")
    loaded = CalibrationMonitor.load(tmp_path / "monitor.json")
    scores, y = judges(400, 9)
    assert loaded.updated(scores, ~y).alarms() == ["(all)"]
    tally = Tally.from_arrays(panel.predict(scores), y)
    assert monitor.updated(tally).e_value == monitor.updated(scores, y).e_value


def test_several_scores_by_segment_and_against_a_reference(panel):
    (scores, y), (now, later) = judges(600, 20), judges(900, 21)
    wrong = np.where(now["source"] == "web", ~later, later)
    monitor = CalibrationMonitor(panel.map_).updated(now, wrong, segment=now["source"])
    assert monitor.alarms() == ["web"]
    change = compare_tallies((scores, y), (now, wrong), map_=panel.map_)
    assert change.alarms() == ["(all)"]
    assert change.whole.mean_predicted == pytest.approx(panel.predict(now).mean())
