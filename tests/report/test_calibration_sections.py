from dataclasses import replace

import pytest

from calibrant.metrics import Interval
from calibrant.report.calibration_sections import (
    MEANING,
    map_section,
    measures_section,
    methods_section,
    reliability_section,
)
from calibrant.report.wording import count, percent


def measures(data):
    """The rows of the table by the name of the measure, without the headings of groups."""
    (table,) = measures_section(data).tables
    return {row[0].text: row[1:] for row in table.rows if len(row) > 1}


def test_measures_before_and_after(data):
    (table,) = measures_section(data).tables
    assert table.rows[0][0].text == "Proper scores (lower is better)"
    for side, cell in zip(("before", "after"), measures(data)["Log-loss"], strict=True):
        assert float(cell.text) == pytest.approx(getattr(data, side).evaluation["log_loss"].value, abs=1e-3)


def test_both_sides_of_a_measure_have_like_decimals(data):
    def shown(*estimates):
        sides = [
            replace(
                side, evaluation=replace(side.evaluation, rows=(replace(side.evaluation.rows[0], estimates=(one,)),))
            )
            for side, one in zip((data.before, data.after), estimates, strict=True)
        ]
        (cells,) = measures(replace(data, before=sides[0], after=sides[1])).values()
        return tuple(cell.text for cell in cells)

    near = (Interval(0.292, 0.2266, 0.3553, 0.9), Interval(0.2634, 0.2158, 0.3093, 0.9))
    assert shown(*near) == ("0.292", "0.263")
    far = (Interval(0.0656, 0.0626, 0.0678, 0.9), Interval(0.000651, 0.000197, 0.000651, 0.9))
    assert shown(*far) == ("0.0656", "0.000651")


def test_every_measure_is_explained(data):
    assert {row.key for row in data.after.evaluation.rows} <= set(MEANING)
    (table,) = measures_section(data).tables
    assert all(row[0].small for row in table.rows if len(row) > 1)


def test_without_probabilities_there_is_no_before(unbounded):
    assert measures_section(unbounded).tables[0].head == ("Measure", "After")
    assert reliability_section(unbounded).title == "After calibration"
    assert len(reliability_section(unbounded).figures) == 2  # on even and on stretched axes


def test_methods_best_first_with_marks(data):
    first, second, last = (result.name for result in data.comparison.results)
    shown = replace(data, name=first, comparison=replace(data.comparison, recommended=second))
    (table,) = methods_section(shown).tables
    assert [row[0].tag for row in table.rows] == ["on this page", "recommended", ""]
    assert last == "identity"
    assert table.rows[-1][2].text == "–"
    for column in (1, 2, 3):
        cells = [row[column] for row in table.rows if row[column].small]
        assert len({len(cell.text.partition(".")[2]) for cell in cells}) == 1  # decimals
    assert methods_section(replace(data, comparison=None)) is None


def test_of_many_methods_the_figure_shows_those_that_may_be_best(data):
    best, *_, last = data.comparison.results
    more = tuple(replace(best, name=f"m{i}", title=f"method {i}") for i in range(9))
    table = replace(data.comparison, results=(best, *more, last), recommended=best.name, tied=("m0", "m4"))
    titles = data.titles | {one.name: one.title for one in more}
    section = methods_section(replace(data, name=best.name, comparison=table, titles=titles))
    (figure,) = section.figures
    assert "7 others are in the table" in figure.caption
    assert "Method 4" in figure.svg
    assert "Method 5" not in figure.svg
    assert len(section.tables[0].rows) == 11


def test_numbers_behind_the_figures(data):
    section = reliability_section(data)
    points = data.before.linear.points
    rows = section.figures[0].numbers.rows
    assert len(rows) == len(points)
    assert rows[0][0] == percent(points["mean_score"][0])
    assert rows[0][1].text == percent(points["fraction"][0])
    bars = section.tables[0].rows
    assert sum(float(bar[2].replace(",", "")) for bar in bars) == data.total
    assert count(data.total) == "400"


def test_the_numbers_of_the_map_follow_the_map(data, one_sided):
    (figure,) = map_section(data).figures
    rows = figure.numbers.rows
    for row, point in ((rows[0], data.map[0]), (rows[-1], data.map[-1])):
        assert (row[0], row[1].text) == (percent(point["score"]), percent(point["probability"]))
        assert row[1].small
    assert map_section(one_sided) is None


def test_the_map_of_classes_is_an_average(classes):
    assert "the probability of the predicted class becomes" in map_section(classes).sentences[0]
    assert "on average" in map_section(classes).sentences[0]
