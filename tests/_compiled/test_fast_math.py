"""What kernels have inside, compiled and plain, against the system's mathematical library and exact arithmetic."""

import math
from fractions import Fraction

import numpy as np
from scipy.special import betaln

from calibrant._compiled import fast_math_for_tests as fast_math


def test_exp_is_right_to_an_ulp_or_two():
    x = np.linspace(-699.0, 700.0, 2001)
    found = np.array([fast_math.exp(v) for v in x])
    np.testing.assert_allclose(found, np.exp(x), rtol=7e-16)  # numpy's may be an ulp off, too
    assert fast_math.exp(0.0) == 1.0
    assert fast_math.exp(-1e9) == fast_math.exp(-700.0) > 0.0


def test_log_is_right_to_an_ulp_or_two():
    x = np.exp(np.linspace(-700.0, 700.0, 1501))
    np.testing.assert_allclose([fast_math.log(v) for v in x], np.log(x), rtol=4e-16, atol=1e-16)
    near = 1.0 + np.linspace(-0.4, 0.5, 901)
    np.testing.assert_allclose([fast_math.log(v) for v in near], np.log(near), rtol=1e-15, atol=1e-17)


def test_log_beta_of_whole_numbers_is_that_of_the_factorials():
    for a in range(1, 30, 3):
        for b in range(1, 40, 4):
            exact = Fraction(math.factorial(a - 1) * math.factorial(b - 1), math.factorial(a + b - 1))
            assert abs(fast_math.log_beta(float(a), float(b)) - math.log(exact)) < 3e-14


def test_log_beta_over_many_magnitudes():
    rng = np.random.default_rng(0)
    a, b = np.exp(rng.uniform(-6.0, 20.0, (2, 500)))
    found = np.array([fast_math.log_beta(p, q) for p, q in zip(a, b, strict=True)])
    # Above 1e6 scipy itself is only right to 1e-8: it subtracts numbers of the size a ln a.
    np.testing.assert_allclose(found, betaln(a, b), rtol=1e-10, atol=1e-6)
    assert np.isfinite(fast_math.log_beta(1e15, 1e-3))
