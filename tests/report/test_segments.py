from dataclasses import replace

import numpy as np
import pytest

from calibrant import IsotonicCalibration, PlattScaling, Tally, metrics
from calibrant.metrics import Interval
from calibrant.report.part_sections import _predicted, _worth_of_maps, segments_section
from calibrant.report.segments import SegmentResults, judge_segments


def rows(n, shift, seed):
    rng = np.random.default_rng(seed)
    z = rng.normal(0.0, 1.2, n).round(1)
    return Tally.from_arrays(1 / (1 + np.exp(-z)), rng.random(n) < 1 / (1 + np.exp(-z - shift)))


def judge(parts, calibrator=None, keys=("g",), space="probability"):
    return judge_segments(parts, keys, calibrator or PlattScaling(), 0.9, 5, space=space)


def gap(segment, side):
    return abs(segment.predicted(side) - segment.happened.value)


def test_largest_first_and_the_shifted_one_is_off():
    big, small = judge({"small": rows(200, 0.0, 0), "off": rows(900, 1.5, 1)}).segments
    assert (big.name, small.name) == ("off", "small")
    assert big.off["before"]
    assert not small.off["before"]
    assert big.happened.low < big.happened.value < big.happened.high
    assert big.total == 900


def test_one_map_for_all_moves_the_gaps_together():
    for one in judge({"a": rows(1000, 1.0, 0), "b": rows(1000, 1.0, 1)}).segments:
        assert gap(one, "after") < 0.3 * gap(one, "before")


def test_segments_that_differ_are_worth_maps_of_their_own():
    parts = {"north": rows(1500, 1.0, 0), "south": rows(1500, -1.0, 1), "west": rows(1500, 0.0, 2)}
    results = judge(parts, keys=["region"])
    assert results.gain.low > 0.0
    assert results.gain.value == pytest.approx(results.losses["after"] - results.losses["by_segment"])
    assert results.losses["before"] == pytest.approx(metrics.log_loss(sum(parts.values(), Tally.empty())), abs=1e-9)
    north = next(one for one in results.segments if one.name == "north")
    assert gap(north, "by_segment") < 0.03 < gap(north, "after")
    assert "segments of region differ" in results.summary
    first, second = _worth_of_maps(results, "90 %")
    assert "a map for each segment in place of one for all lowers the log-loss from 0." in first
    assert second == results.summary


def test_segments_that_do_not_differ_are_not_called_a_gain():
    # Stratified folds would keep each segment's share of positives, and with it what chance made of the segment.
    def no_difference(seed):
        return judge({f"s{i:02}": rows(25, 0.0, 100 * seed + i) for i in range(40)})

    assert sum(no_difference(seed).gain.low > 0.0 for seed in range(6)) <= 1


def test_cross_fitting_is_honest_on_pure_noise():
    # Isotonic regression looks better than a coin on the rows it was fitted to, and worse on those it was not.
    rng = np.random.default_rng(0)
    parts = {name: Tally.from_arrays(rng.random(80), rng.random(80) < 0.5) for name in "ab"}
    whole = parts["a"] + parts["b"]
    own = whole.rescored(IsotonicCalibration().fit_tally(whole).predict(whole.scores))
    first, second = (one.tallies["after"] for one in judge(parts, IsotonicCalibration()).segments)
    assert (first.total, second.total) == (80.0, 80.0)
    assert metrics.log_loss(own) < np.log(2.0) < metrics.log_loss(first + second)


@pytest.mark.parametrize("scale", [1.0, 0.01])
def test_decision_scores_have_no_before_also_where_they_lie_between_0_and_1(scale):
    rng = np.random.default_rng(1)
    z = rng.normal(0.0, 3.0, 800)
    scores = scale * z + 0.5
    parts = {k: Tally.from_arrays(scores, rng.random(800) < 1 / (1 + np.exp(-z - k))) for k in (0, 1)}
    results = judge(parts, space="decision")
    assert list(results.losses) == ["after", "by_segment"]
    assert results.segments[0].predicted("before") is None
    assert 0.0 <= results.segments[0].predicted("after") <= 1.0


