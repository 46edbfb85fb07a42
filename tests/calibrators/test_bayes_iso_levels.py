import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression
from scipy.special import betainc

from calibrant.calibrators.bayes_iso_posterior import POWER, find_windows, spread_levels, widen

CELLS = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)).filter(any), min_size=1, max_size=40)


@settings(max_examples=40, deadline=None)
@given(CELLS, st.sampled_from([0.01, 1.0, 1e4]))
def test_windows_hold_the_isotonic_fit_and_so_many_levels(cells, weight):
    positives, negatives = weight * np.array(cells, dtype=float).T
    totals = positives + negatives
    windows = find_windows(positives, totals)
    low, high = (betainc(POWER, POWER, end) for end in windows)
    fit = isotonic_regression(positives / totals, weights=totals).x
    assert ((low <= fit + 1e-9) & (fit <= high + 1e-9)).all()
    levels = spread_levels(*windows, 16)
    assert (np.diff(levels.p) > 0).all()
    assert (levels.p[0], levels.p[-1]) == (0.0, 1.0)
    assert ((levels.starts >= 0) & (levels.starts < levels.stops) & (levels.stops < len(levels.p))).all()
    assert (levels.stops - levels.starts < 16).all()


@settings(max_examples=40, deadline=None)
@given(CELLS)
def test_exchanging_the_labels_mirrors_levels_and_windows(cells):
    positives, negatives = np.array(cells, dtype=float).T
    first = spread_levels(*find_windows(positives, positives + negatives), 16)
    second = spread_levels(*find_windows(negatives[::-1], (positives + negatives)[::-1]), 16)
    np.testing.assert_allclose(first.p, second.q[::-1], atol=1e-12)
    np.testing.assert_array_equal(first.starts, (len(second.p) - 1 - second.stops)[::-1])


def test_windows_shrink_as_rows_come_in():
    truth = np.linspace(0.1, 0.9, 20)
    widths = [np.subtract(*find_windows(n * truth, np.full(20, n))[::-1]).max() for n in (1.0, 100.0, 1e4, 1e6)]
    assert widths[0] > 0.5
    np.testing.assert_allclose(np.divide(widths[2], widths[3]), 10.0, rtol=0.05)  # the root of a hundred


def test_windows_widen_only_where_they_must_and_within_bounds():
    windows = np.array([0.1, 0.2]), np.array([0.3, 0.9])
    low, high = widen(*windows, np.array([True, False]), np.array([False, True]))
    assert low == pytest.approx([0.0, 0.2])
    assert high == pytest.approx([0.3, 1.0])
