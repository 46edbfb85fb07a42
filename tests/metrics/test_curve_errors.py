import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrant import Tally, metrics, simulate
from calibrant._numerics import binomial_process
from calibrant.errors import InvalidInputError
from calibrant.maps.functions import Beta
from calibrant.metrics.curve_errors import Spectrum

smooth = metrics.smooth_calibration_error


def brute_force(y, p, width, n_grid=4000):
    """∫ |Σ (p − y) K(t, p)| dt / n with the kernel summed over nine reflections."""
    t = (np.arange(n_grid) + 0.5) / n_grid
    total = np.zeros(n_grid)
    for score, label in zip(p, y, strict=True):
        for k in range(-4, 5):
            for image in (2 * k + score, 2 * k - score):
                total += (score - label) * np.exp(-0.5 * ((t - image) / width) ** 2)
    return np.abs(total).mean() / (np.sqrt(2 * np.pi) * width * len(y))


@pytest.mark.parametrize("width", [0.003, 0.02, 0.1, 0.7])
def test_follows_the_definition_at_any_width(width):
    rng = np.random.default_rng(1)
    p = np.concatenate((rng.random(25), [0.0, 1.0, 1.0]))
    y = rng.random(28) < p**2
    assert smooth(y, p, width=width) == pytest.approx(brute_force(y, p, width), abs=5e-5)


def test_the_width_is_the_fixed_point():
    data = simulate.from_truth("underconfident", 2000, rng=1).tally
    value = smooth(data)
    assert smooth(data, width=value) == pytest.approx(value, abs=1e-5)


def test_one_sided_errors_at_the_end_keep_all_their_mass():
    y, p = [1, 1, 1, 0] * 10, np.ones(40)
    assert smooth(y, p) == pytest.approx(0.25, abs=1e-9)


@settings(deadline=None, max_examples=30)
@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=30))
def test_lies_between_the_mean_residual_and_the_mean_absolute_residual(rows):
    p, y = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    value = smooth(y, p)
    assert abs((p - y).mean()) - 1e-6 <= value <= np.abs(p - y).mean() + 1e-6


def test_finds_the_true_error_in_many_rows():
    data = simulate.from_truth("underconfident", 100_000, rng=3)
    truth = simulate.TRUTHS["underconfident"].calibration_error()
    assert 0.8 * truth < smooth(data.tally) < 1.05 * truth


def test_refuses_unknown_options():
    with pytest.raises(InvalidInputError, match="`width`"):
        smooth([0, 1], [0.2, 0.4], width=0.0)


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


def test_is_the_integral_of_algorithm_two():
    data = simulate.from_truth("underconfident", 3000, rng=0)
    tally = data.tally
    curve = binomial_process.fit_curve(tally.scores, tally.positives, tally.totals)
    m, v = data.scores.mean(), data.scores.var()
    a_1 = m**2 * (1 - m) / v - m
    draws = np.random.default_rng(0).beta(a_1, a_1 * (1 - m) / m, 400_000)
    for p in (1, 2):
        gaps = np.abs(Beta(curve[0], curve[1], -curve[2])(draws) - draws) ** p
        assert metrics.tce_bpm(tally, p=p) == pytest.approx(gaps.mean() ** (1 / p), abs=4 * gaps.std() / 600)


def test_recovers_the_true_error_of_d1():
    truth = simulate.TRUTHS["D1"].calibration_error()
    found = [metrics.tce_bpm(simulate.from_truth("D1", 20_000, rng=seed).tally) for seed in range(5)]
    assert np.mean(found) == pytest.approx(truth, abs=0.004)


def test_scores_without_a_beta_distribution():
    assert metrics.tce_bpm([0, 1, 1, 1] * 10, [0.5] * 40) == pytest.approx(0.25, abs=1e-3)
    assert 0.0 <= metrics.tce_bpm([0, 1, 1, 1], [0.0, 0.0, 1.0, 1.0]) <= 1.0


@pytest.mark.parametrize("p", [0.5, np.inf])
def test_refuses_other_norms(p):
    with pytest.raises(InvalidInputError, match="`p`"):
        metrics.tce_bpm([0, 1], [0.2, 0.4], p=p)


def test_smoothing_never_raises_the_error():
    rng = np.random.default_rng(0)
    scores = np.concatenate((np.round(rng.random(80), 3), [0.0, 0.5, 1.0]))
    spectrum = Spectrum(Tally.from_arrays(scores, rng.random(83) < scores))
    errors = [spectrum.error_at(width) for width in (0.001, 0.01, 0.05, 0.2, 1.0)]
    assert (np.diff(errors) <= 1e-9).all()
