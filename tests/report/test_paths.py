from xml.etree import ElementTree as ET

import numpy as np

from calibrant.report.axis import Axis
from calibrant.report.figures import scatter
from calibrant.report.paths import TOLERANCE, draw_line, simplify

UNIT = Axis("linear", 0.0, 1.0)


def draw(trace, tip=""):
    group = ET.Element("g")
    draw_line(group, trace, UNIT, UNIT, tip)
    return list(group)


def test_a_line_in_units_with_its_tip():
    (path,) = draw(scatter("lines", "a", [0.0, 0.25, 1.0], [0.0, 0.5, 1.0]) | {"line": {"dash": "dash"}}, "at {x%}")
    assert path.get("d") == "M0 1000 250 500 1000 0"
    assert path.get("stroke-dasharray")
    assert path.get("data-tip") == "at {x%}"


def test_a_band_goes_along_the_top_and_back_along_the_bottom():
    trace = scatter("lines", "a", [0.0, 1.0], [0.5, 0.5])
    trace["meta"] |= {"low": [0.4, 0.3], "high": [0.6, 0.7], "band": "@after/band"}
    band, _ = draw(trace)
    assert band.get("d") == "M0 400 1000 300 1000 700 0 600Z"
    assert band.get("data-top") == "2"


def test_the_diagonal_joins_the_corners_on_any_axes():
    trace = scatter("lines", "perfect", [0.0, 1.0], [0.0, 1.0])
    trace["meta"]["diagonal"] = True
    group = ET.Element("g")
    draw_line(group, trace, Axis("logit", -3.0, 3.0), Axis("logit", -3.0, 3.0), "")
    assert group[0].get("d") == "M0 1000 1000 0"


def test_corners_left_out_cannot_be_seen():
    x = np.linspace(0.0, 1000.0, 500)
    y = 500.0 + 300.0 * np.sin(x / 150.0)
    kept = simplify(x, y)
    assert len(kept) < 200
    assert np.abs(np.interp(x, kept[:, 0], kept[:, 1]) - y).max() < 3 * TOLERANCE
    assert kept[0].tolist() == [0.0, y[0]]
    assert kept[-1].tolist() == [1000.0, y[-1]]


def test_steps_stay_upright_and_single_points_stay():
    corners = simplify(np.array([0.0, 5.0, 5.0, 9.0]), np.array([1.0, 1.0, 8.0, 8.0]))
    assert corners.tolist() == [[0.0, 1.0], [5.0, 1.0], [5.0, 8.0], [9.0, 8.0]]
    assert simplify(np.array([3.0]), np.array([4.0])).tolist() == [[3.0, 4.0]]
