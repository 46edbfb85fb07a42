import math
from itertools import pairwise

import pytest

from calibrant.report.axis import Axis, even_ticks, log_ticks, make_axis, probability_axis, roomy_ticks
from calibrant.report.figures import titled

SCALE = {"linear": [0.0, 1.0], "logit": [-6.0, 6.0], "ticks": [-4.6, 0.0, 4.6], "texts": ["1%", "50%", "99%"]}


def test_an_even_axis_of_probabilities_has_a_margin():
    axis = probability_axis(titled("Score"), SCALE, stretched=False)
    assert axis.place(0.5) == pytest.approx(50.0)
    assert axis.place(0.0) == pytest.approx(100 * 0.02 / 1.04)
    assert [tick.text for tick in axis.ticks] == ["0%", "20%", "40%", "60%", "80%", "100%"]
    assert axis.title == "Score"


def test_a_stretched_axis_is_even_in_logits():
    axis = probability_axis({}, SCALE, stretched=True)
    assert axis.place(1 / (1 + math.exp(3.0))) == pytest.approx(25.0)
    assert axis.place(0.0) < 0.0  # it has no place there
    assert axis.inside(0.0) == 0.0
    assert axis.inside(1.0) == 100.0
    assert [tick.place for tick in axis.ticks] == pytest.approx([100 * 1.4 / 12, 50.0, 100 * 10.6 / 12], abs=0.01)


def test_an_axis_without_a_range_holds_its_values():
    axis = make_axis({}, [3.0, 12.0])
    assert 0.0 < axis.place(3.0) < axis.place(12.0) < 100.0
    counts = make_axis({}, [40.0, 100.0], zero_based=True)
    assert counts.place(0.0) == 0.0


def test_an_axis_of_nothing_or_of_one_value_is_still_an_axis():
    assert make_axis({}, []).place(0.5) == 50.0
    assert make_axis({}, [7.0]).place(7.0) == pytest.approx(50.0)


def test_a_reversed_axis_has_its_first_row_at_the_top():
    axis = make_axis({"range": [2.5, -0.5], "tickvals": [0, 1, 2], "ticktext": ["a", "b", "c"]}, [], upright=True)
    assert axis.place(0.0) > axis.place(2.0)
    assert [tick.text for tick in axis.ticks] == ["a", "b", "c"]


def test_a_logarithmic_axis():
    axis = make_axis({"type": "log", "tickformat": ","}, [1.0, 1000.0])
    assert axis.place(math.sqrt(1000.0)) - axis.place(1.0) == pytest.approx(axis.place(1000.0) - axis.place(10**1.5))
    assert [tick.text for tick in axis.ticks] == ["1", "10", "100", "1,000"]
    assert log_ticks(0.0, 1.0) == [1.0, 2.0, 5.0, 10.0]


def test_ticks_have_the_decimals_of_their_distance():
    assert [tick.text for tick in make_axis({"range": [-0.05, 0.01]}, []).ticks] == [
        "−0.05",
        "−0.04",
        "−0.03",
        "−0.02",
        "−0.01",
        "0",
        "0.01",
    ]
    assert [tick.text for tick in make_axis({"range": [0.0, 1.0], "nticks": 5}, []).ticks] == [
        "0",
        "0.25",
        "0.50",
        "0.75",
        "1.00",
    ]


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-7.3, 11.9), (1e-6, 2e-6), (0.0, 123456.0)])
def test_even_ticks_are_few_even_and_inside(low, high):
    for most in (3, 5, 7):
        ticks = even_ticks(low, high, most)
        assert 1 <= len(ticks) <= most
        assert low - 1e-9 <= ticks[0] <= ticks[-1] <= high + 1e-9
        steps = [b - a for a, b in pairwise(ticks)]
        assert steps == pytest.approx([steps[0]] * len(steps)) if steps else True


def test_ticks_without_room_are_left_out_around_the_middle():
    places, texts = [0.0, 5.0, 10.0, 50.0, 90.0], ["0.1%", "1%", "10%", "50%", "90%"]
    kept = roomy_ticks(places, texts, 250.0, 3)
    assert 3 in kept
    assert 0 not in kept or 1 not in kept
    assert roomy_ticks(places, texts, 2500.0, 3) == {0, 1, 2, 3, 4}


def test_phones_show_fewer_ticks():
    days = {"range": [-0.5, 59.5], "tickvals": [*range(60)], "ticktext": [f"2026-03-{day:02}" for day in range(60)]}
    ticks = make_axis(days, []).ticks
    assert sum(tick.narrow for tick in ticks) < sum(tick.wide for tick in ticks) < 8


def test_places_lie_between_the_ends():
    assert Axis("linear", 10.0, 20.0).place(12.5) == 25.0
