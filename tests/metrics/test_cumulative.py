from itertools import product

import numpy as np
import pytest

from calibrant import Tally, metrics, simulate
from calibrant.errors import InvalidInputError
from calibrant.metrics import averaged_two_bin_error, cutoff_calibration_error, cutoff_calibration_interval


def over_all_intervals(y, p):
    values = np.unique(p)
    gaps = [abs(np.sum((y - p)[(p >= a) & (p <= b)])) for a in values for b in values if a <= b]
    return max(gaps) / len(y)


@pytest.mark.parametrize("seed", range(5))
def test_agrees_with_a_search_over_all_intervals(seed):
    rng = np.random.default_rng(seed)
    p = np.round(rng.random(40), 1 if seed % 2 else 6)
    y = (rng.random(40) < np.clip(p + 0.3 * np.sin(9 * p), 0, 1)).astype(float)
    assert cutoff_calibration_error(y, p) == pytest.approx(over_all_intervals(y, p))


def test_is_at_least_the_largest_cumulative_gap_and_at_most_the_ece_of_cells():
    data = simulate.from_truth("wave", 400)
    error = cutoff_calibration_error(data.tally)
    assert metrics.ks_calibration_error(data.tally) <= error
    assert error <= metrics.expected_calibration_error(data.tally, strategy="cells")


@pytest.mark.parametrize("name", ["D1", "wave", "calibrated"])
def test_intervals_cover_the_error_of_the_population(name):
    truth = simulate.TRUTHS["D1" if name == "calibrated" else name]
    many = truth.sample(400_000, rng=0)
    column = "probabilities" if name == "calibrated" else "scores"
    order = np.argsort(many.scores)
    walk = np.append(0.0, np.cumsum((many.probabilities - getattr(many, column))[order])) / len(order)
    population = walk.max() - walk.min()  # without the noise of labels
    covered = 0
    for seed in range(40):
        data = truth.sample(500, rng=seed)
        found = cutoff_calibration_interval(data.labels, getattr(data, column), n_resamples=200)
        covered += found.low <= population <= found.high
    assert covered >= 34  # 90 % of 40 are 36; two standard deviations less


def test_groups_of_copies_reach_as_far_as_one_row_each():
    data = simulate.from_truth("D1", 300)
    rows = [np.repeat(column, 10) for column in (data.labels, data.scores, np.arange(300))]
    single = cutoff_calibration_interval(data.labels, data.scores)
    grouped = cutoff_calibration_interval(*rows[:2], groups=rows[2])
    assert grouped.value == pytest.approx(single.value)
    assert grouped.high - grouped.value == pytest.approx(single.high - single.value, rel=0.1)


def test_the_interval_is_reproducible_and_within_range():
    data = simulate.from_truth("D1", 300)
    first, second = (cutoff_calibration_interval(data.tally, rng=3, n_resamples=50) for _ in range(2))
    assert first == second
    assert 0.0 <= first.low <= first.value <= first.high <= 1.0


@pytest.mark.parametrize("options", [{"level": 1.5}, {"n_resamples": 0}, {"sample_weight": [0.1, 0.1]}])
def test_refuses_what_has_no_interval(options):
    with pytest.raises(InvalidInputError):
        cutoff_calibration_interval([0, 1], [0.2, 0.7], **options)


def by_cuts(y, p, n_cuts=200_000):
    """The definition: the mean over cuts, at the middles of many small steps."""
    cuts = (np.arange(n_cuts) + 0.5) / n_cuts
    below = np.array([np.sum((y - p)[p < cut]) for cut in np.append(np.sort(p) + 1e-12, 0.0)])
    step = np.append(np.sort(p), np.inf)
    position = np.searchsorted(step, cuts, side="left") - 1  # the last score below the cut; −1 is none
    first = np.where(position >= 0, below[position], 0.0)
    total = np.sum(y - p)
    return np.mean(first**2 + (total - first) ** 2) / len(y) ** 2


def test_by_hand():
    # One row at .25 with y = 1: cuts above it see (.75)² below, others (.75)² above.
    assert averaged_two_bin_error([1], [0.25]) == pytest.approx(0.75**2)
    # Gaps −.2 at .2 and +.4 at .6: cuts between them see .2² + .4², the rest (.2)² in one part; halves by n = 2.
    expected = (0.4 * (0.2**2 + 0.4**2) + 0.6 * 0.2**2) / 4
    assert averaged_two_bin_error([0, 1], [0.2, 0.6]) == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(4))
def test_agrees_with_the_mean_over_many_cuts(seed):
    rng = np.random.default_rng(seed)
    p = np.round(rng.random(40), 1 if seed % 2 else 6)
    y = (rng.random(40) < p**2).astype(float)
    assert averaged_two_bin_error(y, p) == pytest.approx(by_cuts(y, p), rel=2e-4)


def expected_error(measure, truth, reported):
    """Over all labels of the rows."""
    labels = np.array(list(product([0, 1], repeat=len(truth))))
    chances = np.prod(np.where(labels, truth, 1 - truth), axis=1)
    return sum(chance * measure(y, reported) for chance, y in zip(chances, labels, strict=True))


@pytest.mark.parametrize("truth", [[0.3, 0.3, 0.8, 0.9], [0.1, 0.5, 0.6, 0.6], [0.2, 0.25, 0.7]], ids=str)
def test_the_truth_minimises_it_in_expectation(truth):
    truth = np.array(truth)
    honest = expected_error(averaged_two_bin_error, truth, truth)
    assert honest == pytest.approx(np.sum(truth * (1 - truth)) / len(truth) ** 2)
    rng = np.random.default_rng(0)
    small = np.clip(truth + 0.05 * rng.normal(size=(30, len(truth))), 0, 1)
    for lie in [*small, *rng.random((30, len(truth))), np.round(truth)]:
        assert expected_error(averaged_two_bin_error, truth, lie) > honest
    base_rate = np.full(len(truth), truth.mean())  # calibrated as well, and so no worse
    assert expected_error(averaged_two_bin_error, truth, base_rate) == pytest.approx(honest)


def test_the_ece_can_be_gamed_where_this_cannot():
    truth = np.array([0.3, 0.3, 0.8, 0.9])
    lie = np.full(4, truth.mean())
    assert expected_error(metrics.expected_calibration_error, truth, lie) < expected_error(
        metrics.expected_calibration_error, truth, truth
    )


def test_weights_are_repeated_rows_and_a_tally_is_enough():
    data = simulate.from_truth("wave", 50)
    weights = np.arange(50) % 3 + 1
    doubled = averaged_two_bin_error(np.repeat(data.labels, weights), np.repeat(data.scores, weights))
    assert averaged_two_bin_error(data.labels, data.scores, sample_weight=weights) == pytest.approx(doubled)
    tally = Tally.from_arrays(data.scores, data.labels, weights)
    assert averaged_two_bin_error(tally) == pytest.approx(doubled)


@pytest.mark.parametrize("n", [50, 1000])
def test_the_interval_holds_zero_for_calibrated_probabilities(n):
    held = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        p = rng.beta(1, 2, n)
        held += cutoff_calibration_interval(rng.random(n) < p, p, rng=seed, n_resamples=200).low == 0.0
    assert 0.87 <= held / 200 <= 0.96
