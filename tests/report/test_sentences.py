"""Every claim that a page prints holds for the numbers it rests on, whatever the verdict and the shape of the data."""

import re
from dataclasses import replace

import numpy as np
import pytest

from calibrant import compare
from calibrant.report.calibration_sections import comparison_result, meaning_section, methods_section
from calibrant.report.data import GROUPED, make_report_data
from calibrant.report.decision_sections import DecisionProblem, decision_section
from calibrant.report.verdict import answer, key_figures, next_steps
from calibrant.report.wording import percent, points_estimate

SLOPES = {"needed": 2.5, "not needed": 1.0, "harmful": 1.0, "undecided": 1.3}
SHAPES = ("score", "classes", "decision", "few", "groups")
COSTS = DecisionProblem(costs=(1.0, 4.0))


def make(state, shape):
    rng = np.random.default_rng(1)
    n, slope = {"few": 40}.get(shape, 900), SLOPES[state]
    if shape == "classes":
        truth = rng.dirichlet(np.ones(3), n)
        y = (truth.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
        scores = truth ** (1 / slope) / (truth ** (1 / slope)).sum(axis=1, keepdims=True)
        return make_report_data(scores, y, methods=["temperature", "vector_scaling"])
    z = rng.normal(0.0, 1.2, n).round(1)
    y = rng.random(n) < 1 / (1 + np.exp(-slope * z))
    rough = "isotonic" if shape == "decision" else "histogram"  # shown where it does harm, though not recommended
    options = {"methods": ["platt", rough], "method": rough if state == "harmful" else None}
    if shape == "decision":
        return make_report_data(3 * z - 1, y, space="decision", **options)
    if shape == "groups":
        options["groups"] = np.arange(n) % 60
    return make_report_data(1 / (1 + np.exp(-z)), y, **options)


@pytest.fixture(scope="module", params=[(state, shape) for state in SLOPES for shape in SHAPES], ids="-".join)
def shown(request):
    state, shape = request.param
    return make(state, shape), shape


def matches(text, pattern):
    return [found.groups() for found in re.finditer(pattern, text)]


def test_the_answer_holds(shown):
    data, _ = shown
    result = answer(data)
    text, verdict = " ".join(result.sentences), data.verdict
    assert ("decision scores" in text) is (data.before is None)
    assert (result.tone == "good") is (verdict.probabilities and verdict.strength == 0 and verdict.small)
    assert ("far off" in result.headline) is (verdict.strength == 2 and verdict.large)
    for value, low, high in matches(text, r"about ([\d.]+) percentage points .*?interval: ([\d.]+) to ([\d.]+) points"):
        assert (value, f"{low} to {high}") == points_estimate(data.before.error)
    for (most,) in matches(text, r"at most ([\d.]+) percentage points"):
        assert float(most) == pytest.approx(100 * data.before.error.high, rel=0.1, abs=0.6)
    for word, mean, rate in matches(text, r"predictions are too (high|low): (.*? %) predicted, (.*? %) "):
        assert (word == "high") is (data.before.mean > data.tally.base_rate)
        assert (mean, rate) == (percent(data.before.mean), percent(data.tally.base_rate))
    slope = None if data.before is None else data.before.evaluation["slope"]
    assert "too close to" not in text or slope.high < 1.0
    assert "too far from" not in text or slope.low > 1.0
    (found,) = matches(text, r"average error is about ([\d.]+) points \(90 % interval: (.*?)\)")
    assert found == points_estimate(data.after.error)
    assert "had not seen" in text


def test_what_calibrating_does_to_the_predictions_holds(shown):
    data, _ = shown
    last, change = answer(data).sentences[-1], None
    if data.comparison.reference == "identity":
        change = data.comparison[data.name].log_loss_difference
    assert ("are better by more than chance" in last) is (change is not None and change.high < 0.0)
    assert ("are worse by more than chance" in last) is (change is not None and change.low > 0.0)
    assert ("are not better beyond chance" in last) is (change is not None and change.low <= 0.0 <= change.high)


def test_the_steps_and_the_comparison_hold(shown):
    data, _ = shown
    steps, result = next_steps(data), comparison_result(data)
    assert steps[0].startswith(("Calibrat", "Turn")) is data.calibrate
    comparison = data.comparison
    unbeaten = comparison.recommended == comparison.reference
    assert ("no method lowers" in result or "no other method" in result) is unbeaten
    assert ("not beaten beyond chance" in str(methods_section(data).tables)) is unbeaten
    for value, low, high in matches(result, r"log-loss is ([\d.]+) \((\S+) to (\S+)\) lower than"):
        change = comparison[comparison.recommended].log_loss_difference
        ends = [float(end.replace("−", "-")) for end in (value, low, high)]
        assert ends == pytest.approx([-change.value, -change.high, -change.low], rel=0.01, abs=1e-4)
    losses = {one.name: one.log_loss.value for one in comparison.results if one.log_loss is not None}
    for (behind,) in matches(" ".join(steps), r"its log-loss was ([\d.]+) lower"):
        assert float(behind) == pytest.approx(losses[data.name] - losses[comparison.recommended], rel=0.01)
        assert data.name not in comparison.tied
    assert f"fitted to {comparison.cv - 1} of {comparison.cv} parts" in methods_section(data).sentences[1]


def test_the_tiles_hold(shown):
    data, shape = shown
    error, mean, method, *act = key_figures(data, COSTS)
    side = data.before or data.after
    assert error.value == f"{points_estimate(side.error)[0]} points"
    assert mean.value == f"{percent(side.mean)} predicted"
    assert mean.remark.startswith(percent(data.tally.base_rate))
    assert "→" not in error.value + mean.value + mean.remark
    assert method.value.startswith("None") is not data.calibrate
    assert (method.value == "None needed") is (not data.calibrate and data.verdict.small)
    assert len(act) == (shape != "classes")
    for tile in act:
        if not data.calibrate:
            assert tile.value == "20.0 %"
        elif tile.label == "Act from a score of":
            score = float(tile.value.replace("−", "-").removesuffix(" %")) / (1 if data.before is None else 100)
            # Rounded to three digits, the score means about the probability that the costs ask for.
            below, above = data.calibrator.predict([score - 0.02, score + 0.02])
            assert below <= 0.2 <= above


def test_the_meaning_and_the_decision_hold(shown):
    data, shape = shown
    for (score,) in matches(meaning_section(data).sentences[0], r"From a score of (\S+)(?: %)? up"):
        start = float(score.replace("−", "-")) / (1 if data.before is None else 100)
        below, above = data.calibrator.predict([start - 0.02, start + 0.02])
        assert below <= 0.5 <= above
    if shape == "classes":
        return
    text = " ".join(decision_section(data, COSTS).sentences)
    assert "so it pays to act from a probability of 20.0 % on." in text
    for value, low, high in matches(text, r"Calibrating first saves (\S+) .*?interval (\S+) to (\S+)\)"):
        assert 0.0 < float(low) <= float(value) <= float(high)


def test_groups_are_said_and_only_where_there_are_some(shown):
    data, shape = shown
    assert (GROUPED in data.notes) is (shape == "groups")


def test_groups_reach_the_comparison():
    rng = np.random.default_rng(0)
    site = np.repeat(np.arange(40), 20)
    scores = np.repeat(rng.random(40), 20)
    y = rng.random(800) < np.repeat(rng.random(40), 20)
    data = make_report_data(scores, y, groups=site, methods=["platt"])
    expected = compare(scores, y, groups=site, methods=["platt"], cv=5)
    assert replace(data.verdict, error=None) == expected.verdict
    assert data.verdict.p_value > make_report_data(scores, y, methods=["platt"]).verdict.p_value
