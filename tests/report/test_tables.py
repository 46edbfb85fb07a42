from dataclasses import replace

import pytest

from calibrant.metrics import Interval
from calibrant.report.segments import Gap, Segment
from calibrant.report.tables import (
    MEANING,
    histogram_rows,
    map_rows,
    measure_groups,
    method_rows,
    point_rows,
    segment_rows,
)
from calibrant.report.wording import count, percent


def test_measures_before_and_after(study):
    groups = measure_groups(study)
    first = groups[0]["rows"][0]
    assert groups[0]["name"] == "Proper scores (lower is better)"
    assert first["name"] == "Log-loss"
    for side in ("before", "after"):
        value = getattr(study, side).evaluation["log_loss"].value
        assert float(first[side][0]) == pytest.approx(value, abs=1e-3)


def test_both_sides_of_a_measure_have_like_decimals(study):
    def shown(before, after):
        sides = [
            replace(
                side, evaluation=replace(side.evaluation, rows=(replace(side.evaluation.rows[0], estimates=(one,)),))
            )
            for side, one in ((study.before, before), (study.after, after))
        ]
        row = measure_groups(replace(study, before=sides[0], after=sides[1]))[0]["rows"][0]
        return row["before"][0], row["after"][0]

    near = (Interval(0.292, 0.2266, 0.3553, 0.9), Interval(0.2634, 0.2158, 0.3093, 0.9))
    assert shown(*near) == ("0.292", "0.263")
    far = (Interval(0.0656, 0.0626, 0.0678, 0.9), Interval(0.000651, 0.000197, 0.000651, 0.9))
    assert shown(*far) == ("0.0656", "0.000651")


def test_a_column_of_methods_has_one_number_of_decimals(study):
    rows = method_rows(study)
    for key in ("log_loss", "brier", "change"):
        assert len({len(row[key][0].partition(".")[2]) for row in rows if row[key][1]}) == 1


def test_the_gap_of_a_segment_has_no_more_digits_than_its_rows_tell():
    def gap(predicted, happened, low, high):
        segment = Segment("s", 100.0, Gap(predicted, happened, low, high, off=False), None, None)
        return segment_rows((segment,))[0]["before"]["gap"]

    assert gap(0.22038, 0.22, 0.185, 0.259) == "0.0 points"
    assert gap(0.2266, 0.22, 0.19, 0.26) == "+0.7 points"
    assert gap(0.2, 0.22034, 0.2200, 0.2206) == "−2.03 points"


def test_every_measure_is_explained(study):
    assert {row.key for row in study.after.evaluation.rows} <= set(MEANING)
    assert all(row["meaning"] for group in measure_groups(study) for row in group["rows"])


def test_without_probabilities_there_is_no_before(unbounded):
    assert {row["before"] for group in measure_groups(unbounded) for row in group["rows"]} == {("–", "")}


def test_methods_best_first_with_marks(study):
    first, second = (result.name for result in study.comparison.results[:2])
    rows = method_rows(replace(study, name=second, comparison=replace(study.comparison, recommended=second)))
    assert [row["key"] for row in rows] == ["bayes_iso", first, second, "identity"]  # drawn, but not compared
    assert [row["shown"] for row in rows] == [False, False, True, False]
    assert [row["tags"] for row in rows] == [[], [], ["recommended"], []]
    assert rows[0]["change"] == rows[-1]["change"] == ("–", "")
    nothing = method_rows(replace(study, comparison=replace(study.comparison, recommended="identity")))
    assert nothing[-1]["tags"] == ["recommended"]
    assert nothing[0]["tags"] == ["on this page"]


def test_methods_that_are_not_tied_are_apart(study):
    best, *_, last = study.comparison.results
    more = tuple(replace(best, name=f"m{i}", title=f"method {i}") for i in range(9))
    table = replace(study.comparison, results=(best, *more, last), recommended=best.name, tied=("m0", "m4"))
    rows = method_rows(replace(study, comparison=table))
    assert [row["key"] for row in rows if not row["other"]] == [
        "bayes_iso",
        "isotonic",
        best.name,
        "m0",
        "m4",
        last.name,
    ]
    assert [row["key"] for row in rows if row["other"]] == ["m1", "m2", "m3", "m5", "m6", "m7", "m8"]
    assert [row["other"] for row in rows] == sorted(row["other"] for row in rows)
    few = method_rows(replace(study, comparison=replace(table, results=(best, *more[:3], last))))
    assert not any(row["other"] for row in few)  # two alone need no fold


def test_segments_keep_their_names_as_given(segmented, hostile):
    rows = segment_rows(segmented.segments)
    assert rows[0]["name"] == hostile
    assert rows[0]["rows"] == "300"
    assert rows[-1]["after"] == {"predicted": "–", "gap": "", "off": False}
    assert rows[1]["before"]["off"]
    assert rows[1]["before"]["gap"].startswith("−")


def test_numbers_behind_the_figures(study):
    points = study.before.linear.points
    rows = point_rows(points)
    assert len(rows) == len(points)
    assert rows[0][0] == percent(points["mean_score"][0])
    bars = histogram_rows(study.before.linear.histogram)
    assert sum(float(bar[2].replace(",", "")) for bar in bars) == study.total
    assert count(study.total) == "400"


def test_map_rows_follow_the_map(study):
    rows = map_rows(study.maps["bayes_iso"], probabilities=True)
    table = study.maps["bayes_iso"]
    assert rows[0][:2] == (percent(table["score"][0]), percent(table["probability"][0]))
    assert rows[-1][:2] == (percent(table["score"][-1]), percent(table["probability"][-1]))
    assert map_rows(study.maps["platt"], probabilities=True)[0][2] == "–"
