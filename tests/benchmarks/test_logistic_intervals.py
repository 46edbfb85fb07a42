import numpy as np
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from benchmarks.papers.sdm_table1 import logistic_intervals
from calibrant import ACP


def test_logistic_intervals_equal_the_delta_method_by_hand():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = rng.random(200) < expit(X @ [1.0, -0.5] + 0.3)
    model = LogisticRegression(C=2.0, tol=1e-10).fit(X, y)
    scores, lower, upper = logistic_intervals(model, X, X[:5])
    np.testing.assert_allclose(scores, model.predict_proba(X[:5])[:, 1])
    design = np.column_stack((np.ones(200), X))
    p = model.predict_proba(X)[:, 1]
    covariance = np.linalg.inv((design.T * (p * (1.0 - p))) @ design + np.diag([0.0, 0.5, 0.5]))
    eta = model.decision_function(X[:5])
    reach = 1.959964 * np.sqrt([row @ covariance @ row for row in design[:5]])
    np.testing.assert_allclose(lower, expit(eta - reach), atol=1e-6)
    np.testing.assert_allclose(upper, expit(eta + reach), atol=1e-6)


def test_acp_repairs_a_logistic_regression():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(4000, 1))
    truth = expit(X[:, 0] ** 3)
    y = rng.random(4000) < truth
    model = LogisticRegression().fit(X[:500], y[:500])
    calibrator = ACP().fit(model.predict_proba(X[500:2000])[:, 1], y[500:2000])
    raw, *ends = logistic_intervals(model, X[:500], X[2000:])
    before, after = (np.mean((p - truth[2000:]) ** 2) for p in (raw, calibrator.predict_between(raw, *ends)))
    assert after < 0.7 * before
