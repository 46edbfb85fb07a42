import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest
from sklearn.calibration import calibration_curve

from calibrant import Tally
from calibrant.errors import InvalidInputError
from calibrant.reliability import binned_points, clopper_pearson


def rows(n, seed=0):
    rng = np.random.default_rng(seed)
    scores = rng.random(n)
    return scores, rng.random(n) < scores**2


def test_by_hand():
    tally = Tally.from_arrays([0.1, 0.2, 0.2, 0.6, 0.7, 0.9], [0, 0, 1, 0, 1, 1])
    points = binned_points(tally, n_bins=2, level=0.9)
    assert points["left"].tolist() == [0.1, 0.6]
    assert points["right"].tolist() == [0.2, 0.9]
    np.testing.assert_allclose(points["mean_score"], [0.5 / 3, 2.2 / 3])
    np.testing.assert_allclose(points["fraction"], [1 / 3, 2 / 3])
    assert points["positives"].tolist() == [1, 2]
    assert points["total"].tolist() == points["effective_total"].tolist() == [3, 3]
    # One of three: the lower end solves 1 − (1 − p)³ = .05, the upper (1 − p)³ + 3p(1 − p)² = .05.
    low, high = points["low"][0], points["high"][0]
    assert 1 - (1 - low) ** 3 == pytest.approx(0.05)
    assert (1 - high) ** 3 + 3 * high * (1 - high) ** 2 == pytest.approx(0.05)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_clopper_pearson_is_scipys(level):
    k, n = (a.ravel() for a in np.meshgrid([0, 1, 2, 7, 10], [10, 11, 40]))
    low, high = clopper_pearson(k.astype(float), n.astype(float), level)
    for i in range(len(k)):
        exact = binomtest(int(k[i]), int(n[i])).proportion_ci(level, "exact")
        assert low[i] == pytest.approx(exact.low, abs=1e-12)
        assert high[i] == pytest.approx(exact.high, abs=1e-12)


def test_the_interval_covers_at_least_as_often_as_it_says():
    # Every count of a binomial, so no simulation: the coverage at p is the probability of the counts that cover it.
    n, level = 25, 0.9
    k = np.arange(n + 1.0)
    low, high = clopper_pearson(k, np.full(n + 1, float(n)), level)
    for p in np.linspace(0.01, 0.99, 33):
        covered = sum(binomial(int(c), n, p) for c in k[(low <= p) & (p <= high)])
        assert covered >= level - 1e-12


def binomial(k, n, p):
    from math import comb

    return comb(n, k) * p**k * (1 - p) ** (n - k)


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
@pytest.mark.parametrize("n_bins", [3, 10])
def test_agrees_with_scikit_learn(strategy, n_bins):
    scores, y = rows(1200)
    points = binned_points(Tally.from_arrays(scores, y), n_bins=n_bins, strategy=strategy)
    fraction, mean = calibration_curve(y, scores, n_bins=n_bins, strategy=strategy)
    np.testing.assert_allclose(points["fraction"], fraction, atol=1e-12)
    np.testing.assert_allclose(points["mean_score"], mean, atol=1e-12)


def test_bins_are_closed_on_the_right_and_empty_ones_are_left_out():
    points = binned_points(Tally.from_arrays([0.0, 0.5, 0.51, 1.0], [0, 1, 0, 1]), n_bins=4, strategy="uniform")
    assert points["left"].tolist() == [0.0, 0.25, 0.5, 0.75]
    assert binned_points(Tally.from_arrays([0.0, 1.0], [0, 1]), n_bins=4, strategy="uniform")["left"].tolist() == [
        0.0,
        0.75,
    ]


def test_bins_of_equal_mass_take_any_scores_and_never_part_ties():
    points = binned_points(Tally.from_arrays([-5, 3, 3, 3, 3, 90], [0, 1, 0, 1, 0, 1]), n_bins=3)
    assert points["total"].tolist() == [1, 4, 1]
    assert points["mean_score"].tolist() == [-5, 3, 90]


@pytest.mark.parametrize(("n", "expected"), [(1, 1), (60, 4), (1000, 10), (1001, 11), (200_000, 20)])
def test_auto_is_the_cube_root_up_to_twenty(n, expected):
    scores = (np.arange(n) + 0.5) / n
    assert len(binned_points(Tally.from_arrays(scores, scores > 0.5))) == expected


def test_squares_shrink_the_effective_rows():
    tally = Tally.from_arrays([0.2, 0.3, 0.7, 0.8], [0, 1, 0, 1], [1, 1, 3, 1])
    points = binned_points(tally, n_bins=2, strategy="uniform", squares=np.array([1.0, 1.0, 9.0, 1.0]))
    np.testing.assert_allclose(points["effective_total"], [2.0, 16 / 10])
    low, high = clopper_pearson(np.array([0.25 * 1.6]), np.array([1.6]), 0.9)
    assert (points["low"][1], points["high"][1]) == (low[0], high[0])


@pytest.mark.parametrize("n_bins", [0, -1, 2.5, True, "sqrt", None])
def test_bad_n_bins(n_bins):
    with pytest.raises(InvalidInputError, match="`n_bins` must be a positive integer"):
        binned_points(Tally.from_arrays([0.1], [0]), n_bins=n_bins)


@pytest.mark.parametrize("level", [0, 1, 90, -0.1, float("nan"), True])
def test_bad_level(level):
    with pytest.raises(InvalidInputError, match="`level` must lie strictly between 0 and 1"):
        clopper_pearson(np.array([1.0]), np.array([2.0]), level)


def test_bad_strategy():
    with pytest.raises(InvalidInputError, match="`strategy` must be one of quantile, uniform"):
        binned_points(Tally.from_arrays([0.1], [0]), strategy="mass")


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(st.sampled_from(np.linspace(0, 1, 21).tolist()), st.booleans()), min_size=1, max_size=80),
    st.integers(1, 12),
    st.sampled_from(["uniform", "quantile"]),
)
def test_every_row_is_in_one_bin(pairs, n_bins, strategy):
    scores, y = zip(*pairs, strict=True)
    points = binned_points(Tally.from_arrays(scores, y), n_bins=n_bins, strategy=strategy)
    assert points["total"].sum() == len(pairs)
    assert points["positives"].sum() == sum(y)
    assert 1 <= len(points) <= n_bins
    assert (np.diff(points["mean_score"]) > 0).all()
    assert ((points["left"] <= points["mean_score"]) & (points["mean_score"] <= points["right"])).all()
    assert ((points["low"] >= 0) & (points["low"] <= points["fraction"])).all()
    assert ((points["fraction"] <= points["high"]) & (points["high"] <= 1)).all()
