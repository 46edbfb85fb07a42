import re
from xml.etree import ElementTree as ET

import pytest

from calibrant.report.figures import map_figure, reliability_figure, scatter, shared_scale, titled
from calibrant.report.interval_plots import segments_figure
from calibrant.report.svg import draw_figure, draw_strips


def drawn(figure):
    """The markup as a tree, which it must be: no text of a user can break it."""
    return ET.fromstring(f"<figure>{draw_figure(figure)}</figure>")


def test_texts_are_escaped(hostile):
    trace = scatter("markers", hostile, [1.0], [2.0]) | {"text": [hostile], "hovertemplate": "%{text}"}
    tree = drawn({"data": [trace], "layout": {"xaxis": titled(hostile)}, "meta": {}})
    assert [title.text for title in tree.iter("title")] == [hostile]
    assert hostile in [span.text for span in tree.iter("span")]


def test_a_diagram_is_drawn_for_both_kinds_of_axes(study):
    tree = drawn(reliability_figure(study.before, "@before", shared_scale(study)))
    areas = [area for area in tree.iter("svg") if (area.get("class") or "").startswith("area")]
    assert [area.get("class") for area in areas] == ["area even", "area stretched"]
    for area, kind in zip(areas, ("linear", "logit"), strict=True):
        assert area.get("data-x").startswith(kind)
        marks = [mark for mark in area.iter("g") if (mark.get("class") or "").startswith("mark")]
        assert len(marks) == len(study.before.linear.points)
        assert all("predicted" in mark.find("title").text for mark in marks)
        assert [path.get("class") for path in area.iter("path")].count("band") == 1


def test_only_one_method_of_the_map_is_seen_at_first(study):
    tree = drawn(map_figure(study, shared_scale(study)))
    groups = [group for group in tree.iter("g") if group.get("data-method")]
    shown = {group.get("data-method") for group in groups if group.get("hidden") is None}
    assert shown == {"bayes_iso"}
    assert len(groups) == 2 * len(study.maps)


def test_scores_that_are_no_probabilities_have_one_kind_of_axes(unbounded):
    tree = drawn(map_figure(unbounded, shared_scale(unbounded)))
    assert [svg.get("class") for svg in tree.iter("svg")] == ["area", "lines"]
    tip = next(path.get("data-tip") for path in tree.iter("path") if path.get("data-tip"))
    assert "score {x#}" in tip
    assert "becomes {y%}" in tip


def test_words_on_the_y_axis_are_rows_from_the_top():
    names = ["a very long name of a ward in the north", "b"]
    tree = drawn({"data": [scatter("markers", "cost", [1.0, 2.0], names)], "layout": {}, "meta": {}})
    assert tree.find("div").get("class") == "plot rows"
    texts = {text.text: text for text in tree.iter("text") if "of-y" in text.get("class")}
    assert float(texts["b"].get("y")[:-1]) == 75.0
    assert not any(name == names[0] for name in texts)  # too long to stand beside an axis
    assert [circle.get("cy") for circle in tree.iter("circle")] == ["25%", "75%"]


def test_words_on_the_x_axis_share_their_places_between_traces():
    one, two = scatter("markers", "1", [], [1.0, 2.0]), scatter("markers", "2", [], [3.0])
    tree = drawn({"data": [one | {"x": ["a", "b"]}, two | {"x": ["b"]}], "layout": {}, "meta": {}})
    assert [circle.get("cx") for circle in tree.iter("circle")] == ["25%", "75%", "75%"]


def test_a_line_with_data_of_its_own_shows_it_at_its_points():
    line = scatter("lines", "benefit", range(200), [0.5] * 200)
    line |= {"customdata": [[i] for i in range(200)], "hovertemplate": "%{customdata[0]} saved"}
    tree = drawn({"data": [line], "layout": {}, "meta": {}})
    texts = [title.text for title in tree.iter("title")]
    assert (texts[0], texts[-1]) == ("0 saved", "199 saved")
    assert len(texts) <= 60


def test_lines_and_markers_together():
    both = scatter("lines+markers", "loss", [1.0, 2.0], [3.0, 4.0])
    tree = drawn({"data": [both], "layout": {}, "meta": {}})
    assert len(list(tree.iter("circle"))) == 2
    assert len(list(tree.iter("path"))) == 1


def test_strips_have_a_row_for_each_segment(segmented):
    head, strips = draw_strips(segments_figure(segmented.segments), 3)
    assert len(strips) == 3
    marks = [ET.fromstring(strip).findall("g") for strip in strips]
    assert [len(row) for row in marks] == [2, 2, 1]  # one row has no calibrated prediction
    before, after = marks[0]
    assert float(before.find("circle").get("cy")[:-1]) < float(after.find("circle").get("cy")[:-1])
    assert re.search(r"<text[^>]*>0</text>", head)


def test_a_band_of_a_section_is_inside_its_axis():
    line = scatter("lines", "a", [0.0, 1.0], [0.0, 0.0])
    line["meta"] |= {"low": [-5.0, -5.0], "high": [9.0, 9.0], "band": "@after/band"}
    tree = drawn({"data": [line], "layout": {}, "meta": {}})
    heights = [float(n) for n in re.findall(r"[\d.]+", next(tree.iter("path")).get("d"))[1::2]]
    assert 0.0 < min(heights) < max(heights) < 1000.0


def test_unknown_colours_are_refused():
    with pytest.raises(ValueError, match="must be a name of the page"):
        drawn({"data": [scatter("lines", "a", [0.0], [1.0]) | {"line": {"color": "red"}}], "layout": {}, "meta": {}})


def test_rows_that_are_given_as_such_have_shorter_names_on_phones():
    names = ["a rather long name of a ward", "b"]
    axis = {"range": [1.5, -0.5], "tickvals": [0, 1], "ticktext": names}
    meta = {"rows": 2, "names": names, "short": "Points"}
    gaps = scatter("markers", "gaps", [1.0, 2.0], [-0.15, 1.15])
    tree = drawn({"data": [gaps], "layout": {"xaxis": titled("Long title"), "yaxis": axis}, "meta": meta})
    texts = {text.text: text.get("class") for text in tree.iter("text")}
    assert texts["a rather long name of a ward"] == "of-y on-wide"
    assert texts["a rather long name …"] == "of-y on-narrow"
    assert [(span.text, span.get("class")) for span in tree.iter("span")] == [
        ("Long title", "on-wide"),
        ("Points", "on-narrow"),
    ]
