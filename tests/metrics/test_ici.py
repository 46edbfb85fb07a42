import numpy as np
import pytest

from calibrant import Tally, metrics, simulate
from calibrant.errors import InvalidInputError


def test_averages_the_gaps_of_the_curve():
    # A straight truth is fitted exactly by local lines and quadratics, so the gaps are known.
    p = np.linspace(0.1, 0.9, 41)
    tally = Tally(p, (0.3 + 0.5 * p) * 10, np.full(41, 10.0))
    gaps = np.abs(0.3 - 0.5 * p)
    assert metrics.integrated_calibration_index(tally) == pytest.approx(gaps.mean(), abs=1e-9)
    for quantile in (0.0, 0.5, 0.9, 1.0):
        expected = np.quantile(gaps, quantile, method="inverted_cdf")
        assert metrics.calibration_error_quantile(tally, quantile=quantile) == pytest.approx(expected, abs=1e-9)


def test_recovers_the_true_error():
    truth = simulate.TRUTHS["underconfident"]
    data = simulate.from_truth("underconfident", 100_000, rng=0)
    assert metrics.integrated_calibration_index(data.tally) == pytest.approx(truth.calibration_error(), abs=0.004)
    gaps = np.abs(data.scores - data.probabilities)
    for quantile in (0.5, 0.9):
        found = metrics.calibration_error_quantile(data.tally, quantile=quantile)
        assert found == pytest.approx(np.quantile(gaps, quantile), abs=0.01)


@pytest.mark.parametrize("options", [{"span": 0.0}, {"span": 1.5}, {"degree": 3}])
def test_refuses_impossible_options(options):
    with pytest.raises(InvalidInputError):
        metrics.integrated_calibration_index([0, 1], [0.2, 0.4], **options)
    with pytest.raises(InvalidInputError, match="`quantile`"):
        metrics.calibration_error_quantile([0, 1], [0.2, 0.4], quantile=2.0)
