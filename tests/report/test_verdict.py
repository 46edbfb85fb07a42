from dataclasses import replace

import pytest

from calibrant.comparison import MethodResult
from calibrant.metrics import Interval
from calibrant.report.verdict import evidence, is_small, judge, next_steps, worth_calibrating


def with_facts(found, *, p_value, error, recommended="identity"):
    evaluation = found.before.evaluation
    rows = tuple(replace(r, estimates=(p_value,)) if r.key == "kuiper_p_value" else r for r in evaluation.rows)
    before = replace(found.before, evaluation=replace(evaluation, rows=rows), error=Interval(*error, 0.9))
    comparison = replace(found.comparison, recommended=recommended)
    return replace(found, before=before, comparison=comparison)


@pytest.mark.parametrize(
    ("p_value", "recommended", "error", "tone", "begins"),
    [
        (0.5, "identity", (0.004, 0.002, 0.008), "good", "Yes"),
        (0.5, "identity", (0.06, 0.02, 0.12), "open", "No error shows"),
        (0.03, "identity", (0.06, 0.02, 0.12), "fair", "Probably not quite"),
        (0.03, "platt", (0.06, 0.02, 0.12), "bad", "No,"),
        (0.0001, "identity", (0.06, 0.05, 0.07), "bad", "No,"),
        (0.0001, "platt", (0.004, 0.003, 0.005), "fair", "Nearly"),
    ],
)
def test_answers(found, p_value, recommended, error, tone, begins):
    verdict = judge(with_facts(found, p_value=p_value, error=error, recommended=recommended))
    assert verdict.tone == tone
    assert verdict.answer.startswith(begins)


def test_no_evidence_speaks_of_a_limit_and_names_no_direction(found):
    # The upper end of a central 90 % interval is passed with 5 % probability.
    text = " ".join(judge(with_facts(found, p_value=0.5, error=(0.06, 0.02, 0.123))).sentences)
    assert "with 95 % probability" in text
    assert "at most 12.3 percentage points" in text
    assert "too timid" not in text


def test_evidence_gives_size_interval_and_direction(found):
    text = " ".join(judge(with_facts(found, p_value=0.0001, error=(0.06, 0.05, 0.07), recommended="platt")).sentences)
    assert "about 6.0 percentage points" in text
    assert "90 % credible interval: 5.0 to 7.0 points" in text
    assert "too timid" in text


def test_a_rare_event_is_compared_with_its_rate(found):
    rare = with_facts(found, p_value=0.0001, error=(0.002, 0.001, 0.003), recommended="platt")
    rare = replace(rare, before=replace(rare.before, evaluation=replace(rare.before.evaluation, base_rate=0.004)))
    assert "how often the event happens at all: 0.40 %" in judge(rare).sentences[0]


def test_small_means_small_for_the_rarer_class():
    assert is_small(0.005, 0.5)
    assert not is_small(0.005, 0.01)
    assert not is_small(0.005, 0.99)
    assert not is_small(0.02, 0.5)


def test_scores_that_are_no_probabilities(unbounded):
    verdict = judge(unbounded)
    assert verdict.answer == "These scores are not probabilities yet."
    assert evidence(unbounded) == 0
    assert worth_calibrating(unbounded)


def test_advice_agrees_with_the_comparison(found):
    def advice(**facts):
        return next_steps(with_facts(found, **facts))[0]

    assert advice(p_value=0.5, error=(0.06, 0.02, 0.12)).startswith("Leave")
    assert advice(p_value=0.03, error=(0.06, 0.02, 0.12)).startswith("Gather more rows before")
    assert "their errors are small" in advice(p_value=0.03, error=(0.004, 0.003, 0.005))
    assert advice(p_value=0.0001, error=(0.06, 0.05, 0.07), recommended="platt").startswith("Calibrate with Bayes-Iso")
    assert "optional" in advice(p_value=0.0001, error=(0.004, 0.003, 0.005), recommended="platt")


def test_rows_that_the_fit_has_seen_are_called_so(found):
    assert "checked on rows that the fit had not seen" in judge(found).sentences[-1]
    text = judge(replace(found, unseen=False)).sentences[-1]
    assert "not seen" not in text
    assert "on the same rows" in text
    assert "On new rows it will be larger" in text


def test_without_a_comparison_nothing_is_recommended(found):
    assert next_steps(replace(found, comparison=None))[0].startswith("Gather more rows, of both outcomes")
    same = replace(found, comparison=None, base_rate=1.0)
    assert next_steps(same)[0].startswith("Gather rows of the other outcome")


def test_another_method_is_named_only_if_it_is_better_and_the_rows_tell_it_apart(found):
    facts = {"p_value": 0.0001, "error": (0.06, 0.05, 0.07), "recommended": "platt"}
    losses = {"platt": 0.500, "bayes_iso": 0.510, "identity": 0.6}
    results = tuple(MethodResult(name, Interval(v, v, v, 0.9)) for name, v in losses.items())

    def steps(tied, **changed):
        # The sentence is for people: whatever it names, the field decides.
        facts_of = with_facts(found, **facts)
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


def test_more_rows_are_asked_for_only_where_they_would_tell_more(found):
    uncertain = next_steps(with_facts(found, p_value=0.5, error=(0.06, 0.02, 0.12)))
    certain = next_steps(with_facts(found, p_value=0.0001, error=(0.06, 0.05, 0.07), recommended="platt"))
    assert any("Four times as many rows" in step for step in uncertain)
    assert not any("Four times as many rows" in step for step in certain)
