import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from calibrant.errors import InvalidInputError
from calibrant.multiclass.dirichlet import DirichletCalibration


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(3), size=400)
    truth = softmax(np.log(p) @ np.array([[0.8, 0.3, 0.0], [0.0, 1.2, 0.0], [0.0, 0.2, 0.7]]).T, axis=1)
    return p, (truth.cumsum(axis=1) < rng.random((400, 1))).sum(axis=1)


def test_odir_is_the_minimum_of_the_published_loss(rows):
    p, y = rows
    strength, intercept = 0.02, 0.05
    off = ~np.eye(3, dtype=bool)

    def loss(theta):
        w, b = theta[:9].reshape(3, 3), theta[9:]
        log_q = log_softmax(np.log(p) @ w.T + b, axis=1)
        return -log_q[np.arange(400), y].mean() + strength * (w[off] ** 2).mean() + intercept * (b**2).mean()

    best = minimize(loss, np.concatenate((np.eye(3).ravel(), np.zeros(3))), method="BFGS").x
    expected = softmax(np.log(p) @ best[:9].reshape(3, 3).T + best[9:], axis=1)
    fitted = DirichletCalibration(regularisation="odir", off_diagonal=strength, intercept=intercept).fit(p, y)
    np.testing.assert_allclose(fitted.predict_proba(p), expected, atol=2e-3)


def test_is_right_for_dirichlet_scores():
    """Scores of class k are Dirichlet(α_k): then the posterior class probabilities are a linear map of log p."""
    rng = np.random.default_rng(1)
    alpha = np.array([[4.0, 1.0, 2.0], [1.0, 3.0, 1.0], [1.0, 2.0, 5.0]])
    y = rng.integers(3, size=6000)
    p = np.array([rng.dirichlet(alpha[k]) for k in y])
    from scipy.stats import dirichlet

    p = np.maximum(p, 1e-9) / np.maximum(p, 1e-9).sum(axis=1, keepdims=True)
    densities = np.array([[dirichlet.pdf(q, a) for a in alpha] for q in p[:300]])
    truth = densities / densities.sum(axis=1, keepdims=True)
    fitted = DirichletCalibration().fit(p, y)
    assert np.abs(fitted.predict_proba(p[:300]) - truth).mean() < 0.02


def test_strange_options_are_refused(rows):
    with pytest.raises(InvalidInputError, match="`regularisation`"):
        DirichletCalibration(regularisation="l1").fit(*rows)
    with pytest.raises(InvalidInputError, match="must be a positive number"):
        DirichletCalibration(regularisation="odir", off_diagonal=0.0).fit(*rows)


@pytest.mark.parametrize("regularisation", ["learned", "odir"])
def test_extreme_scores_are_followed(regularisation):
    """Scores that are far too sure, as those of naive Bayes, start far from the mode."""
    rng = np.random.default_rng(2)
    p = rng.dirichlet(np.ones(3), size=400)
    y = (p.cumsum(axis=1) < rng.random((400, 1))).sum(axis=1)
    sure = softmax(40.0 * np.log(p), axis=1)
    fitted = DirichletCalibration(space="decision", regularisation=regularisation).fit(40.0 * np.log(p), y)
    assert sure.max(axis=1).mean() > 0.95
    assert np.abs(fitted.predict_proba(40.0 * np.log(p)) - p).mean() < 0.08
