from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest

from calibrant.report.axis import Axis
from calibrant.report.bars import draw_bars, histogram_bars, place_bars


def edges(left, right, total):
    return {"left": left, "right": right, "total": total, "positives": [0.0] * len(total)}


def test_no_rows_are_lost_beyond_the_ends_and_no_bars_overlap():
    every = edges([0.0, 0.001, 0.01, 0.5, 0.99], [0.001, 0.01, 0.5, 0.99, 1.0], [3.0, 4.0, 5.0, 6.0, 7.0])
    bars = place_bars(every, Axis("logit", -2.0, 2.0))
    assert sum(bar.rows for bar in bars) == 25.0
    assert all(a.right <= b.left + 1e-6 for a, b in pairwise(bars))
    assert all(0.0 <= bar.left < bar.right <= 100.0 for bar in bars)
    assert (bars[0].start, bars[-1].end) == (0.0, 1.0)


def test_bars_of_a_histogram_know_their_share():
    table = edges([0.0, 0.5], [0.5, 1.0], [4.0, 8.0]) | {"positives": [1.0, 6.0]}
    trace = {
        "type": "bar",
        "meta": {"bars": {"linear": table, "logit": table}},
        "hovertemplate": "%{customdata[3]:.0%}",
    }
    area = ET.Element("svg")
    draw_bars(area, trace, Axis("linear", 0.0, 1.0), Axis("linear", 0.0, 16.0))
    assert [title.text for title in area.iter("title")] == ["25%", "75%"]
    assert [(r.get("x"), r.get("width"), r.get("y"), r.get("height")) for r in area.iter("rect")] == [
        ("0%", "50%", "75%", "25%"),
        ("50%", "50%", "50%", "50%"),
    ]
    assert histogram_bars({"x": [1.0]}, Axis("linear", 0.0, 1.0)) == []


def test_bars_stand_around_their_place_and_hang_below_zero():
    area = ET.Element("svg")
    trace = {"type": "bar", "x": [0, 1], "y": [10.0, -10.0], "width": 0.5, "name": "cost"}
    draw_bars(area, trace, Axis("linear", -0.5, 1.5), Axis("linear", -20.0, 20.0))
    first, second = area.iter("rect")
    assert float(first.get("x")[:-1]) == pytest.approx(12.5)
    assert (first.get("y"), first.get("height")) == ("25%", "25%")
    assert (second.get("y"), second.get("height")) == ("50%", "25%")


def test_no_rows_have_no_height_on_a_logarithmic_axis():
    area = ET.Element("svg")
    trace = {"type": "bar", "x": [0, 1], "y": [0.0, 10.0]}
    draw_bars(area, trace, Axis("linear", -0.5, 1.5), Axis("log", 0.0, 2.0))
    assert [rect.get("height") for rect in area.iter("rect")] == ["0%", "50%"]