def test_one_segment_has_one_map():
    results = judge({"only": rows(300, 1.0, 0)})
    assert results.gain is None
    assert results.summary == ""
    assert list(results.segments[0].tallies) == ["before", "after"]


def test_tiny_and_empty_segments_do_no_harm():
    parts = {"one": Tally.from_arrays([0.5], [1]), "none": Tally.empty(), "many": rows(300, 0.0, 0)}
    many, one = judge(parts).segments
    assert (many.name, one.name) == ("many", "one")
    assert one.predicted("after") is None


def test_the_section_has_words_figures_and_tables(segmented, hostile):
    section = segments_section(segmented)
    (forest,) = section.figures
    assert "one map for all" in forest.svg
    table = section.tables[0]
    assert table.rows[0][0] == hostile
    assert table.rows[0][1] == "300"
    south = next(row for row in table.rows if row[0] == "south")
    assert south[3].tag == "off"
    assert south[3].small.startswith("−")
    assert segments_section(replace(segmented, segments=None)) is None


def test_several_keys_and_missing_ones_are_named(data):
    results = judge({("<b>", 1): rows(500, 1.0, 0), ("x", None): rows(400, -1.0, 1)}, keys=["a", "b"])
    assert [one.name for one in results.segments] == ["<b> · 1", "x · (missing)"]
    losses = segments_section(replace(data, segments=results)).tables[1]
    assert [row[0] for row in losses.rows] == ["Before calibration", "One map for all", "A map for each segment"]


def test_many_days_are_drawn_along_time_and_others_are_cut(data, segmented):
    south = next(one for one in segmented.segments.segments if one.name == "south")

    def section(names, **changed):
        many = tuple(replace(south, name=name) for name in names)
        return segments_section(replace(data, segments=replace(segmented.segments, segments=many, **changed)))

    days = section([f"2026-03-{i:02}" for i in range(1, 31)], in_order=True)
    assert days.figures[0].shape == "whole"
    assert "above zero" in days.sentences[0]
    wards = section([f"ward {i}" for i in range(47)])
    assert wards.figures[0].shape == "wide"
    assert "the first 40 of 47 segments" in wards.sentences[0]
    assert len(wards.tables[0].rows) == 47
    assert wards.tables[0].folded


@pytest.mark.parametrize(
    ("gain", "words"),
    [
        (
            (-0.1, -0.2, -0.05),
            "raises the log-loss from 0.5000 to 0.6000 (90 % interval of the gain: −0.200 to −0.050)",
        ),
        ((-0.0000007, -0.0000128, 0.0000114), "leaves the log-loss at 0.5000, which may be chance"),
        ((0.0, -0.00004, 0.0001), "leaves the log-loss at 0.5000, which may be chance"),
        ((0.000006, 0.000001, 0.00001), "lowers the log-loss from 0.5000000 to 0.4999940, a gain of"),
    ],
)
def test_what_maps_are_worth_in_words(gain, words):
    losses = {"after": 0.5, "by_segment": 0.5 - gain[0]}
    results = SegmentResults((), in_order=False, losses=losses, gain=Interval(*gain, 0.9), summary="")
    assert words in _worth_of_maps(results, "90 %")[0]


def test_the_gap_of_a_segment_has_no_more_digits_than_its_rows_tell(segmented):
    def words(predicted, happened, low, high):
        tally = Tally.from_arrays([predicted], [1])
        segment = replace(
            segmented.segments.segments[0],
            happened=Interval(happened, low, high, 0.9),
            tallies={"before": tally},
            off={"before": False},
        )
        return _predicted(segment, "before").small

    assert words(0.22038, 0.22, 0.185, 0.259) == "0.0 points"
    assert words(0.2266, 0.22, 0.19, 0.26) == "+0.7 points"
    assert words(0.2, 0.22034, 0.2200, 0.2206) == "−2.03 points"
