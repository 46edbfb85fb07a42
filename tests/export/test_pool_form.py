import numpy as np

from calibrant._numerics.links import log_odds, softmax
from calibrant.export import parity
from calibrant.export.pool_form import PoolForm, Ramps
from calibrant.maps.matrix import MatrixMap, MatrixMember


def heights(ramps, x):
    """The ramps at x, (..., ramps)."""
    return np.clip((x[..., None] - ramps.starts) / ramps.widths, 0.0, 1.0)


def evaluate(form, ell):
    """The probabilities for tempered log-probabilities, (n, K): what every export has to reproduce."""
    u = np.clip(ell, form.low, form.high)
    z = form.slope[:, None] * ell[:, None, :] + form.bias + form.vector * u[:, None, :]
    z += np.einsum("nkj,mkj->nmk", heights(form.ramps, ell), form.curves)
    if form.gate.size:
        z += (heights(form.gate_ramps, log_odds(ell.max(axis=1))) @ form.gate.T)[:, :, None] * u[:, None, :]
    if form.matrix.size:
        z += np.einsum("ni,mki->nmk", u, form.matrix)
    if form.confusion.size:
        z += np.einsum("ni,mki->nmk", np.exp(ell), form.confusion)
    n, m, k = z.shape
    return np.einsum("m,nmk->nk", form.weights, softmax(z.reshape(n * m, k)).reshape(n, m, k))


def test_ramps_by_hand():
    ramps = Ramps.between(np.array([0.0, 1.0, 3.0]))
    assert heights(ramps, np.array([-1.0, 0.5, 2.0, 9.0])).tolist() == [[0, 0], [0.5, 0], [1, 0.5], [1, 1]]


def test_a_curve_is_the_sum_of_its_ramps():
    knots, values, x = np.array([-2.0, 0.0, 3.0]), np.array([1.0, -1.0, 4.0]), np.linspace(-4.0, 5.0, 37)
    found = values[0] + heights(Ramps.between(knots), x) @ np.diff(values)
    np.testing.assert_allclose(found, np.interp(x, knots, values), atol=1e-15)


def test_the_form_computes_what_the_map_computes(full_map):
    scores = parity.probe(full_map)
    form = PoolForm.from_map(full_map)
    np.testing.assert_allclose(evaluate(form, full_map.tempered(scores)), full_map(scores), atol=1e-14)


def test_fitted_maps_too(fitted_map, rows_with_zeros):
    form = PoolForm.from_map(fitted_map)
    np.testing.assert_allclose(
        evaluate(form, fitted_map.tempered(rows_with_zeros)), fitted_map(rows_with_zeros), atol=1e-14
    )


def test_parts_that_no_member_has_are_empty_and_bounds_are_finite():
    form = PoolForm.from_map(MatrixMap((0, 1, 2), "decision", 2.0, (MatrixMember(1.0),)))
    assert form.gate.size == form.matrix.size == form.confusion.size == form.curves.size == 0
    assert np.isfinite([form.low, form.high]).all()


def test_a_curve_with_one_knot_is_a_constant():
    member = MatrixMember(1.0, class_curves=np.array([[0.5], [0.0]]))
    map_ = MatrixMap((0, 1), "decision", 1.0, (member,), class_knots=np.array([-1.0]))
    ell = map_.tempered(np.array([[0.3, 0.1]]))
    np.testing.assert_allclose(evaluate(PoolForm.from_map(map_), ell), map_([[0.3, 0.1]]))
