import numpy as np
import pytest

from calibrant.multiclass.curvature import Arrow, Dense


def make_arrow(s=2, c=3, n_classes=4, seed=0):
    """An arrow, and the same numbers as one matrix."""
    rng = np.random.default_rng(seed)
    size = s + n_classes * c
    full = np.zeros((size, size))
    link, own = rng.normal(size=(n_classes, s, c)), np.empty((n_classes, c, c))
    shared = 50.0 * np.eye(s)
    full[:s, :s] = shared
    for k in range(n_classes):
        root = rng.normal(size=(c, c))
        own[k] = root @ root.T + 3.0 * np.eye(c)
        at = slice(s + k * c, s + (k + 1) * c)
        full[at, at], full[:s, at], full[at, :s] = own[k], link[k], link[k].T
    return Arrow(shared, link, own), full


@pytest.fixture(params=["dense", "arrow"])
def pair(request):
    arrow, full = make_arrow()
    return (arrow if request.param == "arrow" else Dense(full)), full


def test_agrees_with_plain_linear_algebra(pair):
    curvature, full = pair
    rng = np.random.default_rng(1)
    precision, right = rng.uniform(1.0, 2.0, size=len(full)), rng.normal(size=len(full))
    total = full + np.diag(precision)
    np.testing.assert_allclose(curvature.times(right), full @ right)
    curvature.with_prior(precision)
    np.testing.assert_allclose(curvature.solve(right), np.linalg.solve(total, right))
    np.testing.assert_allclose(curvature.variances(), np.diag(np.linalg.inv(total)))
    assert curvature.log_determinant() == pytest.approx(np.linalg.slogdet(total)[1])


def test_draws_have_the_inverse_as_covariance(pair):
    curvature, full = pair
    root = curvature.with_prior(np.ones(len(full))).draw(np.eye(len(full)))
    np.testing.assert_allclose(root @ root.T, np.linalg.inv(full + np.eye(len(full))), atol=1e-12)


def test_dense_survives_a_curvature_that_rounding_made_indefinite():
    nearly = np.array([[1.0, 1.0], [1.0, 1.0 - 1e-13]])
    solved = Dense(nearly).with_prior(np.zeros(2)).solve(np.ones(2))
    assert np.isfinite(solved).all()


def test_an_arrow_may_have_nothing_shared():
    own = np.array([[[2.0, 0.5], [0.5, 1.0]], [[3.0, 0.0], [0.0, 1.0]]])
    arrow = Arrow(np.zeros((0, 0)), np.zeros((2, 0, 2)), own).with_prior(np.zeros(4))
    np.testing.assert_allclose(arrow.solve(np.array([2.5, 1.5, 3.0, 1.0])), [1.0, 1.0, 1.0, 1.0])
    assert arrow.draw(np.eye(4)).shape == (4, 4)
