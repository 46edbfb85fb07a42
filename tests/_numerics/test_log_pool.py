"""Weights of several matrices against a slow optimiser and a known truth."""

import numpy as np
import pytest
from scipy import optimize
from scipy.special import log_softmax, softmax

from calibrant._numerics.log_pool import FLOOR, SPREAD, fit_log_pool, pool_logs


def draw(n, weights, seed=0):
    rng = np.random.default_rng(seed)
    logits = 1.2 * rng.standard_normal((n, 4, len(weights)))
    truth = softmax(logits @ np.array(weights), axis=1)
    y = (truth.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
    return softmax(logits, axis=1), y, truth


def test_a_pool_by_hand():
    scores = np.array([[[0.8, 0.5], [0.2, 0.5]]])  # one row, two classes, two matrices; the second knows nothing
    np.testing.assert_allclose(pool_logs(scores, np.array([0.5, 3.0])), [[2 / 3, 1 / 3]])
    zero = np.array([[[0.0], [1.0]]])
    np.testing.assert_allclose(pool_logs(zero, np.array([1.0])), [[FLOOR / (1 + FLOOR), 1 / (1 + FLOOR)]])


def test_the_mode_against_an_optimiser():
    scores, y, _ = draw(150, (1.0, 0.3))
    rows = 1.0 + np.arange(150) % 2
    logs = np.log(np.maximum(scores, FLOOR))

    def loss(weights):
        return -rows @ log_softmax(logs @ weights, axis=1)[np.arange(150), y]

    slopes = [optimize.minimize(lambda b, unit=unit: loss(b * unit), 1.0).x[0] for unit in np.eye(2)]
    found = optimize.minimize(lambda w: loss(w * slopes) + 0.5 * ((w - 0.5) ** 2).sum() / SPREAD**2, [0.5, 0.5]).x
    np.testing.assert_allclose(fit_log_pool(scores, y, rows), found * slopes, atol=1e-3)
    twice = np.repeat(np.arange(150), rows.astype(int))
    np.testing.assert_allclose(
        fit_log_pool(scores[twice], y[twice], np.ones(len(twice))), fit_log_pool(scores, y, rows), atol=1e-9
    )
    turned = fit_log_pool(scores[::-1, :, ::-1], y[::-1], rows[::-1])
    np.testing.assert_allclose(turned[::-1], fit_log_pool(scores, y, rows), atol=1e-9)


@pytest.mark.parametrize("weights", [(0.7, 0.7, 0.7), (1.2, 0.0, 0.0), (1.0, 0.5, 0.2)])
def test_it_recovers_a_truth_of_this_form(weights):
    scores, y, truth = draw(4000, weights)
    assert np.abs(fit_log_pool(scores, y, np.ones(4000)) - weights).max() < 0.15
    assert np.abs(pool_logs(scores, fit_log_pool(scores, y, np.ones(4000))) - truth).mean() < 0.02


def test_labels_that_a_model_foresees_leave_weights_finite():
    scores, _, _ = draw(60, (1.0, 0.5))
    assert np.isfinite(fit_log_pool(scores, scores[..., 0].argmax(axis=1), np.ones(60))).all()
