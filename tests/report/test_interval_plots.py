import pytest

from calibrant.metrics import Interval
from calibrant.report.interval_plots import comparison_figure, segments_figure, timeline_figure
from calibrant.report.segments import Gap, Segment


def test_methods_in_rows_with_their_intervals():
    changes = [Interval(-0.04, -0.05, -0.03, 0.9), None, Interval(0.5, 0.2, 0.9, 0.9)]
    figure = comparison_figure(changes, 2, 0)
    trace = figure["data"][0]
    assert trace["x"] == [-0.04, 0.5]
    assert trace["y"] == [0.0, 2.0]  # a method without a change has a row without a point
    assert trace["error_x"]["array"] == pytest.approx([0.01, 0.4])
    assert trace["marker"]["color"] == ["@after", "@neutral"]
    low, high = figure["layout"]["xaxis"]["range"]
    assert low < -0.05
    assert 0.0 < high < 0.01  # the method that is folded away does not squeeze the others


def test_no_change_at_all_still_has_an_axis():
    low, high = comparison_figure([None, None], 2, None)["layout"]["xaxis"]["range"]
    assert low < 0.0 < high


def test_gaps_with_the_intervals_of_what_happened(segmented):
    before = segments_figure(segmented.segments)["data"][0]
    gap = segmented.segments[0].before
    low, high = (before["x"][0] + sign * before["error_x"][key][0] for sign, key in ((-1, "arrayminus"), (1, "array")))
    assert before["x"][0] == pytest.approx(100 * (gap.predicted - gap.happened), rel=1e-4)
    assert low == pytest.approx(100 * (gap.predicted - gap.high), abs=1e-3)
    assert high == pytest.approx(100 * (gap.predicted - gap.low), abs=1e-3)


def test_one_row_does_not_squeeze_the_others():
    usual = Gap(0.3, 0.25, 0.2, 0.3, off=False)
    figure = segments_figure(tuple(Segment(name, 50.0, usual, None, None) for name in "abc"))
    ends = figure["layout"]["xaxis"]["range"]
    assert ends[0] < 0.0 < 10.0 < ends[1] < 11.0
    assert not figure["meta"]["cut"]
    lonely = Segment("d", 1.0, Gap(0.02, 0.0, 0.0, 0.95, off=False), None, None)
    wide = segments_figure((*(Segment(name, 50.0, usual, None, None) for name in "abc"), lonely))
    assert wide["layout"]["xaxis"]["range"] == ends
    assert wide["meta"]["cut"]


def test_before_and_after_are_moved_apart(segmented):
    before, after = segments_figure(segmented.segments)["data"]
    assert before["y"][0] < after["y"][0]
    assert len(before["x"]) == 3
    assert len(after["x"]) == 2  # one row cannot be split


def test_days_stand_in_their_order_and_those_that_are_off_stand_out():
    gaps = [Gap(0.3, 0.3, 0.2, 0.4, off=False), Gap(0.3, 0.6, 0.5, 0.7, off=True)]
    days = tuple(Segment(f"2026-03-0{i + 1}", 50.0, gap, None, None) for i, gap in enumerate(gaps))
    figure = timeline_figure(days)
    trace = figure["data"][0]
    assert trace["x"] == pytest.approx([-0.17, 0.83])
    assert trace["y"] == pytest.approx([0.0, -30.0])
    assert trace["marker"]["color"] == ("@before", "@bad")
    assert trace["marker"]["symbol"] == ("circle-open", "diamond")
    assert figure["layout"]["xaxis"]["ticktext"] == ["2026-03-01", "2026-03-02"]
    assert figure["layout"]["yaxis"]["title"]["text"] == "Predicted − happened, percentage points"
