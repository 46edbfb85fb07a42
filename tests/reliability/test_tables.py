import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.calibration import calibration_curve
from sklearn.isotonic import IsotonicRegression

from calibrant import PlattScaling, Tally, simulate
from calibrant.calibrators import registry
from calibrant.calibrators.base import BayesianCalibrator
from calibrant.errors import InvalidInputError
from calibrant.maps.functions import Identity
from calibrant.maps.score import CalibrationMap
from calibrant.metrics.calibration_band import finite_sample_band
from calibrant.reliability import binned_points
from calibrant.reliability.result import (
    count_between,
    curve_grid,
    finite_sample_table,
    fit_curve,
    histogram,
    table,
    visible_range,
)


def test_a_table_has_named_columns_and_cannot_be_written():
    made = table(a=np.array([1.0, 2.0]), b=np.array([3.0, 4.0]))
    assert made.dtype.names == ("a", "b")
    assert made["b"].tolist() == [3.0, 4.0]
    with pytest.raises(ValueError, match="read-only"):
        made["a"][0] = 5.0


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
    assert points["total"].tolist() == [3, 3]
    # One of three: the lower end solves 1 − (1 − p)³ = .05, the upper (1 − p)³ + 3p(1 − p)² = .05.
    low, high = points["low"][0], points["high"][0]
    assert 1 - (1 - low) ** 3 == pytest.approx(0.05)
    assert (1 - high) ** 3 + 3 * high * (1 - high) ** 2 == pytest.approx(0.05)


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


@pytest.mark.parametrize("n_bins", [0, -1, 2.5, True, "sqrt", None])
def test_bad_n_bins(n_bins):
    with pytest.raises(InvalidInputError, match="`n_bins` must be a positive integer"):
        binned_points(Tally.from_arrays([0.1], [0]), n_bins=n_bins)


@pytest.mark.parametrize("level", [0, 1, 90, -0.1, float("nan"), True])
def test_bad_level(level):
    with pytest.raises(InvalidInputError, match="`level` must lie strictly between 0 and 1"):
        binned_points(Tally.from_arrays([0.1, 0.9], [0, 1]), level=level)


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


class Fake(BayesianCalibrator):
    """The identity with a band of the given width."""

    def __init__(self, *, width=0.1):
        self.width = width

    def fit_map(self, tally):
        assert len(tally)
        return CalibrationMap(Identity(), "probability", True, "Fake")

    def draw_maps(self, scores, n_draws, rng):
        shift = rng.uniform(-0.5, 0.5, (n_draws, 1))
        return np.clip(self.predict(scores) + self.width * shift, 0, 1)

    def interval_ends(self, scores, level):
        half = 0.5 * self.width * level
        return np.clip(self.predict(scores) - half, 0, 1), np.clip(self.predict(scores) + half, 0, 1)


@pytest.fixture
def tally():
    rng = np.random.default_rng(0)
    scores = rng.random(500).round(2)
    return Tally.from_arrays(scores, rng.random(500) < scores)


def test_no_curve(tally):
    assert fit_curve(tally, None, 0.9) == (None, None)


def test_corp_by_hand():
    curve, name = fit_curve(Tally.from_arrays([0.1, 0.2, 0.4, 0.8], [0, 1, 0, 1]), "corp", 0.9)
    assert name == "CORP"
    assert curve.dtype.names == ("score", "probability")
    np.testing.assert_allclose(curve["score"], [0.1, 0.15, 0.15, 0.6, 0.6, 0.8])
    np.testing.assert_allclose(curve["probability"], [0, 0, 0.5, 0.5, 1, 1])


def test_corp_is_isotonic_regression_at_the_scores(tally):
    curve, _ = fit_curve(tally, "corp", 0.9)
    share = tally.positives / tally.totals
    expected = IsotonicRegression().fit(tally.scores, share, tally.totals).predict(tally.scores)
    at = np.searchsorted(curve["score"][1::2], tally.scores, side="left")
    np.testing.assert_allclose(curve["probability"][1::2][at], expected, atol=1e-12)
    assert (curve["score"][0], curve["score"][-1]) == (tally.scores[0], tally.scores[-1])


def test_corp_of_one_score():
    curve, _ = fit_curve(Tally.from_arrays([0.4, 0.4], [0, 1]), "corp", 0.9)
    assert curve.tolist() == [(0.4, 0.5), (0.4, 0.5)]


def test_a_posterior_has_a_band(tally):
    fake = Fake(width=0.2)
    curve, name = fit_curve(tally, fake, 0.5)
    assert name == "Fake"
    np.testing.assert_allclose(curve["probability"], curve["score"])
    inside = (curve["score"] > 0.1) & (curve["score"] < 0.9)
    np.testing.assert_allclose((curve["high"] - curve["low"])[inside], 0.1)
    assert not hasattr(fake, "map_"), "the calibrator that was passed stays as it was"


