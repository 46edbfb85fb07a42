"""The order of merges; that whole paths are right is tested with the models that they give."""

import numpy as np

from calibrant._compiled.near_isotonic_path import path


def test_one_fall_by_hand():
    # 0 1 0 1: the fall in the middle closes at λ = ½, where both inner values are ½; nothing else moves.
    order, when = path(np.array([0.0, 0.0, 1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0, 1.0, 2.0]), np.arange(5.0))
    assert order.tolist() == [1]
    assert when.tolist() == [0.5]


def test_merged_blocks_meet_their_neighbours():
    # 2 1 0: the middle cell is pulled from both sides alike; the outer two reach it, and each other, at λ = 1.
    falls = np.array([0.0, 1.0, 1.0, 0.0])
    order, when = path(falls, np.array([0.0, 2.0, 3.0, 3.0]), np.arange(4.0))
    assert sorted(order.tolist()) == [0, 1]
    np.testing.assert_allclose(when, [1.0, 1.0], rtol=1e-15)


def test_times_never_fall_and_every_boundary_vanishes_once():
    rng = np.random.default_rng(0)
    y = rng.random(300)
    falls = np.concatenate(([0.0], (y[1:] < y[:-1]).astype(float), [0.0]))
    order, when = path(falls, np.append(0.0, np.cumsum(y)), np.arange(301.0))
    assert (np.diff(when) >= 0.0).all()
    assert len(set(order.tolist())) == len(order)


def test_one_cell_has_no_boundary():
    order, when = path(np.zeros(2), np.array([0.0, 0.3]), np.array([0.0, 1.0]))
    assert len(order) == len(when) == 0
