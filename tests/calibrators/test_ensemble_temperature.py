import numpy as np
import pytest

from calibrant import EnsembleTemperatureScaling, TemperatureScaling, simulate

# Recorded from probmetrics 1.4.1 (ETSCalibrator, loss="ce") by benchmarks/record/ensemble_temperature.py:
# temperature, weights and predictions at the grid, for each seed.
GRID = np.linspace(0.05, 0.95, 7)
PEER = {
    0: (
        1.8795519972296155,
        [0.9996033300636762, 0.0, 0.0003966699363237761],
        [
            0.17283656141955347,
            0.3236065307893386,
            0.4184300335382892,
            0.5,
            0.5815699664617108,
            0.6763934692106615,
            0.8271634385804465,
        ],
    ),
    1: (
        2.23130672073153,
        [0.8184440646990045, 0.1360741289871089, 0.04548180631388667],
        [
            0.2021416579575664,
            0.33599171634496283,
            0.4231842629818585,
            0.5,
            0.5768157370181416,
            0.6640082836550372,
            0.7978583420424337,
        ],
    ),
    3: (
        3.689419906028541,
        [0.9993625842774695, 0.0006374157225305478, 0.0],
        [
            0.31027113653773775,
            0.407020645559427,
            0.45808228232989795,
            0.5,
            0.541917717670102,
            0.592979354440573,
            0.6897288634622623,
        ],
    ),
}


def table(seed):
    rng = np.random.default_rng(seed)
    truth = rng.beta(1.5, 1.2, 400)
    scores = truth**2 / (truth**2 + (1.0 - truth) ** 2)
    coin = rng.random(400) < 0.1 * seed
    return scores, (rng.random(400) < np.where(coin, 0.5, truth)).astype(int)


@pytest.mark.parametrize("seed", PEER)
def test_agrees_with_probmetrics(seed):
    temperature, weights, predictions = PEER[seed]
    calibrator = EnsembleTemperatureScaling().fit(*table(seed))
    assert calibrator.temperature_ == pytest.approx(temperature, abs=1e-5)
    np.testing.assert_allclose(calibrator.weights_, weights, atol=1e-4)
    np.testing.assert_allclose(calibrator.predict(GRID), predictions, atol=1e-5)


def test_the_temperature_is_that_of_temperature_scaling():
    scores, y = table(1)
    alone = TemperatureScaling().fit(scores, y)
    assert EnsembleTemperatureScaling().fit(scores, y).temperature_ == alone.temperature_


def test_recovers_a_score_mixed_with_a_coin():
    rng = np.random.default_rng(0)
    scores = rng.random(50_000)
    y = rng.random(50_000) < 0.7 * scores + 0.15
    p = EnsembleTemperatureScaling().fit(scores, y).predict([0.0, 0.2, 0.5, 1.0])
    np.testing.assert_allclose(p, [0.15, 0.29, 0.5, 0.85], atol=0.02)


def test_is_never_less_likely_than_its_parts():
    data = simulate.from_truth("D1", 2000)
    y = data.labels.astype(bool)

    def loss(p):
        return -np.mean(np.log(np.clip(np.where(y, p, 1.0 - p), 1e-15, 1.0)))

    mixed = loss(EnsembleTemperatureScaling().fit(data.scores, y).predict(data.scores))
    assert mixed <= loss(TemperatureScaling().fit(data.scores, y).predict(data.scores)) + 1e-6
    assert mixed <= loss(data.scores) + 1e-6


def test_composed_with_isotonic_recovers_what_no_temperature_can():
    test = simulate.bayes_iso(20_000, rng=1)
    data = simulate.bayes_iso(20_000, rng=0)
    errors = {
        composed: np.abs(
            EnsembleTemperatureScaling(composed=composed).fit(data.scores, data.labels).predict(test.scores)
            - test.probabilities
        ).mean()
        for composed in (None, "isotonic")
    }
    assert errors["isotonic"] < 0.015 < errors[None]
