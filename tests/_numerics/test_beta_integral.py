import numpy as np
import pytest
from scipy import integrate, special, stats

from calibrant._numerics import beta


@pytest.mark.parametrize(
    ("a", "b"), [(1.1233, 0.1147), (0.5, 0.5), (2.0, 3.0), (40.0, 0.01), (2000.0, 3000.0), (1e6, 1e5)]
)
def test_the_density_integrates_to_one_and_gives_the_mean(a, b):
    assert beta.expectation(np.ones_like, a, b, np.empty(0)) == pytest.approx(1.0, abs=1e-9)
    assert beta.expectation(special.expit, a, b, np.empty(0)) == pytest.approx(a / (a + b), abs=1e-9)


def test_agrees_with_adaptive_quadrature_across_a_kink():
    kink = float(special.logit(0.3))
    ours = beta.expectation(lambda z: np.abs(special.expit(z) - 0.3), 2.0, 5.0, np.array([kink]))
    theirs, _ = integrate.quad(lambda s: abs(s - 0.3) * stats.beta.pdf(s, 2, 5), 0, 1, points=[0.3], epsabs=1e-12)
    assert ours == pytest.approx(theirs, abs=1e-10)


def test_finds_every_sign_change():
    assert beta.sign_changes(lambda z: (z - 2.5) * (z + 100.0)).tolist() == pytest.approx([-100.0, 2.5])
    assert len(beta.sign_changes(np.ones_like)) == 0
