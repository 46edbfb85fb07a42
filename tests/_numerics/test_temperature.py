import numpy as np
import pytest
from scipy import optimize, special

from calibrant._numerics import links
from calibrant._numerics.temperature import fit_inverse_temperature

LOW, HIGH = np.exp(-10.0), np.exp(10.0)


def data(n=400, n_classes=4, beta=0.4, seed=0):
    rng = np.random.default_rng(seed)
    logits = 4.0 * rng.standard_normal((n, n_classes))
    return logits, np.argmax(beta * logits + rng.gumbel(size=logits.shape), axis=1), rng.uniform(0.5, 2.0, n)


def loss(beta, logits, labels, weights):
    return -weights @ special.log_softmax(beta * logits, axis=1)[np.arange(len(labels)), labels]


@pytest.mark.parametrize("prior_sd", [np.inf, 1.0, 0.1])
@pytest.mark.parametrize("beta", [0.01, 0.4, 3.0])
def test_the_minimum_of_the_log_loss_with_and_without_a_prior(beta, prior_sd):
    logits, labels, weights = data(beta=beta)
    found = fit_inverse_temperature(logits, labels, weights, LOW, HIGH, prior_sd)
    peer = optimize.minimize_scalar(
        lambda tau: loss(np.exp(tau), logits, labels, weights) + 0.5 * (tau / prior_sd) ** 2,
        bounds=(-9.0, 5.0),
        options={"xatol": 1e-10},
    )
    assert np.log(found) == pytest.approx(peer.x, abs=1e-5)


def test_recovers_the_truth_through_the_sample_of_rows():
    logits, labels, weights = data(60_000, beta=0.4)
    assert fit_inverse_temperature(logits, labels, weights, LOW, HIGH) == pytest.approx(0.4, rel=0.02)


def test_ends_at_the_bounds():
    logits = np.eye(3)
    right, wrong = np.arange(3), np.array([1, 2, 0])
    assert fit_inverse_temperature(logits, wrong, np.ones(3), LOW, HIGH) == pytest.approx(LOW, rel=1e-6)
    assert links.softmax(
        fit_inverse_temperature(logits, right, np.ones(3), LOW, HIGH) * logits
    ).trace() == pytest.approx(3.0)


def test_constant_logits_say_nothing():
    assert fit_inverse_temperature(np.zeros((3, 3)), np.arange(3), np.ones(3), LOW, HIGH) == 1.0


def test_huge_logits():
    logits, labels, weights = data()
    found = fit_inverse_temperature(1e300 * logits, labels, weights, LOW, HIGH)
    assert found == pytest.approx(LOW, rel=1e-6)
