import re
from dataclasses import replace

import pytest

from calibrant.metrics import Interval
from calibrant.report.verdict import answer, key_figures


@pytest.mark.parametrize(
    ("p_value", "recommended", "error", "tone", "begins"),
    [
        (0.5, "identity", (0.004, 0.002, 0.008), "good", "Yes"),
        (0.5, "identity", (0.06, 0.02, 0.12), "open", "Perhaps: the test finds no error"),
        (0.03, "identity", (0.06, 0.02, 0.12), "fair", "Probably not quite"),
        (0.03, "platt", (0.06, 0.02, 0.12), "bad", "No,"),
        (0.0001, "identity", (0.06, 0.05, 0.07), "bad", "No, its probabilities are off."),
        (0.0001, "platt", (0.15, 0.05, 0.25), "bad", "No, its probabilities are off."),
        (0.0001, "platt", (0.3, 0.2, 0.4), "bad", "No, its probabilities are far off."),
        (0.0001, "platt", (0.004, 0.003, 0.005), "fair", "Nearly"),
    ],
)
def test_answers(with_facts, p_value, recommended, error, tone, begins):
    shown = answer(with_facts(p_value=p_value, error=error, recommended=recommended))
    assert shown.tone == tone
    assert shown.headline.startswith(begins)


def test_no_evidence_speaks_of_a_limit_and_names_no_direction(with_facts):
    # The upper end of a central 90 % interval is passed with 5 % probability.
    calm = with_facts(p_value=0.5, error=(0.06, 0.02, 0.123))
    right = {"slope": Interval(1.1, 0.8, 1.4, 0.9), "intercept": Interval(0.0, -0.2, 0.2, 0.9)}
    evaluation = calm.before.evaluation
    measured = tuple(
        row._replace(estimates=(right[row.key], *row.estimates[1:])) if row.key in right else row
        for row in evaluation.rows
    )
    calm = replace(calm, before=replace(calm.before, evaluation=replace(evaluation, rows=measured)))
    text = " ".join(answer(calm).sentences)
    assert "with 95 % probability" in text
    assert "at most 12 percentage points" in text
    assert "too far from" not in text
    assert "leaves out" not in text


def test_a_slope_that_is_off_is_told_though_the_test_finds_nothing(with_facts):
    """Kuiper's test had found nothing in half of the samples whose slope was 0.7 and had an interval below 1."""
    sentences = answer(with_facts(p_value=0.5, error=(0.06, 0.02, 0.123))).sentences
    assert sentences[1].startswith("But the 90 % interval of the mean or of the slope leaves out what is right")
    assert "too far from 0 % and 100 %" in sentences[2]


def test_evidence_gives_size_interval_and_direction(with_facts):
    text = " ".join(answer(with_facts(p_value=0.0001, error=(0.06, 0.05, 0.07), recommended="platt")).sentences)
    assert "about 6.0 percentage points" in text
    assert "90 % interval: 5.0 to 7.0 points" in text
    assert "too far from 0 % and 100 %" in text


def test_a_rare_event_is_compared_with_its_rate(with_facts):
    rare = with_facts(p_value=0.0001, error=(0.002, 0.001, 0.003), recommended="platt")
    rare = replace(rare, before=replace(rare.before, evaluation=replace(rare.before.evaluation, base_rate=0.004)))
    assert "how often the event happens at all: 0.40 %" in answer(rare).sentences[0]


def test_scores_that_are_no_probabilities(unbounded):
    shown = answer(unbounded)
    assert shown.headline == "These scores are not probabilities yet."


def test_segments_that_are_off_are_in_the_verdict(segmented):
    shown = answer(segmented)
    assert "segments" in shown.sentences[-1]
    assert "“south”" in shown.sentences[-1]


def test_a_whole_without_error_does_not_hide_its_segments(segmented, with_facts):
    calm = with_facts(p_value=0.5, error=(0.004, 0.002, 0.008))
    assert answer(calm).tone == "good"
    shown = answer(replace(calm, segments=segmented.segments))
    assert shown.tone == "fair"
    assert "some segments are off" in shown.headline
    assert any(text.startswith("In 1 of 3 segments the probabilities do not fit: “south”") for text in shown.sentences)


def test_where_the_mean_is_wrong_low_ones_are_not_called_too_high(segmented):
    # All are too low on the whole, so those at the low end need not come down.
    shifted = answer(segmented).sentences
    assert any("too low" in sentence for sentence in shifted)
    assert not any("low ones" in sentence for sentence in shifted)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ((0.01, 0.005, 0.02), "are worse by more than chance explains"),
        ((-0.02, -0.03, -0.01), "are better by more than chance explains"),
        ((-0.01, -0.03, 0.01), "are not better beyond chance"),
    ],
)
def test_the_change_of_the_predictions_is_said_in_words(data, change, text):
    results = tuple(replace(r, log_loss_difference=Interval(*change, 0.9)) for r in data.comparison.results)
    table = replace(data.comparison, results=results, recommended="identity")
    assert text in answer(replace(data, name="platt", comparison=table)).sentences[-1]


def test_a_shift_that_is_a_small_part_of_the_error_is_not_named(segmented):
    def sentences(error):
        before = replace(segmented.before, error=Interval(error, 0.9 * error, 1.1 * error, 0.9))
        return " ".join(answer(replace(segmented, before=before)).sentences)

    assert "On the whole the predictions are too low" in sentences(0.1)
    assert "On the whole" not in sentences(0.9)


def test_all_segments_are_called_all(segmented, with_facts):
    calm = with_facts(p_value=0.5, error=(0.004, 0.002, 0.008))
    south = next(one for one in segmented.segments.segments if one.name == "south")
    both = replace(segmented.segments, segments=(south, replace(south, name="west")))
    sentences = answer(replace(calm, segments=both)).sentences
    assert any(
        text.startswith("In all 2 segments the probabilities do not fit: “south” and “west”") for text in sentences
    )


@pytest.mark.parametrize("name", ["data", "segmented", "unbounded"])
def test_the_first_screen_has_one_kind_of_interval_and_no_term_of_art(name, request):
    shown = answer(request.getfixturevalue(name))
    text = " ".join((shown.headline, *shown.sentences))
    assert not re.search("credible|confidence|log-loss|Brier|ECE|extreme|timid", text)


def test_key_figures_are_error_prediction_and_method(with_facts):
    data = with_facts(p_value=0.0001, error=(0.06, 0.05, 0.07), recommended="platt")
    error, predicted, method = key_figures(data)
    assert error.value == "6.0 points"
    assert error.remark.endswith(" points after calibration")
    assert predicted.value == f"{100 * data.before.mean:.1f} % predicted"
    assert predicted.remark == f"{100 * data.tally.base_rate:.1f} % happened; before calibration"
    assert method.value == "Bayes-Iso"
    assert "not seen" in method.remark
    assert " % right;" in key_figures(replace(data, top_label=True))[1].remark


def test_where_nothing_is_to_be_done_no_method_is_named(with_facts):
    error, _, method = key_figures(with_facts(p_value=0.5, error=(0.004, 0.002, 0.008)))
    assert "after" not in error.remark
    assert method.value == "None needed"
    assert key_figures(with_facts(p_value=0.5, error=(0.06, 0.02, 0.12)))[2].value == "None yet"
    assert key_figures(with_facts(p_value=0.0001, error=(0.06, 0.05, 0.07)))[2].value == "None yet"


def test_key_figures_without_probabilities(unbounded):
    error, predicted, _ = key_figures(unbounded)
    assert error.label == "Average error after calibration"
    assert "after" in predicted.remark
