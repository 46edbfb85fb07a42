import numpy as np

from calibrant.export import parity
from calibrant.export.expression_graph import Array, lower_matrix, walk
from calibrant.maps.matrix import MatrixMap, MatrixMember


def test_the_graph_computes_what_the_map_computes(full_map, evaluate):
    scores = parity.probe(full_map)
    np.testing.assert_allclose(evaluate(lower_matrix(full_map), scores), full_map(scores), atol=1e-14)


def test_fitted_maps_too(fitted_map, rows_with_zeros, evaluate):
    found = evaluate(lower_matrix(fitted_map), rows_with_zeros)
    np.testing.assert_allclose(found, fitted_map(rows_with_zeros), atol=1e-14)


def test_parts_that_no_member_has_are_left_out_and_bounds_are_finite():
    nodes = list(walk(lower_matrix(MatrixMap((0, 1, 2), "decision", 2.0, (MatrixMember(1.0),)))))
    assert [node.value.tolist() for node in nodes if isinstance(node, Array)] == [[1.0], [1.0]]  # slope and weight
    assert all(np.isfinite(node.value).all() for node in nodes if hasattr(node, "value"))


def test_a_curve_with_one_knot_is_a_constant(evaluate):
    member = MatrixMember(1.0, gate=np.array([0.2]), class_curves=np.array([[0.5], [0.0]]))
    map_ = MatrixMap((0, 1), "decision", 1.0, (member,), class_knots=np.array([-1.0]), gate_knots=np.array([0.0]))
    rows = np.array([[0.3, 0.1]])
    np.testing.assert_allclose(evaluate(lower_matrix(map_), rows), map_(rows))


def test_the_log_odds_of_a_row_that_is_all_but_certain(evaluate):
    member = MatrixMember(1.0, gate=np.array([0.0, 0.3]))
    map_ = MatrixMap((0, 1), "decision", 1.0, (member,), gate_knots=np.array([0.0, 40.0]))
    rows = np.array([[gap, 0.0] for gap in (0.0, 1e-9, 5.0, 20.0, 33.0, 60.0)])
    np.testing.assert_allclose(evaluate(lower_matrix(map_), rows), map_(rows), rtol=1e-12)
