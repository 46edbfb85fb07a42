import numpy as np
import pytest
from scipy.integrate import dblquad
from scipy.special import expit

from calibrant.calibrators import lapse_grid


def test_mean_slope_agrees_with_quadrature():
    z = np.array([-2.0, -0.5, 1.0, 3.0])
    positives, totals = np.array([1.0, 2.0, 3.0, 4.0]), np.array([4.0, 5.0, 5.0, 5.0])

    def density(log_rate, tau, lapse):
        rate = np.exp(log_rate) if lapse else 0.0
        p = (1 - rate) * expit(np.exp(tau) * z) + rate / 2
        like = np.exp(positives @ np.log(p) + (totals - positives) @ np.log(1 - p))
        return like / (1 + (tau / lapse_grid.SLOPE_SCALE) ** 2)

    low, high = np.log(lapse_grid.LAPSES)
    taus = lapse_grid.SLOPES

    def total(weight):
        with_lapse = dblquad(lambda r, t: weight(t) * density(r, t, True), *taus, low, high, epsabs=1e-12)[0]
        without = dblquad(lambda _, t: weight(t) * density(0.0, t, False), *taus, 0.0, 1.0, epsabs=1e-12)[0]
        return 0.5 * with_lapse / (high - low) + 0.5 * without

    grid = lapse_grid.posterior(z, positives, totals)
    expected = total(lambda t: t) / total(lambda _: 1.0)
    assert grid.weights.sum() == pytest.approx(1.0)
    assert grid.weights @ np.log(grid.slopes) == pytest.approx(expected, abs=2e-3)


def test_the_grid_is_finer_than_the_posterior_of_many_rows():
    z = np.linspace(-3, 3, 50)
    totals = np.full(50, 1e6)
    positives = totals * (0.9 * expit(0.7 * z) + 0.05)
    grid = lapse_grid.posterior(z, positives, totals)
    mean = grid.weights @ grid.slopes
    assert mean == pytest.approx(0.7, abs=2e-3)
    assert grid.weights @ grid.lapses == pytest.approx(0.1, abs=2e-3)
    assert grid.weights.max() < 0.5
