import numpy as np
import pytest

from calibrant._numerics import links
from calibrant.segments.calibrator import SegmentedCalibrator


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    scores, team, day = rng.uniform(0.05, 0.95, 2000), rng.choice(["a", "b"], 2000), rng.integers(0, 3, 2000)
    y = (rng.random(2000) < links.expit(links.logit(scores) + np.where(team == "a", 0.6, -0.6))).astype(int)
    return SegmentedCalibrator("spline").fit(scores, y, segment={"team": team, "day": day}).segments_, team, day, y


def test_rows_and_base_rates_are_counted(table):
    segments, team, day, y = table
    assert [(row.key, row.segment) for row in segments] == [
        ("team", "a"),
        ("team", "b"),
        ("day", 0),
        ("day", 1),
        ("day", 2),
    ]
    first, last = segments.rows[0], segments.rows[-1]
    assert (first.rows, last.rows) == (np.sum(team == "a"), np.sum(day == 2))
    assert first.base_rate == pytest.approx(y[team == "a"].mean())
    assert len(segments) == 5


def test_shifts_and_who_differs(table):
    segments, *_ = table
    a, b, *days = segments
    assert (a.shift, b.shift) == (pytest.approx(0.6, abs=0.2), pytest.approx(-0.6, abs=0.2))
    assert a.low < a.shift < a.high
    assert a.differs
    assert b.differs
    assert not any(day.differs for day in days)
    assert segments.differences["team"] > 0.99
    assert segments.differences["day"] < 0.5


def test_it_prints_those_that_differ_first(table):
    segments, *_ = table
    lines = str(segments).splitlines()
    assert lines[0].split()[:2] == ["key", "segment"]
    assert lines[1].startswith("team")
    assert lines[1].endswith("yes")
    assert lines[-2].startswith("team: segments differ with probability")


def test_records_are_plain(table):
    segments, *_ = table
    record = segments.to_records()[0]
    assert record["segment"] == "a"
    assert set(record) == {"key", "segment", "rows", "base_rate", "shift", "low", "high", "differs"}


def test_a_long_table_is_cut_when_printed():
    rng = np.random.default_rng(0)
    segment, scores = np.repeat(np.arange(50), 4), rng.uniform(0.1, 0.9, 200)
    segments = SegmentedCalibrator("platt").fit(scores, rng.random(200) < scores, segment=segment).segments_
    assert "… and 20 more" in str(segments)


def test_it_says_in_a_sentence_which_segments_differ(table):
    segments, *_ = table
    text = segments.summary()
    assert text.startswith("2 of 5 segments differ from the pooled map, by this much on the logit scale: team = ")
    assert "day" not in text


def test_one_key_is_named_once():
    rng = np.random.default_rng(0)
    segment, scores = np.repeat(["a", "b"], 200), rng.uniform(0.1, 0.9, 400)
    same = SegmentedCalibrator("platt").fit(scores, rng.random(400) < scores, segment={"team": segment})
    assert same.segments_.summary() == (
        "None of 2 segments of team differs from the pooled map as far as these rows can tell."
    )
