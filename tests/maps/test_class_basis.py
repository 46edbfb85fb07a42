import numpy as np
import pytest

from calibrant._numerics import links
from calibrant.errors import ModelFileError
from calibrant.maps.class_basis import ClassBasis, multiply
from calibrant.maps.files import plain_fields

LOGITS = np.array([[0.0, 1.0, -2.0], [3.0, 0.0, 0.0], [60.0, 0.0, -60.0]])


def test_a_class_against_the_rest_by_hand():
    basis = ClassBasis(np.zeros(3), 1.0)
    logits, columns = basis.against_rest(LOGITS, {"line": LOGITS[:, :, None]})
    p = links.softmax(LOGITS[:2])
    np.testing.assert_allclose(logits[:2], np.log(p / (1.0 - p)))
    assert logits[2, 0] == pytest.approx(60.0)  # though its probability rounds to 1
    step = 1e-6
    for k in range(4):
        moved = LOGITS + step * (np.eye(4)[k, :3] if k < 3 else LOGITS)
        difference = (basis.against_rest(moved, {})[0] - logits) / step
        np.testing.assert_allclose(difference, columns["line"][:, :, k], rtol=1e-4, atol=1e-4)


def test_joined_logits_have_the_odds_where_they_fit_together():
    basis = ClassBasis(np.zeros(3), 1.0)
    joined = basis.join(basis.against_rest(LOGITS, {})[0])
    np.testing.assert_allclose(basis.probabilities(joined), links.softmax(LOGITS), atol=1e-12)


def test_spread_and_centre_are_of_open_entries():
    p = np.array([[0.5, 0.5 - 1e-9, 1e-9], [0.25, 0.75, 0.0]])
    basis = ClassBasis.learn(np.log(links.clip(p)), np.ones(2))
    assert basis.spread < 3.0  # logarithms of −20 and −36 hardly count
    assert basis.columns("line", p, np.log(links.clip(p))).shape == (2, 3, 1)


def test_biases_and_slopes_multiply_their_columns():
    u = np.array([[[1.0], [2.0], [3.0]]])
    np.testing.assert_allclose(multiply(u, np.array([[0.1, 0.2, 0.3, 10.0]])), [[10.1, 20.2, 30.3]])
    np.testing.assert_allclose(multiply(np.array([[1.0, 2.0]]), np.array([[0.1, 10.0]])), [20.1])


@pytest.mark.parametrize(
    "change", [{"centre": []}, {"centre": [[0.0, 1.0]]}, {"spread": 0.0}, {"spread": float("nan")}]
)
def test_a_damaged_basis_is_refused(change):
    fields = plain_fields(ClassBasis(np.zeros(3), 1.5))
    assert ClassBasis.from_dict(fields).spread == 1.5
    with pytest.raises(ModelFileError, match="damaged"):
        ClassBasis.from_dict(fields | change)
