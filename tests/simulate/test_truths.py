import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import expit, logit

from calibrant import simulate
from calibrant.errors import InvalidInputError


def test_d1_has_the_published_truth():
    d1 = simulate.TRUTHS["D1"]
    assert d1.calibration_error() == pytest.approx(0.13072, abs=1e-5)
    scores = np.array([0.1, 0.5, 0.99])
    assert d1(scores) == pytest.approx(expit(-0.88 + 0.49 * logit(scores)), abs=1e-12)


@pytest.mark.parametrize("name", simulate.TRUTHS)
def test_errors_agree_with_an_independent_integral_over_quantiles(name):
    truth = simulate.TRUTHS[name]
    levels = (np.arange(200_000) + 0.5) / 200_000
    scores = stats.beta.ppf(levels, truth.a, truth.b)
    gap = np.abs(scores - truth(scores))
    assert truth.calibration_error() == pytest.approx(gap.mean(), abs=2e-6)
    assert truth.calibration_error(2) == pytest.approx(np.sqrt((gap**2).mean()), abs=2e-6)
    assert truth.base_rate() == pytest.approx(truth(scores).mean(), abs=2e-6)


def test_error_agrees_with_adaptive_quadrature():
    truth = simulate.TRUTHS["underconfident"]
    value, _ = integrate.quad(lambda s: abs(s - truth(np.array([s]))[0]) * 6 * s * (1 - s), 0, 1, limit=400)
    assert truth.calibration_error() == pytest.approx(value, abs=1e-8)


@pytest.mark.parametrize("name", simulate.TRUTHS)
def test_monotone_truths_are(name):
    truth = simulate.TRUTHS[name]
    rises = np.diff(truth(np.linspace(0.001, 0.999, 999))) >= 0
    assert rises.all() == truth.monotone


def test_truths_differ_in_sharpness_and_error():
    errors = sorted(truth.calibration_error() for truth in simulate.TRUTHS.values())
    assert errors[0] < 0.005
    assert errors[-1] > 0.3
    assert (np.diff(errors) > 0.01).all()


def test_from_truth_samples_by_name():
    assert np.array_equal(simulate.from_truth("D1", 9, rng=2).scores, simulate.TRUTHS["D1"].sample(9, rng=2).scores)
    with pytest.raises(InvalidInputError, match="D1, underconfident"):
        simulate.from_truth("D9", 10)
    with pytest.raises(InvalidInputError, match="`p`"):
        simulate.TRUTHS["D1"].calibration_error(0.5)
