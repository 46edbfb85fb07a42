import json
from pathlib import Path

import numpy as np
import pytest

from calibrant import Tally, metrics, simulate
from calibrant.errors import InvalidInputError
from calibrant.metrics.scores import check_thresholds, murphy_curve

RECORDED = json.loads((Path(__file__).parents[1] / "decisions" / "peers.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", RECORDED["cases"], ids=lambda case: str(len(case["data"]["labels"])))
def test_agrees_with_scores(case):
    curve = murphy_curve(case["data"]["labels"], case["data"]["probabilities"], thresholds=case["thetas"])
    assert curve.scores / 4 == pytest.approx(case["murphy"])  # that package has ½ where our score has 2


def test_agrees_with_the_costs_of_each_row():
    data = simulate.from_truth("wave", 200)
    curve = murphy_curve(data.labels, data.scores, thresholds=[0.2, 0.5, 0.7])
    for theta, score in zip(curve.thresholds, curve.scores, strict=True):
        acts = data.scores > theta
        costs = np.where(acts, (1 - data.labels) * theta, data.labels * (1 - theta))
        assert score == pytest.approx(2 * costs.mean())


def test_its_integral_is_the_brier_score():
    data = simulate.from_truth("D1", 300)
    fine = (np.arange(20_000) + 0.5) / 20_000
    curve = murphy_curve(data.tally, thresholds=fine)
    assert curve.scores.mean() == pytest.approx(metrics.brier_score(data.tally), rel=1e-4)


def test_weights_are_repeated_rows():
    plain = murphy_curve([0, 1, 1, 1], [0.4, 0.2, 0.2, 0.9])
    weighted = murphy_curve(Tally.from_arrays([0.4, 0.2, 0.9], [0, 1, 1], [1, 2, 1]), name="m")
    np.testing.assert_allclose(plain.scores, weighted.scores)
    assert weighted.name == "m"


@pytest.mark.parametrize("thresholds", [[], [0.0, 0.5], [0.5, 0.4], [[0.5]], [0.5, 1.0], [np.nan]])
def test_refuses_impossible_thresholds(thresholds):
    with pytest.raises(InvalidInputError, match="increasing"):
        murphy_curve([0, 1], [0.2, 0.7], thresholds=thresholds)


def test_decisions_may_begin_at_zero():
    assert check_thresholds(0.2).tolist() == [0.2]
    assert check_thresholds([0.0, 0.5], allow_zero=True).tolist() == [0.0, 0.5]
    with pytest.raises(InvalidInputError, match="from 0 to below 1"):
        check_thresholds([-0.1, 0.5], allow_zero=True)
