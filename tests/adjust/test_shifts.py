import numpy as np
import pytest

from calibrant import BayesIso, CalibrationMap, IsotonicCalibration, PlattScaling, Tally, load, metrics, simulate
from calibrant._numerics import links
from calibrant.adjust import adjust_prior, adjust_sampling, anchor
from calibrant.calibrators.base import BayesianCalibrator
from calibrant.errors import InvalidInputError
from calibrant.maps.functions import Identity, Sigmoid, Step

IDENTITY = CalibrationMap(Identity(), "probability", True)


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
    map_ = adjust_prior(IDENTITY, 0.3, 0.1)
    map_.save(tmp_path / "m.json")
    assert load(tmp_path / "m.json") == map_
    assert map_.monotone
    assert float(map_(map_.inverse([0.25]))[0]) == pytest.approx(0.25, abs=1e-12)


@pytest.mark.parametrize("rates", [(0.0, 0.5), (0.5, 1.0), (float("nan"), 0.5), (-1, 0.5)])
def test_rates_must_be_shares(rates):
    with pytest.raises(InvalidInputError, match="_rate` must lie between 0 and 1"):
        adjust_prior(IDENTITY, *rates)


def test_kept_shares_must_be_positive():
    with pytest.raises(InvalidInputError, match="`negatives_kept` must be a share"):
        adjust_sampling(IDENTITY, negatives_kept=0.0)


@pytest.mark.parametrize("mean", [0.001, 0.2, 0.93])
@pytest.mark.parametrize("method", [PlattScaling, IsotonicCalibration])
def test_reaches_the_mean_by_one_shift(method, mean):
    data = simulate.from_truth("D1", 500)
    scores = data.scores
    map_ = method().fit(scores, data.labels).map_
    anchored = anchor(map_, scores, mean)
    assert anchored(scores).mean() == pytest.approx(mean, rel=1e-9)
    inside = (map_(scores) > 1e-6) & (map_(scores) < 1 - 1e-6)
    shifts = links.logit(anchored(scores)) - links.logit(map_(scores))
    assert np.ptp(shifts[inside]) < 1e-6
    assert anchored.monotone


def test_weights_and_tallies(tmp_path):
    data = simulate.from_truth("D1", 200)
    scores = data.scores
    map_ = PlattScaling().fit(scores, data.labels).map_
    weights = np.arange(200.0)
    anchored = anchor(map_, scores, 0.1, sample_weight=weights)
    assert np.average(anchored(scores), weights=weights) == pytest.approx(0.1)
    again = anchor(map_, Tally.from_arrays(scores, data.labels, weights), 0.1)
    np.testing.assert_allclose(again(scores), anchored(scores), atol=1e-12)
    anchored.save(tmp_path / "map.json")
    assert load(tmp_path / "map.json") == anchored


def test_one_score_goes_to_the_mean():
    map_ = PlattScaling().fit([0.2, 0.4, 0.6], [0, 1, 1]).map_
    assert anchor(map_, [0.3, 0.3], 0.05)([0.3])[0] == pytest.approx(0.05)


def test_refuses_impossible_means_and_empty_portfolios():
    map_ = PlattScaling().fit([0.2, 0.4, 0.6], [0, 1, 1]).map_
    with pytest.raises(InvalidInputError, match="`mean`"):
        anchor(map_, [0.3], 1.0)
    with pytest.raises(InvalidInputError, match="at least one row"):
        anchor(map_, [], 0.5)
    with pytest.raises(InvalidInputError, match="without `sample_weight`"):
        anchor(map_, Tally.from_arrays([0.3], [1]), 0.5, sample_weight=[1.0])


SHIFT = CalibrationMap(Sigmoid(1.0, -1.0, "logit"), "probability", True, "shift")
FALLING = CalibrationMap(Step([0.5], [0.8, 0.2]), "probability", False)


class Band(BayesianCalibrator):
    """The identity with a posterior spread evenly over ±0.1."""

    def fit_map(self, tally):  # noqa: ARG002 - whatever the data say
        return CalibrationMap(Identity(), "probability", True, "Band")

    def draw_maps(self, scores, n_draws, rng):  # noqa: ARG002 - the same draws every time
        return np.clip(np.asarray(scores) + np.linspace(-0.1, 0.1, n_draws)[:, None], 0, 1)

    def interval_ends(self, scores, level):
        return np.asarray(scores) - 0.1 * level, np.asarray(scores) + 0.1 * level


def adjust_in_every_way(calibrator, scores):
    return {
        "prior": adjust_prior(calibrator, 0.5, 0.1),
        "sampling": adjust_sampling(calibrator, negatives_kept=0.2),
        "anchor": anchor(calibrator, scores, 0.3),
        "twice": anchor(adjust_prior(calibrator, 0.5, 0.1), scores, 0.3),
    }


@pytest.mark.parametrize("way", ["prior", "sampling", "anchor", "twice"])
def test_every_adjustment_of_a_calibrator_keeps_its_posterior(way):
    data = simulate.from_truth("D1", 200)
    calibrator = BayesIso().fit(data.scores, data.labels)
    adjusted = adjust_in_every_way(calibrator, data.scores)[way]
    plain = adjust_in_every_way(calibrator.map_, data.scores)[way]
    np.testing.assert_allclose(adjusted.predict(data.scores), plain(data.scores))
    grid = np.linspace(0.1, 0.9, 5)
    low, high = adjusted.predict_interval(grid)
    assert (low < high).all()
    assert adjusted.sample_maps(grid, n_draws=9).shape == (9, 5)


def test_interval_and_draws_go_through_the_adjustment():
    data = simulate.from_truth("D1", 50)
    adjusted = Band().fit(data.scores, data.labels).frozen_map().then(SHIFT)
    low, high = adjusted.predict_interval([0.3, 0.6], level=0.5)
    np.testing.assert_allclose(low, SHIFT([0.25, 0.55]), atol=2e-3)  # straight between the nodes of the table
    np.testing.assert_allclose(high, SHIFT([0.35, 0.65]), atol=2e-3)
    np.testing.assert_allclose(adjusted.predict([0.3]), SHIFT([0.3]))
    draws = adjusted.sample_maps([0.3, 0.6], n_draws=400)
    np.testing.assert_allclose(np.quantile(draws, [0.25, 0.75], axis=0), [low, high], atol=2e-3)
    assert not Band().fit(data.scores, data.labels).frozen_map().then(FALLING).has_posterior


def test_a_map_without_a_posterior_stays_without_and_what_is_no_map_is_refused():
    data = simulate.from_truth("D1", 50)
    adjusted = adjust_prior(IsotonicCalibration().fit(data.scores, data.labels), 0.5, 0.1)
    assert not adjusted.has_posterior
    with pytest.raises(InvalidInputError, match="CalibrationMap or a fitted calibrator"):
        anchor(np.sqrt, [0.2, 0.7], 0.3)


def test_an_adjusted_posterior_serves_where_a_posterior_is_asked_for():
    data = simulate.from_truth("D1", 200)
    adjusted = adjust_prior(BayesIso().fit(data.scores, data.labels), data.tally.base_rate, 0.2)
    assert metrics.metric_posterior(adjusted, data.tally, n_draws=20).value > 0.1
