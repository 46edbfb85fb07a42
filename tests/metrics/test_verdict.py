import numpy as np
import pytest

from calibrant import Tally, evaluate, simulate
from calibrant.metrics import Interval, Verdict, judge_calibration

FAST = {"n_resamples": 20}
CERTAIN, OPEN = Interval(0.02, 0.01, 0.03, 0.9), Interval(0.02, -0.01, 0.05, 0.9)


@pytest.mark.parametrize(
    ("p_value", "gain", "state", "strength"),
    [
        (0.5, None, "no_evidence", 0),
        (0.5, OPEN, "no_evidence", 0),
        (0.5, CERTAIN, "needed", 1),
        (0.03, None, "miscalibrated", 1),
        (0.03, OPEN, "not_repaired", 1),
        (0.03, CERTAIN, "needed", 2),
        (0.0001, OPEN, "not_repaired", 2),
        (None, None, "undecided", 0),
        (None, OPEN, "no_evidence", 0),
        (None, CERTAIN, "needed", 1),
    ],
)
def test_conclusions(p_value, gain, state, strength):
    verdict = Verdict(100.0, 0.5, p_value, gain)
    assert (verdict.state, verdict.strength) == (state, strength)
    assert verdict.calibrate is (state == "needed")
    assert str(verdict).endswith(".")


def test_scores_that_are_no_probabilities_have_to_be_calibrated():
    verdict = judge_calibration(Tally.from_arrays([-1.0, 2.0], [0, 1]), OPEN)
    assert (verdict.state, verdict.calibrate, verdict.strength) == ("not_probabilities", True, 0)


def test_where_all_are_0_or_1_the_test_has_no_value():
    verdict = judge_calibration(Tally.from_arrays([0.0, 1.0], [0, 1]))
    assert verdict.state == "undecided"
    assert "all probabilities are 0 or 1" in str(verdict)


def test_small_means_small_for_the_rarer_class():
    def of(high, base_rate, low=0.0):
        return Verdict(100.0, base_rate, 0.5, error=Interval(high, low, high, 0.9))

    assert of(0.005, 0.5).small
    assert not of(0.005, 0.01).small
    assert not of(0.005, 0.99).small
    assert not of(0.02, 0.5).small
    assert of(0.3, 0.5, low=0.2).large
    assert not of(0.3, 0.5, low=0.1).large
    assert not Verdict(100.0, 0.5, 0.5).small


def test_calibrated_scores_show_no_evidence():
    data = simulate.binomial_process(800, lambda s: s, (1.0, 1.0), rng=1)
    table = evaluate(data.labels, data.scores, **FAST)
    said = "The test finds no evidence against the probabilities in 800 rows (Kuiper's test, p = 0."
    assert table.remarks[0].startswith(said)
    assert table.verdict.state == "no_evidence"


def test_a_false_alarm_is_rare():
    states = [
        judge_calibration(simulate.binomial_process(300, lambda s: s, (1.0, 1.0), rng=seed).tally).state
        for seed in range(200)
    ]
    assert states.count("no_evidence") > 180


@pytest.mark.parametrize("weight", [0.3, 1.0, 2.5])
def test_weights_that_are_no_whole_numbers(weight):
    data = simulate.from_truth("D1", 500)
    table = evaluate(data.labels, data.scores, sample_weight=np.full(500, weight), **FAST)
    assert table.n_rows == pytest.approx(500 * weight)
    assert "Miscalibrated" in table.remarks[0]


@pytest.mark.parametrize(("log_odds", "state"), [(3.1, "needed"), (2.9, "no_evidence"), (-5.0, "no_evidence")])
def test_odds_of_twenty_to_one_are_a_gain(log_odds, state):
    verdict = Verdict(100.0, 0.5, None, shape="matrix", log_odds=log_odds)
    assert verdict.state == state
    direction = "lower" if log_odds > 0 else "higher"
    assert verdict.change == f"the prequential log-loss is {abs(log_odds) / 100:.4f} {direction} per row"
