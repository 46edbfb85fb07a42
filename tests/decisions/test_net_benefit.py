import json
from pathlib import Path

import numpy as np
import pytest

from calibrant import Tally
from calibrant.decisions import net_benefit
from calibrant.decisions.net_benefit import acted_on
from calibrant.errors import InvalidInputError

RECORDED = json.loads((Path(__file__).parent / "peers.json").read_text(encoding="utf-8"))


def by_rows(y, p, thresholds):
    return [np.mean(y * (p >= t)) - np.mean((1 - y) * (p >= t)) * t / (1 - t) for t in thresholds]


@pytest.mark.parametrize("case", RECORDED["cases"], ids=lambda case: str(len(case["data"]["labels"])))
def test_agrees_with_dcurves(case):
    y, p = case["data"]["labels"], case["data"]["probabilities"]
    assert net_benefit(y, p, thresholds=case["thresholds"]) == pytest.approx(case["net_benefit"])


def test_agrees_with_rows_where_probabilities_equal_thresholds():
    rng = np.random.default_rng(0)
    p = rng.integers(0, 11, 200) / 10
    y = (rng.random(200) < p).astype(int)
    thresholds = np.arange(10) / 10
    assert net_benefit(y, p, thresholds=thresholds) == pytest.approx(by_rows(y, p, thresholds))


def test_weights_and_standardisation():
    weights, y, p = np.array([1, 3, 2, 2]), np.array([0, 1, 0, 1]), np.array([0.2, 0.3, 0.6, 0.9])
    repeated = by_rows(np.repeat(y, weights), np.repeat(p, weights), [0.25, 0.5])
    assert net_benefit(y, p, thresholds=[0.25, 0.5], sample_weight=weights) == pytest.approx(repeated)
    standardised = net_benefit(y, p, thresholds=[0.25, 0.5], sample_weight=weights, standardised=True)
    assert standardised == pytest.approx(np.array(repeated) / (5 / 8))


def test_counts_rows_at_and_above_a_threshold():
    tally = Tally.from_arrays([0.2, 0.2, 0.5], [0, 1, 1])
    positives, negatives = acted_on(tally, np.array([0.0, 0.2, 0.3, 0.6]))
    assert positives.tolist() == [2, 2, 1, 0]
    assert negatives.tolist() == [1, 1, 0, 0]


def test_standardised_needs_a_positive():
    with pytest.raises(InvalidInputError, match="positive row"):
        net_benefit([0, 0], [0.2, 0.4], thresholds=0.3, standardised=True)
