from dataclasses import replace

import pytest

from calibrant.metrics import Interval
from calibrant.report.calibration_sections import measures_section, methods_section, reliability_section
from calibrant.report.sections import estimate_cells
from calibrant.report.texts import TEXTS
from calibrant.report.wording import percent


def measures(data):
    """The rows of the table by the name of the measure, without the headings of groups."""
    (table,) = measures_section(data).tables
    return {row[0].text: row[1:] for row in table.rows if len(row) > 1}


def test_measures_before_and_after(data):
    section = measures_section(data)
    assert "may be the upper end of its own interval" in section.sentences[0]
    (table,) = section.tables
    assert table.rows[0][0].text == "Proper scores (lower is better)"
    for side, cell in zip(("before", "after"), measures(data)["Log-loss"], strict=True):
        assert float(cell.text) == pytest.approx(getattr(data, side).evaluation["log_loss"].value, abs=1e-3)


def test_estimates_have_like_decimals_and_p_values_three():
    near = [Interval(0.292, 0.2266, 0.3553, 0.9), Interval(0.2634, 0.2158, 0.3093, 0.9)]
    assert [cell.text for cell in estimate_cells(near)] == ["0.292", "0.263"]
    assert [cell.text for cell in estimate_cells([0.0004, 0.21, None])] == ["below 0.001", "0.210", "–"]


def test_every_measure_is_explained(data):
    assert {row.key for row in data.after.evaluation.rows} <= set(TEXTS["measure"])
    (table,) = measures_section(data).tables
    assert all(row[0].small for row in table.rows if len(row) > 1)


def test_without_probabilities_there_is_no_before(unbounded):
    assert measures_section(unbounded).tables[0].head == ("Measure", "After")
    assert reliability_section(unbounded).title == "After calibration"
    assert len(reliability_section(unbounded).figures) == 1


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


def test_of_many_methods_the_figure_shows_the_best_and_the_one_of_the_page(data):
    best, *_, last = data.comparison.results
    more = tuple(replace(best, name=f"m{i}", title=f"method {i}") for i in range(9))
    table = replace(data.comparison, results=(best, *more, last), recommended=best.name)
    titles = data.titles | {one.name: one.title for one in more}
    section = methods_section(replace(data, name="m8", comparison=table, titles=titles))
    (figure,) = section.figures
    assert "; one other is in the table" in figure.caption
    assert "Method 6" in figure.svg
    assert "Method 7" not in figure.svg
    assert "Method 8" in figure.svg
    assert len(section.tables[0].rows) == 11


def test_numbers_behind_the_figures(data):
    section = reliability_section(data)
    points = data.before.diagram.points
    rows = section.figures[0].numbers.rows
    assert len(rows) == len(points)
    assert rows[0][0] == percent(points["mean_score"][0])
    assert rows[0][1].text == percent(points["fraction"][0])
    assert sum(float(row[2]) for row in rows) == data.tally.total
