import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.calibration import calibration_curve

from calibrant import HistogramBinning
from calibrant.errors import InvalidInputError


def test_equal_width_by_hand():
    calibrator = HistogramBinning(n_bins=4).fit([0.0, 0.25, 0.26, 0.5, 0.9, 1.0], [1, 0, 1, 1, 0, 1])
    assert calibrator.predict([0.0, 0.25]).tolist() == [0.5, 0.5]  # closed on the right, 0 in the first bin
    assert calibrator.predict([0.2500001, 0.5]).tolist() == [1.0, 1.0]
    assert calibrator.predict([0.6]).tolist() == [0.625]  # an empty bin returns its midpoint
    assert calibrator.predict([0.76, 1.0]).tolist() == [0.5, 0.5]
    assert not calibrator.map_.monotone


def test_equal_mass_by_hand():
    calibrator = HistogramBinning(n_bins=2, strategy="quantile").fit([-3.0, -1.0, 1.0, 5.0], [0, 1, 1, 1])
    assert calibrator.predict([-9.0, 0.0, 1e-9, 99.0]).tolist() == [0.5, 0.5, 1.0, 1.0]
    assert calibrator.map_.space == "decision"
    assert calibrator.map_.monotone


def test_equal_mass_never_parts_ties():
    calibrator = HistogramBinning(n_bins=3, strategy="quantile").fit([1, 1, 1, 1, 1, 2], [0, 1, 1, 1, 1, 0])
    assert calibrator.predict([1.0, 2.0]).tolist() == [0.8, 0.0]


def test_scores_barely_apart_keep_their_bins():
    left, right = 1.0, 1.0 + 1e-11
    calibrator = HistogramBinning(n_bins=2, strategy="quantile").fit([left, right], [0, 1])
    assert calibrator.predict([left, right]).tolist() == [0.0, 1.0]


def test_agrees_with_the_calibration_curve_of_scikit_learn():
    rng = np.random.default_rng(0)
    s = np.round(rng.random(500), 2)
    y = (rng.random(500) < s).astype(int)
    shares, means = calibration_curve(y, s, n_bins=10)
    np.testing.assert_allclose(HistogramBinning().fit(s, y).predict(means), shares)


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_recovers_the_truth(strategy):
    rng = np.random.default_rng(0)
    s = rng.random(100_000)
    y = rng.random(100_000) < s**2
    calibrator = HistogramBinning(n_bins=20, strategy=strategy).fit(s, y)
    middles = (np.arange(20) + 0.5) / 20
    np.testing.assert_allclose(calibrator.predict(middles), middles**2, atol=0.03)


def test_the_space_follows_the_strategy():
    calibrator = HistogramBinning()
    assert calibrator.space == "probability"
    assert calibrator.set_params(strategy="quantile").space == "decision"
    with pytest.raises(InvalidInputError, match="needs probabilities"):
        HistogramBinning().fit([-1.0, 2.0], [0, 1])


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.floats(-1e308, 1e308), st.booleans()), min_size=1), st.integers(1, 8))
def test_equal_mass_keeps_the_base_rate(data, n_bins):
    scores, y = map(np.array, zip(*data, strict=True))
    p = HistogramBinning(n_bins=n_bins, strategy="quantile").fit(scores, y).predict(scores)
    assert p.mean() == pytest.approx(y.mean())
    assert len(np.unique(p)) <= n_bins
