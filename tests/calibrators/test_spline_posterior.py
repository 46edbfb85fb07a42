import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import norm

from calibrant import simulate
from calibrant.calibrators.spline_posterior import (
    Curves,
    Reading,
    SplinePosterior,
    centres,
    fit_posterior,
    knot_vector,
    line_reader,
)

Z = np.linspace(-12.0, 12.0, 49)


@pytest.fixture
def two_curves():
    """Two Gaussian curves with known numbers; the second reads scores within ±3 only."""
    rng = np.random.default_rng(0)
    knots = knot_vector(np.linspace(-2.0, 2.0, 11), np.ones(11), 8, 0.4)
    parts = [
        Curves(
            (Reading(-limit, limit),),
            knots,
            np.array([weight]),
            rng.normal(size=(1, 8)),
            np.tril(rng.normal(size=(1, 8, 8))),
        )
        for limit, weight in ((36.0, 0.3), (3.0, 0.7))
    ]
    return SplinePosterior(tuple(parts))


def test_quantiles_invert_the_mixtures_distribution(two_curves):
    at = two_curves.quantile(Z, 0.2)
    below = 0.0
    for part in two_curves.parts:
        mean, spread = part.moments(Z, part.readings[0])
        below = below + part.weights[0] * norm.cdf((at - mean[0]) / spread[0])
    np.testing.assert_allclose(below, 0.2, atol=1e-8)


def test_draws_have_the_moments(two_curves):
    draws = two_curves.draws(Z, 20_000, np.random.default_rng(1))
    np.testing.assert_allclose(expit(draws).mean(axis=0), expit(two_curves.mean(Z)), atol=0.015)


def test_outside_the_knots_a_curve_goes_on_as_its_straight_part(two_curves):
    part = two_curves.parts[0]
    mean, _ = part.moments(np.array([5.0, 6.0, 7.0]), part.readings[0])
    slope = line_reader(centres(part.knots))[1] @ part.modes[0]
    np.testing.assert_allclose(np.diff(mean[0]), 1.0 + slope)


def test_beyond_its_limit_a_curve_is_flat(two_curves):
    mean, _ = two_curves.parts[1].moments(np.array([3.0, 5.0, 30.0]), Reading(-3.0, 3.0))
    assert np.ptp(mean) == 0.0


def test_readings_of_one_part_are_averaged_where_scores_are_extreme():
    data = simulate.from_truth("nearly_calibrated", 400)
    posterior = fit_posterior(data.tally.coarsen(200), 28)
    assert all(len(part.readings) == 2 for part in posterior.parts)
    apart = SplinePosterior(
        tuple(
            Curves((reading,), part.knots, 0.5 * part.weights, part.modes, part.roots)
            for part in posterior.parts
            for reading in part.readings
        )
    )
    np.testing.assert_allclose(posterior.mean(Z), apart.mean(Z), atol=1e-9)
    np.testing.assert_allclose(posterior.quantile(Z, 0.9), apart.quantile(Z, 0.9), atol=1e-6)


def test_weights_sum_to_one_and_evidence_prefers_what_the_data_show():
    calm = fit_posterior(simulate.from_truth("nearly_calibrated", 2000).tally.coarsen(200), 28)
    assert sum(part.weights.sum() for part in calm.parts) == pytest.approx(1.0)
    wild = fit_posterior(simulate.from_truth("wave", 20_000).tally.coarsen(200), 28)
    inside = np.linspace(-2.0, 2.0, 21)

    def bend(posterior):
        return np.abs(np.diff(posterior.mean(inside), 2)).max()

    assert bend(wild) > 10.0 * bend(calm)


def test_roots_are_triangles_and_their_curves_as_sure_as_the_rows_allow():
    tally = simulate.from_truth("underconfident", 2000).tally
    posterior = fit_posterior(tally, 10)
    assert all(np.abs(np.triu(part.roots, 1)).max() < 1e-12 for part in posterior.parts)
    # In the middle a smooth curve is at most as sure as a level of all rows, and surer than that of a tenth of them.
    part = posterior.parts[0]
    _, spreads = part.moments(np.zeros(1), part.readings[0])
    spread = float(part.weights @ spreads[:, 0] / part.weights.sum())
    information = float(tally.totals @ (tally.scores * (1.0 - tally.scores)))
    assert information**-0.5 <= spread <= (0.1 * information) ** -0.5
