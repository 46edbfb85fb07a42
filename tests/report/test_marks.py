from xml.etree import ElementTree as ET

import pytest

from calibrant.report.axis import Axis
from calibrant.report.figures import error_bars
from calibrant.report.marks import append_mark, color_style

UNIT = Axis("linear", 0.0, 1.0)


def draw(trace, text=""):
    points = ET.Element("g")
    append_mark(points, trace, 0, (UNIT, UNIT), text)
    return points[0]


def test_a_point_stands_where_its_values_say():
    mark = draw({"x": [0.25], "y": [0.75], "marker": {"size": 10, "color": "@before"}}, "a < b")
    circle = mark.find("circle")
    assert (circle.get("cx"), circle.get("cy"), circle.get("r")) == ("25%", "25%", "5")
    assert mark.get("style") == "--c:var(--before)"
    assert mark.find("title").text == "a < b"


def test_intervals_reach_from_low_to_high_and_stop_at_the_edge():
    trace = {"x": [0.5], "y": [0.5], "error_y": error_bars([0.25], [0.75], "@after")}
    line = draw(trace).find("line")
    assert (line.get("x1"), line.get("x2"), line.get("y1"), line.get("y2")) == ("50%", "50%", "25%", "100%")
    thin = draw({"x": [0.5], "y": [0.5], "error_x": error_bars([0.1], [0.2], "@after/thin")}).find("line")
    assert (thin.get("x1"), thin.get("x2"), thin.get("class")) == ("30%", "60%", "thin")


@pytest.mark.parametrize(
    ("x", "y", "shape"), [(0.5, 2.0, "M0-1.2"), (0.5, -2.0, "M0 1.2"), (-1.0, 0.5, "M-1.2 0"), (3.0, 0.5, "M1.2 0")]
)
def test_points_beyond_the_axes_stand_at_the_end_and_point_outwards(x, y, shape):
    mark = draw({"x": [x], "y": [y]})
    assert mark.get("class") == "mark beyond"
    assert mark.find("svg/path").get("d").startswith(shape)
    assert {mark.find("svg").get("x"), mark.find("svg").get("y")} <= {"0%", "50%", "100%"}


def test_each_point_has_its_own_look():
    look = {"color": ["@m1", "@m2"], "symbol": ["circle-open", "square"], "size": [4, 6]}
    points = ET.Element("g")
    for place in range(2):
        append_mark(points, {"x": [0.1, 0.2], "y": [0.1, 0.2], "marker": look}, place, (UNIT, UNIT), "")
    assert points[0].find("circle").get("class") == "hollow"
    assert points[1].find("svg/path") is not None
    assert points[1].get("style") == "--c:var(--m2)"


@pytest.mark.parametrize("color", ["red", "#fff", "@a;b", '@"x'])
def test_colours_are_names_of_the_page(color):
    with pytest.raises(ValueError, match="must be a name of the page"):
        color_style(color)
