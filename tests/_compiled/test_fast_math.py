"""What kernels use as plain Python is what `native` gives; there it is tested against exact arithmetic."""

import numpy as np
import pytest

from calibrant._compiled import fast_math, native


@pytest.mark.compiled
def test_both_give_the_same_numbers():
    for x in np.concatenate((np.linspace(-699.0, 700.0, 301), [-1e9, 0.0])):
        assert native.exp(x) == pytest.approx(fast_math.exp(x), rel=1e-15)
    for x in np.exp(np.linspace(-690.0, 690.0, 301)):
        assert native.log(x) == pytest.approx(fast_math.log(x), rel=1e-15, abs=1e-16)
    for a, b in np.exp(np.random.default_rng(0).uniform(-6.0, 20.0, (200, 2))):
        within = 1e-13 + 1e-15 * (a + b)  # what one rounding of a / (a + b) makes of a ln(a / (a + b))
        assert native.log_beta(a, b) == pytest.approx(fast_math.log_beta(a, b), abs=within)


def test_without_compiled_kernels_there_is_no_choice_between_them():
    assert fast_math.has_avx2() is False