def test_a_method_without_posterior_has_none(tally):
    curve, name = fit_curve(tally, "platt", 0.9)
    assert name == "Platt scaling"
    assert curve.dtype.names == ("score", "probability")
    np.testing.assert_allclose(curve["probability"], PlattScaling().fit_tally(tally).predict(curve["score"]))


@pytest.mark.parametrize(
    "name", [n for n in registry.METHODS["score"] if issubclass(registry.get(n), BayesianCalibrator)]
)
def test_every_registered_posterior_works_by_name(tally, name):
    curve, made_by = fit_curve(tally, name, 0.9)
    assert made_by == registry.get(name).title
    assert (curve["low"] <= curve["high"]).all()
    assert ((curve["low"] >= 0) & (curve["high"] <= 1)).all()


@pytest.mark.parametrize("curve", ["nonsense", 3, IsotonicRegression()])
def test_bad_curve(tally, curve):
    with pytest.raises(InvalidInputError, match="`curve` must be None, 'corp'"):
        fit_curve(tally, curve, 0.9)


def test_the_grid_increases_and_stays_in_range(tally):
    grid = curve_grid(tally, probabilities=True)
    assert (np.diff(grid) > 0).all()
    assert (grid[0], grid[-1]) == (tally.scores[0], tally.scores[-1])
    decision = curve_grid(Tally.from_arrays([-3.0, 5.0], [0, 1]), probabilities=False)
    assert (decision[0], decision[-1]) == (-3.0, 5.0)


def test_histogram_by_hand():
    bars = histogram(Tally.from_arrays([0.0, 1 / 32, 0.5, 1.0], [0, 1, 1, 1], [1, 1, 1, 3]), "linear")
    assert len(bars) == 32
    assert bars["total"][[0, 15, 31]].tolist() == [2, 1, 3]
    assert bars["positives"][[0, 15, 31]].tolist() == [1, 1, 3]
    assert (bars["left"][0], bars["right"][-1]) == (0.0, 1.0)


def test_histogram_of_rare_events_covers_only_where_they_are():
    bars = histogram(Tally.from_arrays([0.001, 0.02], [0, 1]), "linear")
    assert (bars["left"][0], bars["right"][-1]) == (0.0, 1 / 32)


def test_histogram_on_the_logit_scale_keeps_zeros_and_ones():
    bars = histogram(Tally.from_arrays([0.0, 1e-9, 0.5, 1.0], [0, 0, 1, 1]), "logit")
    assert bars["total"][0] == 2
    assert bars["total"][-1] == 1
    assert bars["total"].sum() == 4
    logits = np.log(bars["left"][1:] / (1 - bars["left"][1:]))
    np.testing.assert_allclose(np.diff(logits), 0.5, atol=1e-6)


def test_count_between_takes_any_edges():
    bars = count_between(Tally.from_arrays([-3, 0, 4], [0, 1, 1]), np.array([0.0]), -3.0, 4.0)
    assert bars.tolist() == [(-3.0, 0.0, 1.0, 2.0), (0.0, 4.0, 1.0, 1.0)]


@settings(deadline=None, max_examples=60)
@given(st.floats(0, 1), st.floats(0, 1))
def test_the_visible_range_holds_both(a, b):
    low, high = visible_range(min(a, b), max(a, b))
    assert low <= min(a, b) <= max(a, b) <= high
    assert high - low in {1.0, 0.25, 0.125, 1 / 16, 1 / 32}


def test_steps_of_two_scores():
    tally = Tally.from_dict({"scores": [0.2, 0.6], "positives": [1, 9], "totals": [10, 10]})
    band, corners = finite_sample_band(tally), finite_sample_table(tally)
    assert corners["score"].tolist() == [0.2, 0.2, 0.6, 0.6]
    assert corners["low"] == pytest.approx([band.low[0], band.low[0], band.low[0], band.low[1]])
    assert corners["high"] == pytest.approx([band.high[0], band.high[1], band.high[1], band.high[1]])


def test_the_corners_follow_the_band_everywhere():
    data = simulate.from_truth("underconfident", 1500)
    band, corners = finite_sample_band(data.tally, level=0.8), finite_sample_table(data.tally, level=0.8)
    assert len(corners) < 3 * len(band.scores)
    assert (np.diff(corners["score"]) >= 0).all()
    middles = band.scores[:-1] + 0.5 * np.diff(band.scores)
    place = np.searchsorted(corners["score"], middles)
    # Between two scores a lower bound extends to the right, an upper bound to the left.
    np.testing.assert_allclose(corners["low"][place - 1], band.low[:-1])
    np.testing.assert_allclose(corners["high"][place], band.high[1:])


def test_one_score_is_one_point():
    corners = finite_sample_table(Tally.from_arrays([0.4, 0.4], [0, 1]))
    assert corners["score"].tolist() == [0.4]
