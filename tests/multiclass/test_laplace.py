import numpy as np
import pytest
from scipy import integrate, optimize, stats
from scipy.special import log_softmax

from calibrant.multiclass import laplace
from calibrant.multiclass import rows as rows_module
from calibrant.multiclass.features import Features
from calibrant.multiclass.laplace import ScalePrior, fit
from calibrant.multiclass.rows import Rows


def make_rows(blocks, n=400, n_classes=3, bias=(0.0, 0.5, -0.5), slope=1.0, seed=3):
    """Rows whose labels follow softmax(slope · ℓ + bias)."""
    rng = np.random.default_rng(seed)
    ell = log_softmax(rng.normal(size=(n, n_classes)) * 1.5, axis=1)
    p = np.exp(log_softmax(slope * ell + np.asarray(bias)[:n_classes], axis=1))
    y = np.array([rng.choice(n_classes, p=row) for row in p])
    return Rows(Features.from_rows(ell, np.ones(n)), ell, y, np.ones(n), blocks)


def log_joint(rows, theta, scales):
    """Likelihood times the normalised prior."""
    theta = np.asarray(theta)
    prior = -0.5 * theta**2 / scales**2 - 0.5 * np.log(2.0 * np.pi * scales**2)
    return rows.log_likelihood(rows.log_probabilities(theta)) + prior.sum()


def fixed(**centers):
    return ScalePrior(centers, strength=np.inf)


def test_evidence_agrees_with_quadrature_in_one_dimension():
    rows = make_rows(("slope",), n=200)
    posterior = fit(rows, fixed(slope=0.4))
    peak = log_joint(rows, posterior.mean, 0.4)
    area, _ = integrate.quad(lambda t: np.exp(log_joint(rows, [t], 0.4) - peak), -2.0, 2.0, points=posterior.mean)
    assert posterior.evidence == pytest.approx(peak + np.log(area), abs=0.01)


def test_evidence_agrees_with_quadrature_in_two_dimensions():
    rows = make_rows(("bias",), n=200, n_classes=2)
    posterior = fit(rows, fixed(bias=0.7))
    peak = log_joint(rows, posterior.mean, 0.7)
    grid = np.linspace(-4.0, 4.0, 161)
    density = np.array([[np.exp(log_joint(rows, [a, b], 0.7) - peak) for b in grid] for a in grid])
    area = density.sum() * (grid[1] - grid[0]) ** 2
    assert posterior.evidence == pytest.approx(peak + np.log(area), abs=0.01)


def test_expected_fit_is_that_of_rows_left_out_in_turn():
    """Scales fixed, every row predicted by a fit without it: the sum is what the count of coefficients foretells."""
    rows, prior = make_rows(("slope", "bias", "vector"), n=60, seed=4), fixed(slope=0.5, bias=0.5, vector=0.5)
    posterior = fit(rows, prior)
    fitted = rows.log_likelihood(rows.log_probabilities(posterior.mean))
    left_out = 0.0
    for row in range(60):
        kept = np.arange(60) != row
        rest = Rows(rows.features, rows.ell[kept], rows.y[kept], np.ones(59), rows.layout.blocks)
        left_out += rows.log_probabilities(fit(rest, prior).mean)[row, rows.y[row]]
    assert fitted - posterior.expected > 2.0
    assert posterior.expected == pytest.approx(left_out, abs=0.25 * (fitted - left_out))


def test_flat_priors_count_every_coefficient():
    """Two of three biases are determined; with priors too narrow to leave zero none is."""
    rows = make_rows(("bias",), n=400)
    for scale, count in ((1e3, 2.0), (1e-3, 0.0)):
        posterior = fit(rows, fixed(bias=scale))
        fitted = rows.log_likelihood(rows.log_probabilities(posterior.mean))
        assert fitted - posterior.expected == pytest.approx(count, abs=0.01)


def test_mode_agrees_with_a_general_optimiser():
    rows = make_rows(("slope", "bias", "vector", "matrix"), n=150)
    centers = {"slope": 0.4, "bias": 0.3, "vector": 0.2, "matrix": 0.2}
    posterior = fit(rows, fixed(**centers))
    scales = np.array([centers[b] for b in rows.layout.group])
    best = optimize.minimize(lambda t: -log_joint(rows, t, scales), np.zeros(len(scales)), method="BFGS")
    np.testing.assert_allclose(posterior.mean, best.x, atol=3e-3)


