import numpy as np
import pytest

from calibrant.errors import ModelFileError
from calibrant.maps.files import WRONG, plain_fields
from calibrant.maps.segments import CURVE, LINE, WAVES, Basis, Effects, TermEffects


def shift_term(keys, levels, shifts):
    count = len(shifts)
    corner = np.zeros((count, 2, 2))
    corner[:, 0, 0] = 1.0
    effects = Effects(np.column_stack((shifts, np.zeros(count))), 0.1 * corner, 0.04 * corner, np.diag([0.25, 0.0]))
    return TermEffects(keys, LINE, np.array(levels).reshape(count, len(keys)), *effects, 0.9)


def test_line_columns_are_one_and_the_standardised_logit():
    pooled, totals = np.array([-1.0, 0.0, 1.0]), np.array([1.0, 2.0, 1.0])
    basis = Basis.learn(np.array([0.1, 0.5, 0.9]), pooled, totals)
    columns = basis.columns(LINE, np.array([0.1, 0.5]), np.array([-1.0, 100.0]))
    np.testing.assert_allclose(columns, [[1.0, -np.sqrt(2.0)], [1.0, 4.0]])  # far logits count as four deviations


def test_waves_run_over_middle_ranks():
    basis = Basis.learn(np.array([0.1, 0.5, 0.9]), np.zeros(3), np.array([1.0, 2.0, 1.0]))
    np.testing.assert_allclose(basis.ranks, [0.125, 0.5, 0.875])
    columns = basis.columns(CURVE, np.array([0.5, 0.0]), np.zeros(2))
    np.testing.assert_allclose(columns[0], np.sqrt(2.0) * np.cos(np.pi * 0.5 * WAVES))
    np.testing.assert_allclose(columns[1], np.sqrt(2.0) * np.cos(np.pi * 0.125 * WAVES))


def test_waves_are_orthogonal_over_the_pooled_rows():
    basis = Basis.learn(np.sort(np.random.default_rng(0).random(2000)), np.zeros(2000), np.ones(2000))
    columns = basis.columns(CURVE, basis.scores, np.zeros(2000))
    np.testing.assert_allclose(columns.T @ columns / 2000, np.eye(len(WAVES)), atol=1e-3)


def test_a_basis_goes_through_plain_values():
    basis = Basis.learn(np.array([0.1, 0.9]), np.array([-1.0, 1.0]), np.ones(2))
    same = Basis.from_dict(plain_fields(basis))
    assert (same.centre, same.spread) == (basis.centre, basis.spread)
    np.testing.assert_array_equal(same.ranks, basis.ranks)


def test_rows_of_one_segment_share_their_draw():
    term, codes = shift_term((0,), [0, 1], [-0.5, 0.5]), np.array([[0, -1], [0, -1], [1, -1]])
    effect = term.draw(np.tile([1.0, 0.0], (3, 1)), codes, np.random.default_rng(0), 5)
    np.testing.assert_array_equal(effect[:, 0], effect[:, 1])
    assert (effect[:, 0] != effect[:, 2]).all()


def test_the_effects_of_a_pair_are_found_by_both_numbers():
    term = shift_term((0, 1), [[0, 1], [1, 0]], [0.3, -0.3])
    codes = np.array([[0, 1], [1, 0], [0, 0], [-1, 1], [5, 0]])
    assert term.places(codes).tolist() == [0, 1, -1, -1, -1]
    columns, place = np.tile([1.0, 2.0], (5, 1)), term.places(codes)
    mean, variance = term.effect(columns, place), term.variance(columns, place, wide=False)
    np.testing.assert_allclose(mean, [0.3, -0.3, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(variance, [0.1, 0.1, 0.0, 0.0, 0.0])


def test_a_term_goes_through_plain_values():
    term = shift_term((1,), [0, 2], [0.3, -0.3])
    same = TermEffects.from_dict(plain_fields(term), (2, 3))
    assert plain_fields(same) == plain_fields(term)


@pytest.mark.parametrize(
    "change",
    [
        {"keys": [2]},
        {"keys": [True]},
        {"keys": [0.0]},
        {"kind": "wave"},
        {"kind": CURVE},
        {"levels": [[2], [0]]},
        {"levels": [[0], [3]]},
        {"levels": [[-1], [0]]},
        {"levels": [[0], [1.5]]},
        {"levels": [[0], [0]]},
        {"mean": [[0.3, 0.0]]},
        {"wide": [[[-1.0, 0.0], [0.0, 0.0]]] * 2},
        {"prior": [[1.0, 0.0]]},
        {"difference": 1.5},
        {"difference": None},
    ],
    ids=str,
)
def test_damaged_terms_are_refused(change):
    data = plain_fields(shift_term((1,), [0, 2], [0.3, -0.3]))
    with pytest.raises((ModelFileError, *WRONG)):
        TermEffects.from_dict(data | change, (2, 3))


@pytest.mark.parametrize(
    "change",
    [
        {"scores": [0.9, 0.1]},
        {"scores": [0.1]},
        {"scores": [], "ranks": []},
        {"spread": 0.0},
        {"ranks": [[0.1], [0.2]]},
    ],
    ids=str,
)
def test_a_damaged_basis_is_refused(change):
    basis = Basis.learn(np.array([0.1, 0.9]), np.array([-1.0, 1.0]), np.ones(2))
    with pytest.raises(ModelFileError, match="scores and ranks"):
        Basis.from_dict(plain_fields(basis) | change)
