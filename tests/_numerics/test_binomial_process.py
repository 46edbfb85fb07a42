import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import check_grad

from calibrant import simulate
from calibrant._numerics import binomial_process, links


def test_bin_counts_follow_the_authors_rule_and_reach_down_to_one_cell():
    np.testing.assert_array_equal(
        binomial_process.bin_counts(10_000, 10_000), [100, 144, 189, 233, 278, 322, 367, 411, 456, 500]
    )
    np.testing.assert_array_equal(binomial_process.bin_counts(50, 50), range(3, 11))
    np.testing.assert_array_equal(binomial_process.bin_counts(50, 1), [1])


def test_every_bin_counts_with_its_weight():
    scores, positives, totals = np.array([0.1, 0.4, 0.9]), np.array([1.0, 1.0, 4.0]), np.array([4.0, 2.0, 4.0])
    mean, accuracy, weight = binomial_process.pooled_bins(scores, positives, totals)
    np.testing.assert_allclose(mean, scores)
    np.testing.assert_allclose(accuracy, [0.25, 0.5, 1.0])
    np.testing.assert_allclose(weight, [0.4, 0.2, 0.4])


def test_the_gradient_is_exact():
    rng = np.random.default_rng(0)
    design, accuracy, weight = rng.normal(size=(20, 3)), rng.random(20), rng.random(20)
    off = check_grad(
        lambda t: binomial_process._loss(t, design, accuracy, weight)[0],
        lambda t: binomial_process._loss(t, design, accuracy, weight)[1],
        np.array([0.4, 0.7, -0.3]),
    )
    assert off < 1e-6


def curve(s, alpha, beta, c):
    """Equation 12."""
    return 1.0 / (1.0 + s**-alpha * (1.0 - s) ** beta * np.exp(c))


def test_points_on_a_curve_give_the_curve_back():
    scores = np.linspace(0.05, 0.95, 10)
    truth = curve(scores, 0.6, 1.7, 0.4)
    found = binomial_process.fit_curve(scores, 8.0 * truth, np.full(10, 8.0))
    np.testing.assert_allclose(found, (0.6, 1.7, 0.4), atol=0.15)  # bins of several cells lie a little off the curve
    np.testing.assert_allclose(curve(scores, *found), truth, atol=0.01)


def test_slopes_stay_non_negative_where_the_data_fall():
    scores = np.linspace(0.1, 0.9, 9)
    alpha, beta, c = binomial_process.fit_curve(scores, 10.0 * (1.0 - scores), np.full(9, 10.0))
    assert (alpha, beta) == (0.0, 0.0)
    assert links.expit(np.array(-c)) == pytest.approx(0.5, abs=1e-3)


def test_many_bins_take_the_short_way_to_the_same_curve(monkeypatch):
    tally = simulate.from_truth("asymmetric", 20_000).tally
    columns = tally.scores, tally.positives, tally.totals
    long = binomial_process.fit_curve(*columns)
    monkeypatch.setattr(binomial_process, "MANY_BINS", 100)
    np.testing.assert_allclose(binomial_process.fit_curve(*columns), long, atol=1e-4)


@settings(deadline=None, max_examples=25)
@given(st.lists(st.tuples(st.floats(0.0, 1.0), st.integers(0, 3)), min_size=1, max_size=30))
def test_any_table_gives_a_finite_rising_curve(rows):
    scores = np.unique([s for s, _ in rows])
    totals = np.full(len(scores), 3.0)
    positives = np.array([k for _, k in rows[: len(scores)]], dtype=float)
    alpha, beta, c = binomial_process.fit_curve(scores, positives, totals)
    assert alpha >= 0.0
    assert beta >= 0.0
    assert np.isfinite([alpha, beta, c]).all()
