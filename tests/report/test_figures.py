import json

import numpy as np
import pytest

from calibrant.report import figures

go = pytest.importorskip("plotly.graph_objects", reason="plotly is in the extra `report`")


def all_figures(found):
    scale = figures.shared_scale(found)
    out = [figures.reliability_figure(found.after, "@after", scale), figures.map_figure(found, scale)]
    out += [figures.scores_figure(found, scale), figures.comparison_figure(found.comparison, found.name)]
    if found.segments:
        out += [figures.segments_figure(found.segments), *figures.segment_diagrams(found, scale)]
    return out


def without_color_names(value):
    if isinstance(value, dict):
        return {key: without_color_names(each) for key, each in value.items()}
    if isinstance(value, list):
        return [without_color_names(each) for each in value]
    return "#123456" if isinstance(value, str) and value.startswith("@") else value


@pytest.mark.parametrize("name", ["found", "segmented", "unbounded"])
def test_plotly_accepts_every_figure(name, request):
    for figure in all_figures(request.getfixturevalue(name)):
        checked = without_color_names(figure)
        go.Figure(data=checked["data"], layout=checked["layout"])


def test_numbers_are_those_of_the_study(found):
    figure = figures.reliability_figure(found.before, "@before", figures.shared_scale(found))
    points = figure["data"][-1]
    assert np.allclose(points["x"], found.before.linear.points["mean_score"], rtol=1e-5)
    assert np.allclose(points["meta"]["low"], found.before.linear.points["low"], rtol=1e-4)
    curve = figure["data"][1]
    assert np.allclose(curve["meta"]["high"], found.before.linear.curve["high"], rtol=1e-4)


def test_the_map_shows_one_method_and_holds_all(found):
    figure = figures.map_figure(found, figures.shared_scale(found))
    methods = {trace["meta"]["method"]: trace["visible"] for trace in figure["data"] if "method" in trace["meta"]}
    assert methods == {"bayes_iso": True, "platt": False, "isotonic": False}


def test_before_and_after_share_their_axes(found):
    scale = figures.shared_scale(found)
    assert scale["linear"] == [0.0, 1.0]
    assert scale["logit"][0] < scale["logit"][1]
    assert len(scale["ticks"]) == len(scale["texts"])
    assert all(scale["logit"][0] <= tick <= scale["logit"][1] for tick in scale["ticks"])


def test_texts_of_the_user_are_plain_to_plotly(segmented, hostile):
    assert figures.plain("<b>%{x}</b> & co") == "&lt;b&gt;%&#123;x}&lt;/b&gt; &amp; co"
    figure = json.dumps(figures.segments_figure(segmented.segments), ensure_ascii=False)
    assert "<script" not in figure
    assert "<b>" not in figure
    assert figures.plain(hostile[:10])[:10] in figure


def test_segments_are_moved_apart_and_long_names_cut(segmented):
    figure = figures.segments_figure(segmented.segments)
    before, after = figure["data"]
    assert before["y"][0] < after["y"][0]
    assert len(before["x"]) == 3
    assert len(after["x"]) == 2  # one row cannot be split
    assert figure["layout"]["yaxis"]["ticktext"][0].endswith("…")


def test_bars_that_differ_much_get_a_logarithmic_axis():
    assert figures._needs_log(np.array([10_000.0, 5.0, 7.0]))
    assert not figures._needs_log(np.array([100.0, 5.0, 0.0, 7.0]))
