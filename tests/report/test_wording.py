import re
from dataclasses import replace

import pytest

from calibrant.metrics import Interval
from calibrant.report.wording import (
    count,
    estimate,
    named,
    number,
    outcome_of,
    percent,
    points_estimate,
    sentence_case,
    short_title,
    shortened,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0 %"), (1.0, "100 %"), (0.238, "23.8 %"), (0.0312, "3.1 %"), (0.0052, "0.52 %"), (0.000031, "0.0031 %")],
)
def test_percent_keeps_two_digits_of_what_is_rare(value, text):
    assert percent(value) == text


def test_percent_near_one_shows_what_is_missing():
    assert percent(0.99996) == "99.9960 %"


def test_percents_stop_where_nobody_counts_the_zeros():
    assert (percent(1e-7), percent(9e-9), percent(1 - 2e-7)) == ("0.000010 %", "under 0.000001 %", "99.999980 %")
    assert (percent(1 - 1e-13), percent(5e-324)) == ("over 99.999999 %", "under 0.000001 %")


def test_counts_are_parted_and_weights_keep_a_digit():
    assert (count(1234567.0), count(12.5), count(3.0)) == ("1,234,567", "12.5", "3")


def test_points_have_the_digits_that_their_interval_leaves_certain():
    assert points_estimate(Interval(0.0094, 0.007, 0.0119, 0.9)) == ("0.9", "0.7 to 1.2")
    assert points_estimate(Interval(0.048, 0.003, 0.202, 0.9)) == ("5", "0 to 20")
    assert points_estimate(Interval(0.00036, 0.0001, 0.00066, 0.9)) == ("0.04", "0.01 to 0.07")
    assert points_estimate(Interval(0.05, 0.05, 0.05, 0.9)) == ("5.0", "5.0 to 5.0")


def test_wide_intervals_have_few_digits():
    assert estimate(Interval(0.4385, 0.0, 0.843, 0.9)) == ("0.439", "0.000 to 0.843")
    assert estimate(Interval(0.3876, 0.3811, 0.3932, 0.9)) == ("0.3876", "0.3811 to 0.3932")
    assert estimate(Interval(1234.5, 900.0, 1500.0, 0.9)) == ("1234", "900 to 1500")


def test_numbers_have_a_true_minus_sign_and_no_negative_zero():
    assert number(-0.5) == "−0.5000"
    assert number(-0.00001, size=0.5) == "0.0000"
    assert number(0.000364) == "0.000364"
    assert estimate(Interval(-0.01, -0.02, 0.0, 0.9), "+") == ("−0.0100", "−0.0200 to 0.0000")


def test_titles_in_a_sentence_have_no_brackets():
    assert short_title("ABB (average of binnings)") == "ABB"
    assert short_title("Platt scaling") == "Platt scaling"


def test_names_in_a_sentence():
    assert named(["north"]) == "“north”"
    assert named(["north", "south", "west"]) == "“north”, “south” and “west”"
    assert named(list("abcdefgh")) == "“a”, “b”, “c”, “d”, “e” and 3 more"
    assert sentence_case("do nothing") == "Do nothing"


def test_all_words_differ():
    event, hit = vars(outcome_of(False)), vars(outcome_of(True))
    assert event.keys() == hit.keys()
    assert not set(event.values()) & set(hit.values())


@pytest.mark.parametrize("name", ["data", "segmented", "classes"])
def test_a_page_about_predicted_classes_speaks_of_right_and_wrong(name, request, render_page):
    data = replace(request.getfixturevalue(name), top_label=True)
    page = render_page(data)
    shown = re.sub(r"<style.*?</style>", "", page, flags=re.DOTALL)
    shown = re.sub(r"<[^>]*>", lambda tag: " ".join(re.findall(r'(?:aria-label|data-head)="([^"]*)"', tag[0])), shown)
    assert re.findall(r".{0,30}(?:happen|positive|the event).{0,20}", shown) == []
    assert "how often it was right" in page
    assert "Fraction of right predictions" in page


def test_long_names_stay_distinct():
    assert shortened(["short", "Branch 16 in a city"], 12) == ["short", "Branch 16 i…"]
    wards = ["Hospital of the Holy Cross, ward 12", "Hospital of the Holy Cross, ward 13"]
    assert shortened(wards, 20) == ["Hospital of t…ard 12", "Hospital of t…ard 13"]
