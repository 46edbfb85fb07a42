import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression

from calibrant import PlattScaling, Tally
from calibrant.calibrators import registry
from calibrant.calibrators.base import BayesianCalibrator
from calibrant.errors import InvalidInputError
from calibrant.map_functions import Identity
from calibrant.maps import CalibrationMap
from calibrant.reliability.curves import curve_grid, fit_curve


class Fake(BayesianCalibrator):
    """The identity with a band of the given width."""

    def __init__(self, *, width=0.1):
        self.width = width

    def fit_map(self, tally):
        assert len(tally)
        return CalibrationMap(Identity(), "probability", True, "Fake")

    def sample_maps(self, scores, n_draws=100, random_state=0):
        shift = np.random.default_rng(random_state).uniform(-0.5, 0.5, (n_draws, 1))
        return np.clip(self.predict(scores) + self.width * shift, 0, 1)

    def predict_interval(self, scores, level=0.9):
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
    assert name == "PlattScaling"
    assert curve.dtype.names == ("score", "probability")
    np.testing.assert_allclose(curve["probability"], PlattScaling().fit_tally(tally).predict(curve["score"]))


@pytest.mark.parametrize("name", [n for n in registry.METHODS if issubclass(registry.get(n), BayesianCalibrator)])
def test_every_registered_posterior_works_by_name(tally, name):
    curve, made_by = fit_curve(tally, name, 0.9)
    assert made_by == registry.get(name).__name__
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
