import json
from pathlib import Path

import numpy as np
import pytest

from calibrant import Tally, simulate
from calibrant.decisions import decision_curve, net_benefit
from calibrant.decisions.costs import acted_on
from calibrant.errors import InvalidInputError

RECORDED = json.loads((Path(__file__).parent / "peers.json").read_text(encoding="utf-8"))


def by_rows(y, p, thresholds):
    return [np.mean(y * (p >= t)) - np.mean((1 - y) * (p >= t)) * t / (1 - t) for t in thresholds]


def test_agrees_with_rows_where_probabilities_equal_thresholds():
    rng = np.random.default_rng(0)
    p = rng.integers(0, 11, 200) / 10
    y = (rng.random(200) < p).astype(int)
    thresholds = np.arange(10) / 10
    assert net_benefit(y, p, thresholds=thresholds) == pytest.approx(by_rows(y, p, thresholds))


def test_weights():
    weights, y, p = np.array([1, 3, 2, 2]), np.array([0, 1, 0, 1]), np.array([0.2, 0.3, 0.6, 0.9])
    repeated = by_rows(np.repeat(y, weights), np.repeat(p, weights), [0.25, 0.5])
    assert net_benefit(y, p, thresholds=[0.25, 0.5], sample_weight=weights) == pytest.approx(repeated)
    curve = decision_curve(y, p, thresholds=[0.25, 0.5], sample_weight=weights)
    assert curve.net_benefit == pytest.approx(repeated)


def test_counts_rows_at_and_above_a_threshold():
    tally = Tally.from_arrays([0.2, 0.2, 0.5], [0, 1, 1])
    positives, negatives = acted_on(tally, np.array([0.0, 0.2, 0.3, 0.6]))
    assert positives.tolist() == [2, 2, 1, 0]
    assert negatives.tolist() == [1, 1, 0, 0]


@pytest.mark.parametrize("case", RECORDED["cases"], ids=lambda case: str(len(case["data"]["labels"])))
def test_agrees_with_dcurves(case):
    y, p = case["data"]["labels"], case["data"]["probabilities"]
    curve = decision_curve(y, p, thresholds=case["thresholds"])
    assert curve.net_benefit == pytest.approx(case["net_benefit"])
    assert net_benefit(y, p, thresholds=case["thresholds"]) == pytest.approx(case["net_benefit"])
    assert curve.treat_all == pytest.approx(case["treat_all"])
    assert (curve.low <= curve.net_benefit).all()
    assert (curve.net_benefit <= curve.high).all()


def test_intervals_agree_with_a_bootstrap_of_rows():
    data = simulate.from_truth("D1", 300)
    cuts = np.array([0.3, 0.6, 0.8])
    curve = decision_curve(data.labels, data.scores, thresholds=cuts, n_resamples=4000)
    rng = np.random.default_rng(1)
    draws = []
    for _ in range(1500):
        rows = rng.integers(0, 300, 300)
        draws.append(net_benefit(data.labels[rows], data.scores[rows], thresholds=cuts))
    low, high = np.quantile(draws, [0.05, 0.95], axis=0)
    np.testing.assert_allclose(curve.low, low, atol=0.15 * (high - low).max())
    np.testing.assert_allclose(curve.high, high, atol=0.15 * (high - low).max())


def test_intervals_cover_the_net_benefit_of_the_population():
    truth = simulate.TRUTHS["underconfident"]
    many = truth.sample(300_000, rng=0)
    acts = many.scores >= 0.4
    population = np.mean(acts * many.probabilities) - np.mean(acts * (1 - many.probabilities)) * 0.4 / 0.6
    covered = 0
    for seed in range(200):
        data = truth.sample(300, rng=seed)
        curve = decision_curve(data.tally, thresholds=0.4, n_resamples=300)
        covered += curve.low[0] <= population <= curve.high[0]
    assert 170 <= covered <= 192


def test_grouped_intervals_are_wider_for_repeated_rows():
    data = simulate.from_truth("D1", 200)
    y, p, groups = (np.repeat(column, 9) for column in (data.labels, data.scores, np.arange(200)))
    plain, grouped = (decision_curve(y, p, thresholds=[0.5], groups=g) for g in (None, groups))
    once = decision_curve(data.tally, thresholds=[0.5])
    assert grouped.high - grouped.low == pytest.approx(once.high - once.low, rel=0.1)
    assert (grouped.high - grouped.low > 2.5 * (plain.high - plain.low)).all()
    with pytest.raises(InvalidInputError, match="no longer knows"):
        decision_curve(data.tally, thresholds=[0.5], groups=groups)


def test_derived_numbers():
    curve = decision_curve([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.9], thresholds=[0.2, 0.5], n_resamples=0, name="m")
    assert curve.band == "none"
    assert curve.low is curve.net_benefit
    assert curve.advantage == pytest.approx([0.4375 - 0.375, 0.25])
    assert curve.interventions_avoided == pytest.approx([0.25, 0.25])  # one row of four is not acted on in vain
    assert curve.to_dict()["treat_all"] == pytest.approx([0.375, 0.0])
    assert repr(curve) == "DecisionCurve(base_rate=0.5, total=4.0, level=0.9, band=none, name=m)"
    assert len(decision_curve([0, 1], [0.2, 0.7]).thresholds) == 99


def test_refuses_impossible_resampling():
    data = simulate.from_truth("D1", 100)
    with pytest.raises(InvalidInputError, match="`n_resamples`"):
        decision_curve(data.tally, n_resamples=-1)
    with pytest.raises(InvalidInputError, match="numbers of rows"):
        decision_curve([0, 1], [0.1, 0.9], sample_weight=[0.2, 0.2])
