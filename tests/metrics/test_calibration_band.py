import numpy as np
import pytest
from scipy import stats

from calibrant import simulate
from calibrant.errors import InvalidInputError
from calibrant.metrics import equivalence_test
from calibrant.metrics.calibration_band import finite_sample_band


def slow_band(y, p, level):
    """Theorem 1 of the paper, block by block, with scipy's beta distribution."""
    x = np.unique(p)
    n = len(x)
    tail = (1 - level) / (n**2 + n)
    low, high = np.zeros(n), np.ones(n)
    for j in range(n):
        for k in range(j, n):
            rows = (p >= x[j]) & (p <= x[k])
            positives, total = y[rows].sum(), rows.sum()
            lower = stats.beta.ppf(tail, positives, total - positives + 1) if positives else 0.0
            upper = stats.beta.ppf(1 - tail, positives + 1, total - positives) if positives < total else 1.0
            low[k:] = np.maximum(low[k:], lower)
            high[: j + 1] = np.minimum(high[: j + 1], upper)
    return low, high


@pytest.mark.parametrize("decimals", [1, 2])
def test_agrees_with_the_theorem_block_by_block(decimals):
    rng = np.random.default_rng(0)
    p = np.round(rng.random(120), decimals)
    y = (rng.random(120) < p).astype(int)
    band = finite_sample_band(y, p, level=0.8)
    low, high = slow_band(y, p, 0.8)
    np.testing.assert_allclose(band.low, low, atol=1e-12)
    np.testing.assert_allclose(band.high, high, atol=1e-12)
    assert band.level == 0.8


def test_by_hand_for_one_block():
    # One group, two limits, each at 5 %: Clopper–Pearson at 90 %.
    band = finite_sample_band([0] * 7 + [1] * 3, [0.4] * 10, level=0.9)
    assert band.low[0] == pytest.approx(stats.beta.ppf(0.05, 3, 8))
    assert band.high[0] == pytest.approx(stats.beta.ppf(0.95, 4, 7))


@pytest.mark.parametrize("max_blocks", [8, 64])
@pytest.mark.parametrize("power", [0.5, 1.0, 3.0])
def test_covers_monotone_truths_at_every_score(power, max_blocks):
    covered = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        p = rng.random(400)
        y = rng.random(400) < p**power
        band = finite_sample_band(y, p, level=0.8, max_blocks=max_blocks)
        covered += ((band.low <= band.scores**power) & (band.scores**power <= band.high)).all()
    assert covered >= 0.8 * 60


def test_joining_rows_keeps_most_of_the_width():
    data = simulate.from_truth("underconfident", 3000)
    fine, coarse = (finite_sample_band(data.tally, max_blocks=blocks) for blocks in (1000, 100))
    assert np.mean(coarse.high - coarse.low) < 1.1 * np.mean(fine.high - fine.low)


def test_notices_what_is_not_calibrated():
    data = simulate.from_truth("underconfident", 3000)
    assert not finite_sample_band(data.labels, data.scores).holds_identity
    assert finite_sample_band(data.labels, data.probabilities).holds_identity


@pytest.mark.parametrize("options", [{"level": 0.0}, {"max_blocks": 0}])
def test_refuses_impossible_options(options):
    with pytest.raises(InvalidInputError):
        finite_sample_band([0, 1], [0.2, 0.7], **options)


def rows(n, shift, seed):
    """Probabilities on a coarse grid whose truth is off by `shift`."""
    rng = np.random.default_rng(seed)
    p = rng.integers(2, 9, n) / 10
    return (rng.random(n) < p + shift).astype(int), p


@pytest.mark.parametrize("measure", ["mean", "max"])
@pytest.mark.parametrize("shift", [0.05, -0.05])
def test_errs_at_the_edge_of_the_tolerance_at_most_as_often_as_it_says(measure, shift):
    wrong = 0
    for seed in range(100):
        y, p = rows(4000, shift, seed)
        # The truth is just outside: off by more than the tolerance everywhere, so "calibrated" would be an error.
        wrong += equivalence_test(y, p, tolerance=0.0499, measure=measure).conclusion == "calibrated"
        # And just inside, where "not calibrated" would be one.
        wrong += equivalence_test(y, p, tolerance=0.0501, measure=measure).conclusion == "not calibrated"
    assert wrong <= 10


def test_concludes_both_ways_with_enough_rows():
    good, bad = rows(20_000, 0.0, 0), rows(20_000, 0.08, 0)
    assert equivalence_test(*good, tolerance=0.05).conclusion == "calibrated"
    assert equivalence_test(*bad, tolerance=0.03).conclusion == "not calibrated"
    assert equivalence_test(*rows(100, 0.0, 0), tolerance=0.05).conclusion == "undecided"
    y, p = good
    middle = (p >= 0.3) & (p <= 0.7)
    assert equivalence_test(y[middle], p[middle], tolerance=0.06, measure="max").conclusion == "calibrated"


def test_bounds_come_from_the_band():
    y, p = rows(500, 0.02, 1)
    band = finite_sample_band(y, p, level=0.8)
    furthest = np.maximum(band.high - band.scores, band.scores - band.low)
    nearest = np.maximum(np.maximum(band.low - band.scores, band.scores - band.high), 0)
    largest = equivalence_test(y, p, tolerance=0.1, level=0.8, measure="max")
    assert (largest.low, largest.high) == pytest.approx((nearest.max(), furthest.max()))
    assert str(largest).startswith(f"undecided within 0.1: the probabilities are off by {largest.low:.3f} to ")


@pytest.mark.parametrize("options", [{"tolerance": 0.0}, {"tolerance": 0.1, "measure": "median"}])
def test_an_equivalence_test_refuses_impossible_options(options):
    with pytest.raises(InvalidInputError):
        equivalence_test([0, 1], [0.2, 0.7], **options)


def test_the_mean_distance_is_bounded_with_power():
    rng = np.random.default_rng(3)
    p = rng.uniform(0.2, 0.8, 20_000)
    off = equivalence_test(rng.random(20_000) < p + 0.1, p, tolerance=0.05)
    assert off.conclusion == "not calibrated"
    assert off.low <= 0.1 <= off.high
    assert equivalence_test(rng.random(20_000) < p, p, tolerance=0.05).conclusion == "calibrated"


@pytest.mark.parametrize("curve", [lambda p: p, lambda p: np.where(p < 0.5, 0.3, 0.7), lambda p: p**2])
@pytest.mark.parametrize("n", [60, 600])
def test_the_bounds_of_the_mean_distance_hold(curve, n):
    misses = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        p = rng.random(n)
        found = equivalence_test(rng.random(n) < curve(p), p, tolerance=0.05)
        misses += not found.low <= np.abs(curve(p) - p).mean() <= found.high
    assert misses <= 10
