import numpy as np
import pytest

from calibrant import CalibrationMap, IsotonicCalibration
from calibrant.adjust import adjust_prior, adjust_sampling
from calibrant.errors import InvalidInputError
from calibrant.maps import functions

IDENTITY = CalibrationMap(functions.Identity(), "probability", True)


def test_bayes_by_hand():
    # 1 : 1 odds at a rate of 1/2 become 1 : 9 at a rate of 1/10.
    assert adjust_prior(IDENTITY, 0.5, 0.1)([0.5])[0] == pytest.approx(0.1)
    # All positives and every tenth negative were kept: 1 : 1 in the sample is 1 : 10 in truth.
    assert adjust_sampling(IDENTITY, negatives_kept=0.1)([0.5])[0] == pytest.approx(1 / 11)
    assert adjust_sampling(IDENTITY, positives_kept=0.1)([0.5])[0] == pytest.approx(10 / 11)


def test_there_and_back_is_the_identity():
    scores = np.linspace(0.01, 0.99, 50)
    there = adjust_prior(IDENTITY, 0.2, 0.05)
    np.testing.assert_allclose(adjust_prior(there, 0.05, 0.2)(scores), scores, atol=1e-14)


def test_a_simulated_change_of_the_base_rate_is_undone():
    rng = np.random.default_rng(0)
    y = rng.random(200_000) < 0.5
    scores = rng.normal(y, 1.0)
    map_ = IsotonicCalibration().fit(scores, y).map_
    served = rng.random(200_000) < 0.1
    probabilities = adjust_prior(map_, y.mean(), 0.1)(rng.normal(served, 1.0))
    assert probabilities.mean() == pytest.approx(0.1, abs=0.003)
    high = probabilities > 0.2
    assert served[high].mean() == pytest.approx(probabilities[high].mean(), abs=0.01)


def test_the_result_is_a_map_like_any_other(tmp_path):
    import calibrant

    map_ = adjust_prior(IDENTITY, 0.3, 0.1)
    map_.save(tmp_path / "m.json")
    assert calibrant.load(tmp_path / "m.json") == map_
    assert map_.monotone
    assert float(map_(map_.inverse([0.25]))[0]) == pytest.approx(0.25, abs=1e-12)


@pytest.mark.parametrize("rates", [(0.0, 0.5), (0.5, 1.0), (float("nan"), 0.5), (-1, 0.5)])
def test_rates_must_be_shares(rates):
    with pytest.raises(InvalidInputError, match="_rate` must lie between 0 and 1"):
        adjust_prior(IDENTITY, *rates)


def test_kept_shares_must_be_positive():
    with pytest.raises(InvalidInputError, match="`negatives_kept` must be a share"):
        adjust_sampling(IDENTITY, negatives_kept=0.0)
