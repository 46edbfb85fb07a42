import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import trapezoid
from scipy.stats import gaussian_kde

from calibrant import Tally
from calibrant.reliability.scores import count_between, density, histogram, visible_range


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


@pytest.mark.parametrize("scale", ["linear", "logit"])
def test_density_has_area_one(scale):
    rng = np.random.default_rng(0)
    scores = rng.beta(2, 5, 4000)
    made = density(Tally.from_arrays(scores, scores > 0.5), scale)
    at = made["score"] if scale == "linear" else np.log(made["score"] / (1 - made["score"]))
    assert trapezoid(made["density"], at) == pytest.approx(1.0, abs=0.01)


def test_density_agrees_with_scipy_away_from_the_ends():
    rng = np.random.default_rng(1)
    scores = np.clip(rng.normal(0.5, 0.08, 400), 0.05, 0.95)
    made = density(Tally.from_arrays(scores, scores > 0.5), "linear")
    inner = (made["score"] > 0.3) & (made["score"] < 0.7)
    peer = gaussian_kde(scores, "silverman")(made["score"][inner])
    # scipy's factor is 1.06 of the standard deviation, ours the smaller 0.9 of the more robust spread.
    assert np.abs(made["density"][inner] - peer).max() < 0.1 * peer.max()


@pytest.mark.parametrize("scale", ["linear", "logit"])
def test_density_of_one_score_is_finite(scale):
    made = density(Tally.from_arrays([0.4, 0.4], [0, 1]), scale)
    assert np.isfinite(made["density"]).all()
    assert made["score"][made["density"].argmax()] == pytest.approx(0.4, abs=0.01)
