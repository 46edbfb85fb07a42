import numpy as np
import pytest

from calibrant import metrics, simulate
from calibrant.errors import InvalidInputError
from calibrant.metrics.cutoff import cutoff_calibration_error, cutoff_calibration_interval


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
