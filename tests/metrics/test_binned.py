import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.calibration import calibration_curve

from calibrant import Tally, metrics, simulate
from calibrant._limits import SWEEP_BINS
from calibrant.errors import InvalidInputError
from calibrant.metrics.binned import bin_number, binned
from calibrant.metrics.samples import read_sample

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


def test_debiased_by_hand():
    # One bin, mean score .5, rate .75 of 4 rows: .0625 − .1875 / 3 = 0.
    assert metrics.debiased_calibration_error([1, 1, 1, 0], [0.5] * 4) == pytest.approx(0.0, abs=1e-12)
    assert metrics.debiased_calibration_error([1, 1, 1, 0], [0.25] * 4) == pytest.approx(np.sqrt(0.25 - 0.0625))


def test_a_bin_of_one_row_counts_nothing():
    assert metrics.debiased_calibration_error([1], [0.2]) == 0.0


def test_first_norm_is_the_limit_of_the_simulated_correction():
    data = simulate.from_truth("underconfident", 300, rng=2)
    plain = metrics.expected_calibration_error(data.labels, data.scores)
    ours = metrics.debiased_calibration_error(data.labels, data.scores, p=1, strategy="uniform")
    rng = np.random.default_rng(0)
    which = np.ceil(data.scores * 15)
    redrawn = np.zeros(20_000)
    for b in np.unique(which):
        inside = which == b
        rate, n = data.labels[inside].mean(), inside.sum()
        draws = rng.normal(rate, np.sqrt(rate * (1 - rate) / n), 20_000)
        redrawn += n / 300 * np.abs(draws - data.scores[inside].mean())
    assert ours == pytest.approx(2 * plain - redrawn.mean(), abs=5e-4)


def test_the_square_is_unbiased_and_the_plain_error_is_not():
    rng = np.random.default_rng(0)
    plain, corrected = [], []
    for _ in range(300):
        p = rng.choice([0.2, 0.5, 0.8], 90)
        y = rng.random(90) < np.where(p == 0.8, 0.6, p)
        plain.append(metrics.expected_calibration_error(y, p, strategy="cells", p=2) ** 2)
        bins = binned(read_sample(y, p).tally, 1, "cells")
        corrected.append(bins.share @ metrics.binned._unbiased_square(bins))
    truth = 0.2**2 / 3
    assert np.mean(corrected) == pytest.approx(truth, abs=0.002)
    assert np.mean(plain) > truth + 0.004


def test_refuses_other_norms():
    with pytest.raises(InvalidInputError, match="1 or 2"):
        metrics.debiased_calibration_error([0, 1], [0.2, 0.4], p=3)


def brute_force(y, p):
    """Algorithm 1 of Roelofs et al. on distinct sorted scores."""
    order = np.argsort(p)
    y, p = y[order], p[order]
    chosen = [np.arange(len(y))]
    for b in range(2, len(y) + 1):
        groups = np.minimum(((np.arange(len(y)) + 0.5) / len(y) * b).astype(int), b - 1)
        parts = [np.flatnonzero(groups == g) for g in np.unique(groups)]
        if (np.diff([y[part].mean() for part in parts]) < 0).any():
            break
        chosen = parts
    return sum(len(part) / len(y) * abs(y[part].mean() - p[part].mean()) for part in chosen)


@pytest.mark.parametrize("seed", range(8))
def test_agrees_with_the_published_algorithm(seed):
    data = simulate.from_truth("underconfident", 90 + 13 * seed, rng=seed)
    ours = metrics.sweep_calibration_error(data.labels, data.scores)
    assert ours == pytest.approx(brute_force(data.labels, data.scores), abs=1e-12)


def test_separated_classes_use_every_score():
    p = np.linspace(0.01, 0.99, SWEEP_BINS + 50)
    y = p > 0.4
    assert metrics.sweep_calibration_error(y, p) == pytest.approx(np.abs(p - y).mean())


def test_nearly_separated_classes_end_in_time():
    p = np.linspace(0.01, 0.99, 20_000)
    y = p > 0.4
    y[[100, 101]] = True, False
    assert 0.0 < metrics.sweep_calibration_error(y, p) < 0.5


def test_sweep_finds_the_true_error_in_many_rows():
    data = simulate.from_truth("D1", 100_000, rng=3)
    found = metrics.sweep_calibration_error(data.tally)
    assert found == pytest.approx(simulate.TRUTHS["D1"].calibration_error(), abs=0.006)


def test_sweep_with_an_infinite_power_is_the_largest_gap():
    # The scores rise with the labels, so each is a bin of its own; the largest gap is |.2 − 1|.
    assert metrics.sweep_calibration_error(Y, P, p=np.inf) == pytest.approx(0.8)
    with pytest.raises(InvalidInputError, match="`p` must be at least 1"):
        metrics.sweep_calibration_error(Y, P, p=0.5)


def test_bins_are_closed_on_the_right():
    tally = Tally.from_arrays([0.0, 0.5, 0.6, 1.0], [0, 1, 0, 1])
    bins = binned(tally, 2, "uniform")
    assert bins.mass.tolist() == [2.0, 2.0]
    assert bins.score.tolist() == [0.25, 0.8]
    assert binned(tally, 100, "uniform").mass.tolist() == [1.0] * 4  # empty bins do not exist
    assert binned(tally, 3, "cells").score.tolist() == [0.0, 0.5, 0.6, 1.0]


def test_equal_mass_bins_never_split_a_tie():
    tally = Tally.from_arrays([0.1] * 7 + [0.2, 0.3, 0.4], [0, 1] * 5)
    assert binned(tally, 5, "quantile").mass.tolist() == [7.0, 1.0, 2.0]


@pytest.mark.parametrize(("total", "number"), [(1, 1), (1000, 10), (1001, 11), (10**6, 100)])
def test_cube_root_rule(total, number):
    assert bin_number("auto", total) == number


@pytest.mark.parametrize("n_bins", [0, 2.5, True, "sqrt"])
def test_refuses_impossible_numbers_of_bins(n_bins):
    with pytest.raises(InvalidInputError, match="`n_bins`"):
        metrics.expected_calibration_error([0, 1], [0.2, 0.4], n_bins=n_bins)


def test_refuses_unknown_strategies_and_powers():
    with pytest.raises(InvalidInputError, match="uniform, quantile, cells"):
        metrics.expected_calibration_error([0, 1], [0.2, 0.4], strategy="mass")
    with pytest.raises(InvalidInputError, match="`p`"):
        metrics.expected_calibration_error([0, 1], [0.2, 0.4], p=0.5)
