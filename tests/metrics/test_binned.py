import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.calibration import calibration_curve

from calibrant import metrics, simulate

Y, P = [0, 1, 1, 1], [0.1, 0.2, 0.7, 0.8]


def test_by_hand():
    # Bins (0, .5] and (.5, 1]: gaps .15 − .5 and .75 − 1.
    assert metrics.expected_calibration_error(Y, P, n_bins=2) == pytest.approx(0.3)
    assert metrics.expected_calibration_error(Y, P, n_bins=2, p=2) == pytest.approx(np.sqrt((0.35**2 + 0.25**2) / 2))
    assert metrics.expected_calibration_error(Y, P, n_bins=2, p=np.inf) == pytest.approx(0.35)
    assert metrics.maximum_calibration_error(Y, P, n_bins=2) == pytest.approx(0.35)
    weights = [3, 1, 1, 1]
    weighted = (4 * abs(0.5 / 4 - 0.25) + 2 * 0.25) / 6
    assert metrics.expected_calibration_error(Y, P, n_bins=2, sample_weight=weights) == pytest.approx(weighted)
    # Adaptive: both equal-mass bins count the same, whatever ties made of their sizes.
    assert metrics.adaptive_calibration_error([0, 0, 0, 1], [0.1, 0.1, 0.1, 0.6], n_bins=2) == pytest.approx(0.25)


@settings(deadline=None, max_examples=50)
@given(
    st.lists(st.tuples(st.sampled_from(np.arange(0, 1.01, 0.05).tolist()), st.booleans()), min_size=1, max_size=60),
    st.integers(1, 20),
)
def test_bins_are_those_of_scikit_learn(rows, n_bins):
    p, y = (np.array(column) for column in zip(*rows, strict=True))
    rate, mean = calibration_curve(y, p, n_bins=n_bins) if len(np.unique(y)) == 2 else (None, None)
    if rate is not None:
        ours = metrics.maximum_calibration_error(y, p, n_bins=n_bins)
        assert ours == pytest.approx(np.abs(rate - mean).max(), abs=1e-12)


def test_norms_are_ordered():
    data = simulate.from_truth("D1", 2000).tally
    values = [metrics.expected_calibration_error(data, p=p) for p in (1, 2, 5, np.inf)]
    assert values == sorted(values)
    assert metrics.expected_calibration_error(data, n_bins=1) <= values[0]


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
@pytest.mark.parametrize("name", ["D1", "underconfident", "asymmetric", "hump"])
def test_finds_the_true_error_in_many_rows(name, strategy):
    tally = simulate.from_truth(name, 200_000, rng=1).tally
    found = metrics.expected_calibration_error(tally, n_bins="auto", strategy=strategy)
    assert found == pytest.approx(simulate.TRUTHS[name].calibration_error(), abs=0.006)
