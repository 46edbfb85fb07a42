"""What the section on decisions says is what the functions of `calibrant.decisions` say."""

from dataclasses import replace

import pytest

from calibrant.decisions import decision_curve, value_of_calibration
from calibrant.errors import InvalidInputError
from calibrant.report import decision_sections as module
from calibrant.report import write_report
from calibrant.report.decision_sections import DecisionProblem, decision_section
from calibrant.report.wording import estimate, number, percent

pytest.importorskip("jinja2", reason="jinja2 is in the extra `report`")


def test_costs_give_the_threshold_and_what_calibrating_saves(data):
    section = decision_section(data, DecisionProblem(costs=(1.0, 3.0)))
    first, worth, model, _ = section.sentences
    assert first.startswith("A false positive costs 1 and a false negative 3, so it pays to act from")
    assert "25.0 % on." in first
    saved = value_of_calibration(data.calibrator, data.before.tally, cost_fp=1, cost_fn=3)
    value, ends = estimate(saved.gain)
    assert f" {value} for each row" in worth
    assert ends in worth
    assert f"{percent(saved.changed)} of the rows are decided differently" in worth
    curve = decision_curve(data.after.tally, thresholds=[0.25])
    assert f"net benefit of {number(curve.net_benefit[0])}"[:20] in model
    assert number(curve.advantage[0]) in model
    assert "On these rows it is above that of both strategies" in model  # a fact of the sample, which no test backs


def test_a_range_of_thresholds_is_judged_in_its_middle_by_net_benefit(data):
    section = decision_section(data, DecisionProblem(thresholds=(0.2, 0.6)))
    curves = [decision_curve(side.tally, thresholds=[0.4]).net_benefit[0] for side in (data.before, data.after)]
    assert f" {1000 * (curves[1] - curves[0]):.1f}".replace("-", "−") in section.sentences[1]
    assert "true positives in 1000 rows, acting from 40.0 % on" in section.sentences[1]
    assert "for thresholds from 20.0 % to 60.0 %" in section.figures[0].svg


@pytest.mark.parametrize(
    ("gain", "words"),
    [((-0.1, -0.2, -0.05), "does harm"), ((0.1, -0.2, 0.3), "cannot tell"), ((0.1, 0.05, 0.3), "first saves")],
)
def test_the_words_follow_the_interval(data, monkeypatch, gain, words):
    real = module.value_of_predictions

    def changed(*args, **options):
        worth = real(*args, **options)
        return replace(worth, gain=replace(worth.gain, value=gain[0], low=gain[1], high=gain[2]))

    monkeypatch.setattr(module, "value_of_predictions", changed)
    assert words in decision_section(data, DecisionProblem(costs=(1.0, 1.0))).sentences[1]


def test_no_decision_changes_where_all_rows_are_acted_on(data):
    section = decision_section(data, DecisionProblem(costs=(1.0, 9999.0)))
    assert "changes no decision" in section.sentences[1]
    assert "does not help to decide" in section.sentences[2]


def test_scores_that_are_no_probabilities_have_only_what_comes_after(data):
    section = decision_section(replace(data, before=None), DecisionProblem(costs=(1.0, 3.0)))
    assert len(section.sentences) == 3
    assert "before calibration" not in section.figures[0].svg
    assert section.figures[0].numbers.head == ("Threshold", "After calibration", "Treating all")


def test_the_table_has_the_threshold_and_the_values_of_the_curves(data):
    table = decision_section(data, DecisionProblem(costs=(1.0, 3.0))).figures[0].numbers
    row = next(row for row in table.rows if row[0] == "25.0 %")
    curve = decision_curve(data.after.tally, thresholds=[0.25])
    assert row[2].text.startswith(number(curve.net_benefit[0])[:4])
    assert row[3] == number(curve.treat_all[0])


def test_no_threshold_is_printed_twice(data):
    for ends in ((0.1, 0.3), (0.2, 0.6), (0.05, 0.45)):
        table = decision_section(data, DecisionProblem(thresholds=ends)).figures[0].numbers
        printed = [row[0] for row in table.rows]
        assert len(set(printed)) == len(printed) == 9


def test_what_means_nothing_is_refused():
    with pytest.raises(InvalidInputError, match="`thresholds`"):
        _ = DecisionProblem(thresholds=(0.6, 0.2)).ends
    with pytest.raises(InvalidInputError, match="Mistakes must cost"):
        _ = DecisionProblem(costs=(0.0, 1.0)).threshold


def test_the_page_has_the_section_when_asked(tmp_path, tally, comparison):
    for name, options in (("with", {"costs": (1.0, 3.0), "thresholds": (0.1, 0.5)}), ("without", {})):
        write_report(tmp_path / name, tally, comparison=comparison, method="platt", **options)
    pages = [(tmp_path / name).read_text("utf-8") for name in ("with", "without")]
    assert ['<section id="decisions"' in page for page in pages] == [True, False]
