import numpy as np
import pytest
from scipy.special import expit, logit

from calibrant import Blend, simulate
from calibrant.calibrators.blend_table import tabulated
from calibrant.map_functions import Identity, Linear, LogitLinear, Mixture, PoissonSteps

SCORES = np.concatenate((np.linspace(0, 1, 5001), 10.0 ** -np.arange(1, 13), 1 - 10.0 ** -np.arange(1, 13)))


def test_the_identity_is_two_points():
    table = tabulated(Mixture(np.array([1.0]), (Identity(),)))
    assert len(table.x) == 2
    assert table(SCORES) == pytest.approx(SCORES, abs=1e-12)


def test_a_mixture_of_every_kind_is_met_to_the_stated_distance():
    lines = Linear(np.array([0.1, 0.3, 0.32, 0.9]), np.array([0.0, 0.2, 0.7, 1.0]))
    curve = LogitLinear(np.array([-3.0, 0.0, 4.0]), np.array([-1.0, 0.5, 2.0]), 0.3, 0.8)
    rates = np.array([5.0, 400.0])
    steps = PoissonSteps(
        np.array([0.05, 0.5, 0.51, 0.95]),
        rates,
        np.array([0.3, 0.1, 0.4]),
        np.array([[-0.1, 0.1, 0.0], [-0.1, 0.1, 0.2]]),
        np.array([[0.1, 0.2, 0.1], [0.0, 0.0, 0.2]]),
    )
    mixture = Mixture(np.array([0.1, 0.4, 0.2, 0.3]), (Identity(), lines, curve, steps))
    table = tabulated(mixture)
    assert np.abs(table(SCORES) - mixture(SCORES)).max() < 2e-5
    assert len(table.x) < 1000


def test_tiny_probabilities_keep_their_size():
    curve = LogitLinear(np.array([-30.0, 0.0, 30.0]), np.array([-15.0, 0.3, 18.0]), 0.5, 0.5)
    mixture = Mixture(np.array([0.9, 0.1]), (curve, Identity()))
    table, tiny = tabulated(mixture), 10.0 ** -np.linspace(3, 14, 200)
    assert logit(table(tiny)) == pytest.approx(logit(mixture(tiny)), abs=2e-3)


def test_the_table_of_a_real_blend_is_its_mixture():
    data = simulate.circular(3000, rng=0)  # where the steps of ABB have a large weight
    blend = Blend().fit(data.scores, data.labels)
    assert blend.weights_["abb"] > 0.1
    mixed = sum(blend.weights_[name] * member.predict(SCORES) for name, member in blend.members_.items())
    assert np.abs(blend.predict(SCORES) - mixed).max() < 2e-5
    assert len(blend.map_.function.x) < 3000


def test_a_rising_mixture_stays_rising():
    mixture = Mixture(
        np.array([0.5, 0.5]),
        (Linear(np.array([0.2, 0.8]), np.array([0.1, 0.9])), Linear(SCORES[:5001], expit(SCORES[:5001]))),
    )
    assert (np.diff(tabulated(mixture).y) >= 0).all()
