import numpy as np
from scipy import special

from calibrant._numerics import links


def test_softmax_agrees_with_scipy_and_does_not_overflow():
    logits = np.array([[0.0, 1.0, -1.0], [1e308, 0.0, -1e308]])
    np.testing.assert_allclose(links.softmax(logits)[0], special.softmax(logits[0]), rtol=1e-14)
    np.testing.assert_array_equal(links.softmax(logits)[1], [1.0, 0.0, 0.0])
