import numpy as np
import pytest

from calibrant._kernels import links


def test_logit_and_expit_are_inverse():
    p = np.array([1e-12, 0.1, 0.5, 0.999])
    assert links.expit(links.logit(p)) == pytest.approx(p, rel=1e-12)


def test_both_ends_are_finite_and_symmetric():
    z = links.logit(np.array([0.0, 1.0]))
    assert np.isfinite(z).all()
    assert z[0] == pytest.approx(-z[1])
    assert links.expit(np.array([-1e9, 1e9])).tolist() == [0.0, 1.0]


def test_log_odds_features_add_up_to_the_logit():
    p = np.array([0.0, 0.2, 0.7, 1.0])
    log_p, minus_log_rest = links.log_odds_features(p)
    assert log_p + minus_log_rest == pytest.approx(links.logit(p))
