import numpy as np
import pytest

from calibrant import evaluate, simulate
from calibrant.metrics.verdict import judge

FAST = {"n_resamples": 20}


def first_remark(data):
    return evaluate(data.labels, data.scores, **FAST).remarks[0]


def test_calibrated_scores_show_no_sign():
    data = simulate.binomial_process(800, lambda s: s, (1.0, 1.0), rng=1)
    assert first_remark(data).startswith("No sign of miscalibration in 800 rows")


def test_miscalibrated_scores_say_what_recalibration_gains():
    assert "would lower the Brier score by up to 0." in first_remark(simulate.from_truth("D1", 2000))


def test_a_false_alarm_is_rare():
    quiet = [
        first_remark(simulate.binomial_process(300, lambda s: s, (1.0, 1.0), rng=seed)).startswith("No sign")
        for seed in range(15)
    ]
    assert np.mean(quiet) > 0.7


def test_a_wave_inside_the_bins_is_hidden_from_ece_but_not_from_the_proper_score():
    data = simulate.binomial_process(60_000, lambda s: np.clip(s + 0.03 * np.sin(30 * np.pi * s), 0, 1), (1.0, 1.0))
    remark = first_remark(data)
    assert remark.startswith("ECE and the Brier score disagree")
    assert "is within chance" in remark


def test_an_ece_that_no_recalibration_explains():
    tally = simulate.binomial_process(500, lambda s: s, (1.0, 1.0)).tally
    remark = judge(tally, tally, {"ece": 0.3, "miscalibration": 0.0, "brier_score": 0.2}, 0)
    assert remark.startswith("ECE and the Brier score disagree: ECE 0.3000 is more than chance gives")


def test_ece_against_proper_scores_between_models():
    data = simulate.from_truth("asymmetric", 3000, rng=0)
    table = evaluate(data.labels, {"model": data.scores, "base rate": np.full(3000, data.labels.mean())}, **FAST)
    assert table.remarks[0].startswith("ECE prefers base rate, but the proper scores (log-loss, Brier) prefer model.")


@pytest.mark.parametrize("weight", [0.3, 1.0, 2.5])
def test_weights_that_are_no_whole_numbers(weight):
    data = simulate.from_truth("D1", 500)
    table = evaluate(data.labels, data.scores, sample_weight=np.full(500, weight), **FAST)
    assert table.n_rows == pytest.approx(500 * weight)
    assert "Miscalibrated" in table.remarks[0]