def test_intercepts_alone_are_solved_by_hand():
    """Equal scores and a prior too wide to matter: the probabilities are the class frequencies."""
    ell = np.log(np.full((10, 3), 1.0 / 3.0))
    y = np.array([0] * 5 + [1] * 3 + [2] * 2)
    rows = Rows(Features.from_rows(ell, np.ones(10)), ell, y, np.ones(10), ("bias",))
    posterior = fit(rows, fixed(bias=1e3))
    np.testing.assert_allclose(np.exp(rows.log_probabilities(posterior.mean))[0], [0.5, 0.3, 0.2], atol=1e-3)


def test_learned_scales_follow_the_size_of_the_coefficients():
    strong = fit(make_rows(("slope", "bias"), bias=(0.0, 2.0, -2.0), n=2000), ScalePrior({"slope": 0.2, "bias": 0.2}))
    none = fit(make_rows(("slope", "bias"), bias=(0.0, 0.0, 0.0), n=2000), ScalePrior({"slope": 0.2, "bias": 0.2}))
    assert strong.scales["bias"] > 0.8
    assert none.scales["bias"] < 0.15


def test_scales_are_a_maximum_of_the_evidence_and_its_prior():
    """A neighbouring scale has no larger evidence once the prior's imagined coefficients are counted in."""
    rows, prior = make_rows(("bias",), n=1000), ScalePrior({"bias": 0.3}, strength=0.5)
    found = fit(rows, prior).scales["bias"]

    def penalised(scale):
        imagined = -0.5 * prior.strength * (np.log(scale**2) + prior.centers["bias"] ** 2 / scale**2)
        return fit(rows, fixed(bias=scale)).evidence + imagined

    best = optimize.minimize_scalar(lambda s: -penalised(np.exp(s)), bounds=(-4.0, 2.0), method="bounded").x
    assert np.log(found) == pytest.approx(best, abs=0.15)


def test_a_richer_model_starts_where_the_smaller_ended():
    small = fit(make_rows(("slope",)), ScalePrior({"slope": 0.2}))
    prior = ScalePrior({"slope": 0.2, "bias": 0.2})
    from_there, from_zero = (
        fit(make_rows(("slope", "bias")), prior, small),
        fit(make_rows(("slope", "bias")), prior),
    )
    np.testing.assert_allclose(from_there.mean, from_zero.mean, atol=0.02)


def test_the_arrow_finds_nearly_the_same(monkeypatch):
    rows = make_rows(("slope", "bias"), n_classes=12, bias=np.linspace(-1, 1, 12), n=3000)
    dense = fit(rows, fixed(slope=0.3, bias=0.5))
    monkeypatch.setattr(rows_module, "DENSE_UP_TO", 5)
    arrow = fit(rows, fixed(slope=0.3, bias=0.5))
    p, q = (np.exp(rows.log_probabilities(found.mean)) for found in (dense, arrow))
    np.testing.assert_allclose(p, q, atol=5e-3)


def test_draws_agree_with_the_posterior_when_the_scale_is_unknown(monkeypatch):
    """A scaled inverse χ² prior of the squared scale makes that of the coefficient Student's t: by quadrature."""
    monkeypatch.setattr(laplace, "FREEDOM", 1e9)
    rows, prior = make_rows(("slope",), n=20), ScalePrior({"slope": 0.5})
    posterior = fit(rows, prior)
    draws = laplace.draw(posterior, posterior.mean, prior, 4000, np.random.default_rng(0))[:, 0]
    curvature = posterior.curvature.times(np.ones(1))[0]
    linear = (curvature + posterior.precision[0]) * posterior.mean[0]
    grid = np.linspace(-4.0, 4.0, 8001)
    density = np.exp(linear * grid - 0.5 * curvature * grid**2) * stats.t.pdf(grid / 0.5, prior.strength)
    quantiles = np.interp([0.05, 0.25, 0.5, 0.75, 0.95], np.cumsum(density) / density.sum(), grid)
    np.testing.assert_allclose(np.quantile(draws, [0.05, 0.25, 0.5, 0.75, 0.95]), quantiles, atol=0.05)
