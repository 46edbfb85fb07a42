from dataclasses import replace

from calibrant.comparison import MethodResult
from calibrant.metrics import Interval
from calibrant.report.calibration_sections import comparison_result
from calibrant.report.verdict import next_steps


def test_advice_agrees_with_the_comparison(with_facts):
    def advice(**facts):
        return next_steps(with_facts(**facts))[0]

    assert advice(p_value=0.5, error=(0.06, 0.02, 0.12)).startswith("Leave")
    assert advice(p_value=0.03, error=(0.06, 0.02, 0.12)).startswith("Gather more rows before")
    assert "their errors are small" in advice(p_value=0.03, error=(0.004, 0.003, 0.005))
    assert advice(p_value=0.0001, error=(0.06, 0.05, 0.07), recommended="platt").startswith(
        "Calibrate the scores with Bayes-Iso"
    )
    assert "optional" in advice(p_value=0.0001, error=(0.004, 0.003, 0.005), recommended="platt")


def test_another_method_is_named_only_if_it_is_better_and_the_rows_tell_it_apart(with_facts):
    facts = {"p_value": 0.0001, "error": (0.06, 0.05, 0.07), "recommended": "platt"}
    losses = {"platt": 0.500, "bayes_iso": 0.510, "identity": 0.6}
    results = tuple(MethodResult(name, Interval(v, v, v, 0.9)) for name, v in losses.items())

    def steps(tied, **changed):
        # The sentence is for people: whatever it names, the field decides.
        facts_of = with_facts(**facts)
        new = replace(facts_of.comparison, results=results, tied=tied, reason="bayes_iso is no bayes_iso", **changed)
        return " ".join(next_steps(replace(facts_of, comparison=new)))

    assert "Consider Platt scaling: its log-loss was 0.0100 lower" in steps(("beta",))
    assert "Consider" not in steps(("beta", "bayes_iso"))
    assert "Consider" not in steps((), recommended="identity")
    close = replace(results[1], log_loss=Interval(0.5001, 0.5, 0.5002, 0.9))
    results = (results[0], close, results[2])
    assert "Consider" not in steps(())


def test_segments_that_stay_off_are_named(segmented):
    text = " ".join(next_steps(segmented))
    assert "Look into" in text
    assert "“south”" in text


def test_more_rows_are_asked_for_only_where_they_would_tell_more(with_facts):
    uncertain = next_steps(with_facts(p_value=0.5, error=(0.06, 0.02, 0.12)))
    certain = next_steps(with_facts(p_value=0.0001, error=(0.06, 0.05, 0.07), recommended="platt"))
    assert any("Four times as many rows" in step for step in uncertain)
    assert not any("Four times as many rows" in step for step in certain)


def test_probabilities_that_are_off_are_not_called_harmless(with_facts):
    step = next_steps(with_facts(p_value=0.0001, error=(0.06, 0.05, 0.07)))[0]
    assert step.startswith("Do not rely on these probabilities. So far no method improves on them")


def test_scores_are_turned_into_probabilities(unbounded):
    assert unbounded.calibrate
    assert next_steps(unbounded)[0].startswith("Turn the scores into probabilities")


def test_segments_are_named_even_where_calibrating_is_not_advised(with_facts, segmented):
    calm = replace(with_facts(p_value=0.5, error=(0.06, 0.02, 0.12)), segments=segmented.segments)
    step = next_steps(calm)[1]
    assert step.startswith("Look into “south”: the probabilities do not fit there.")


def test_the_result_of_the_comparison_in_words(data):
    best = replace(data, name="isotonic", comparison=replace(data.comparison, recommended="platt", tied=()))
    text = comparison_result(best)
    assert text.startswith("Platt scaling: its log-loss is 0.")
    assert text.endswith("lower than that of the raw score, the lowest of all.")
    tied = comparison_result(replace(best, comparison=replace(best.comparison, tied=("isotonic", "spline"))))
    assert "cannot tell it from isotonic regression, Bayesian spline." in tied


def test_no_winner_among_many(data):
    none = replace(data, comparison=replace(data.comparison, recommended="identity"))
    text = "Do nothing yet: no method lowers the log-loss of the raw score by more than chance."
    assert comparison_result(none) == text


def test_few_rows_are_no_reason_to_be_content(with_facts):
    def first(error):
        return next_steps(with_facts(p_value=0.5, error=error))[0]

    assert "more rows may" in first((0.12, 0.03, 0.233))
    assert "no reason to change them" in first((0.004, 0.002, 0.008))
