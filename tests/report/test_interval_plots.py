import json
import re

import pytest

from calibrant.report.figures import plain
from calibrant.report.interval_plots import LONGEST, comparison_figure, segments_figure, shortened
from calibrant.report.segments import Gap, Segment


def test_plotly_accepts_both_figures(segmented):
    go = pytest.importorskip("plotly.graph_objects", reason="plotly is in the extra `report`")
    for figure in (comparison_figure(segmented.comparison, "platt"), segments_figure(segmented.segments)):
        checked = json.loads(re.sub(r'"@[a-z0-9/]+"', '"#123456"', json.dumps(figure)))
        go.Figure(data=checked["data"], layout=checked["layout"])


def test_methods_in_order_with_their_intervals(study):
    figure = comparison_figure(study.comparison, "platt")
    trace = figure["data"][0]
    rows = [r for r in study.comparison.results if r.log_loss_difference is not None]
    assert trace["x"] == pytest.approx([r.log_loss_difference.value for r in rows], rel=1e-5)
    assert [c[1] for c in trace["customdata"]] == pytest.approx([r.log_loss_difference.low for r in rows], rel=1e-3)
    assert trace["marker"]["color"].count("@after") == 1
    assert figure["layout"]["yaxis"]["range"][0] > figure["layout"]["yaxis"]["range"][1]  # the first at the top


def test_texts_of_the_user_are_plain_to_plotly(segmented, hostile):
    figure = json.dumps(segments_figure(segmented.segments), ensure_ascii=False)
    assert "<script" not in figure
    assert "<b>" not in figure
    assert plain(hostile[:10]) in figure


def test_gaps_with_the_intervals_of_what_happened(segmented):
    before = segments_figure(segmented.segments)["data"][0]
    gap = segmented.segments[0].before
    low, high = (before["x"][0] + sign * before["error_x"][key][0] for sign, key in ((-1, "arrayminus"), (1, "array")))
    assert before["x"][0] == pytest.approx(100 * (gap.predicted - gap.happened), rel=1e-4)
    assert low == pytest.approx(100 * (gap.predicted - gap.high), abs=1e-3)
    assert high == pytest.approx(100 * (gap.predicted - gap.low), abs=1e-3)


def test_the_axis_of_segments_counts_points_and_one_row_does_not_squeeze_the_others():
    usual = Gap(0.3, 0.25, 0.2, 0.3, off=False)
    figure = segments_figure(tuple(Segment(name, 50.0, usual, None, None) for name in "abc"))
    axis = figure["layout"]["xaxis"]
    assert axis["title"]["text"] == "Predicted − happened, percentage points"
    assert "tickformat" not in axis  # "+0%" is no number of points
    assert axis["range"][0] < 0.0 < 10.0 < axis["range"][1] < 11.0
    assert not figure["meta"]["cut"]
    lonely = Segment("d", 1.0, Gap(0.02, 0.0, 0.0, 0.95, off=False), None, None)
    wide = segments_figure((*(Segment(name, 50.0, usual, None, None) for name in "abc"), lonely))
    assert wide["layout"]["xaxis"]["range"] == axis["range"]
    assert wide["meta"]["cut"]


def test_segments_are_moved_apart_and_long_names_cut(segmented):
    figure = segments_figure(segmented.segments)
    before, after = figure["data"]
    assert before["y"][0] < after["y"][0]
    assert len(before["x"]) == 3
    assert len(after["x"]) == 2  # one row cannot be split
    assert "…" in figure["layout"]["yaxis"]["ticktext"][0]
    assert all(len(name) <= LONGEST for name in figure["meta"]["names"][1:])


def test_long_names_stay_distinct():
    assert shortened(["short", "Branch 16 in a city"], 12) == ["short", "Branch 16 i…"]
    wards = ["Hospital of the Holy Cross, ward 12", "Hospital of the Holy Cross, ward 13"]
    assert shortened(wards, 20) == ["Hospital of t…ard 12", "Hospital of t…ard 13"]


def test_methods_have_short_names_beside_narrow_screens(study):
    names = comparison_figure(study.comparison, "platt")["meta"]["names"]
    assert set(names) == {"Platt", "Isotonic"}
