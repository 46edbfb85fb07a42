"""Falls of a map that the posterior is not sure of are pooled, the others stay."""

import numpy as np
import pytest
from scipy.optimize import isotonic_regression

from calibrant import Tally
from calibrant._numerics import links
from calibrant.calibrators import decreases
from calibrant.calibrators.decreases import pool_outside, pool_unsupported_decreases
from calibrant.maps.functions import LogitLinear

X = np.linspace(-4.0, 4.0, 9)


def rows_everywhere():
    scores = links.expit(X)
    return Tally(scores, 0.5 * np.ones(9), np.ones(9))


def table(y):
    return LogitLinear(X, np.asarray(y, dtype=float), 0.0, 0.0)


def curves_around(y, spread, seed=0):
    """Curves that shift each node by itself."""

    def draw(scores, n):
        noise = np.random.default_rng(seed).normal(size=(n, len(scores)))
        return links.expit(np.interp(links.logit(scores), X, y) + spread * noise)

    return draw


def test_a_rising_map_is_left_alone_and_nothing_is_drawn():
    def draw(scores, n):
        raise AssertionError

    rising = table(X)
    assert pool_unsupported_decreases(rising, rows_everywhere(), draw) == (rising, ())


def test_a_certain_fall_stays_and_is_reported():
    y = [-4, -3, -2, 2, 1, -1, -2, 3, 4]
    settled, falls = pool_unsupported_decreases(table(y), rows_everywhere(), curves_around(y, 0.2))
    np.testing.assert_array_equal(settled.y, y)
    (fall,) = falls
    assert (fall.low, fall.high) == (pytest.approx(links.expit(X[3])), pytest.approx(links.expit(X[6])))
    assert fall.probability == 1.0


def test_a_fall_by_chance_is_pooled():
    y = [-4, -3, -2, 0.2, 0.1, 0.0, 2, 3, 4]
    settled, falls = pool_unsupported_decreases(table(y), rows_everywhere(), curves_around(y, 1.0))
    assert falls == ()
    np.testing.assert_allclose(settled(links.expit(X[3:6])), links.expit(np.full(3, 0.1)))
    np.testing.assert_allclose(
        settled(links.expit(X[[0, 1, 2, 6, 7, 8]])), links.expit(np.array(y)[[0, 1, 2, 6, 7, 8]])
    )
    assert (np.diff(settled.y) >= 0.0).all()


def test_only_the_certain_one_of_two_falls_stays():
    y = [-4, -3.9, -4.1, -1, 2, -2, 1.1, 1, 4]
    settled, falls = pool_unsupported_decreases(table(y), rows_everywhere(), curves_around(y, 0.5))
    assert [(round(f.low, 3), round(f.high, 3)) for f in falls] == [tuple(links.expit(X[[4, 5]]).round(3).tolist())]
    assert list(np.flatnonzero(np.diff(settled(links.expit(X))) < 0)) == [4]


def test_small_steps_down_that_are_certain_only_together_stay():
    y = np.array([-4, 1.0, 0.7, 0.75, 0.45, 0.5, 0.2, 3, 4])
    _, falls = pool_unsupported_decreases(table(y), rows_everywhere(), curves_around(y, 0.25))
    (fall,) = falls
    assert fall.low == pytest.approx(links.expit(X[1]))
    assert fall.high == pytest.approx(links.expit(X[6]))


def test_pooling_is_isotonic_regression_of_the_logits_by_rows():
    y, totals = np.array([-1, 0, 0.9, 0.5, 0.6, 1.5, 1.4, 2, 3.0]), np.arange(1.0, 10.0)
    pooled = pool_outside(table(y), Tally(links.expit(X), 0.3 * totals, totals), ())
    expected = isotonic_regression(y, weights=totals).x
    np.testing.assert_allclose(links.logit(pooled(links.expit(X))), expected, atol=1e-6)


def test_where_all_is_rare_the_end_farther_from_one_half_is_taken():
    rare = -8.0 + np.array([0.0, 1.0, 0.5, 0.2, 1.5])
    y = np.concatenate((rare, -rare[3::-1]))
    pooled = pool_outside(table(y), rows_everywhere(), ())
    np.testing.assert_allclose(links.logit(pooled(links.expit(X[1:4]))), rare[3])
    np.testing.assert_allclose(links.logit(pooled(links.expit(X[5:8]))), -rare[3])
    assert links.expit(rare).max() < decreases.RARE


@pytest.mark.parametrize("seed", range(5))
def test_outside_the_reported_falls_every_map_rises(seed):
    y = np.random.default_rng(seed).normal(size=9).cumsum()
    settled, falls = pool_unsupported_decreases(table(y), rows_everywhere(), curves_around(y, 0.5, seed))
    scores = links.expit(np.linspace(-4.0, 4.0, 801))
    down = np.flatnonzero(np.diff(settled(scores)) < -1e-12)
    assert all(any(f.low <= scores[k + 1] and scores[k] <= f.high for f in falls) for k in down)
    assert (settled(scores) <= links.expit(y.max()) + 1e-12).all()
