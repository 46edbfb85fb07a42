import numpy as np
import pytest

from calibrant import ABB, Tally, simulate
from calibrant.calibrators.abb import bin_counts, filled_gaps

CELLS = Tally(np.array([0.0, 1.0, 2.0]), np.array([1.0, 0.0, 2.0]), np.array([1.0, 3.0, 2.0]))


def test_counts_of_binnings_listed_one_after_another():
    # {0}{1 2}, {0 1 2}
    hits, misses, sizes = bin_counts(CELLS, np.array([0, 1, 0]), np.array([0, 2, 3]))
    assert hits.tolist() == [1.0, 2.0, 3.0]
    assert misses.tolist() == [0.0, 3.0, 3.0]
    assert sizes.tolist() == [1, 2, 3]


def test_in_a_wide_gap_the_exact_interval_opens_towards_the_prior():
    scores = np.concatenate((np.linspace(0.0, 0.1, 200), np.linspace(0.9, 1.0, 200)))
    calibrator = ABB(lam=20.0, interval="posterior", n_draws=500).fit(scores, np.ones(400, dtype=int))
    low, _ = calibrator.predict_interval([0.05, 0.5])
    assert low[0] > 0.95
    assert low[1] < 0.2


def test_no_positives_means_a_lower_limit_of_zero():
    scores = np.linspace(0.0, 1.0, 500)
    low, high = ABB(n_draws=200).fit(scores, np.zeros(500, dtype=int)).predict_interval(scores)
    assert low.max() == 0.0
    assert 0.0 < high.max() < 0.05
    low, high = ABB(n_draws=200).fit(scores, np.ones(500, dtype=int)).predict_interval(scores)
    assert high.min() == 1.0


@pytest.mark.parametrize("interval", ["akaike", "posterior"])
def test_intervals_shrink_with_the_number_of_rows(interval):
    widths = []
    for n in (200, 2000, 20_000):
        data = simulate.from_truth("wave", n, rng=0)
        low, high = ABB(interval=interval, n_draws=200).fit(data.scores, data.labels).predict_interval(data.scores)
        widths.append((high - low).mean())
    assert widths[0] > 1.5 * widths[1] > 2.25 * widths[2]


def test_stretching_the_scores_does_not_move_the_akaike_interval():
    data = simulate.from_truth("hump", 400, rng=1)
    plain = ABB().fit(data.scores, data.labels)._bounds(100, np.random.default_rng(0))
    cubed = ABB().fit(data.scores**3, data.labels)._bounds(100, np.random.default_rng(0))
    # Cells are means of scores where they had to be merged; here each score is its own cell or nearly so.
    np.testing.assert_allclose(plain[1], cubed[1], atol=1e-12)
    np.testing.assert_allclose(plain[2], cubed[2], atol=1e-12)


def test_gaps_between_merged_cells_are_filled_unless_they_are_empty():
    scores = np.concatenate((np.linspace(0.0, 0.2, 40), np.linspace(0.8, 1.0, 40)))
    tally = Tally.from_arrays(scores, np.arange(80) % 2)
    assert filled_gaps(tally, tally.coarsen(8)).tolist() == [True] * 3 + [False] + [True] * 3
    assert not filled_gaps(tally, tally).any()


def test_merged_cells_do_not_pull_the_scores_between_them_to_the_prior():
    rng = np.random.default_rng(0)
    scores = np.sort(rng.random(5000))
    calibrator = ABB(lam=1e5, max_cells=64).fit(scores, np.ones(5000, dtype=int))
    inside = scores[(scores > calibrator.cells_.scores[0]) & (scores < calibrator.cells_.scores[-1])]
    assert calibrator.predict(inside).min() > 0.98
    assert calibrator.sample_maps(inside[::50], 50).min() > 0.8


@pytest.mark.parametrize("interval", ["akaike", "posterior"])
def test_quantiles_of_the_interval_draws_are_the_interval(interval):
    data = simulate.from_truth("wave", 500, rng=0)
    at = np.linspace(0.1, 0.9, 9)
    calibrator = ABB(interval=interval, n_draws=2000).fit(data.scores, data.labels)
    low, high = calibrator.interval_draws(at, 2000, np.random.default_rng(1))
    lower, upper = calibrator.predict_interval(at, level=0.8)
    assert np.quantile(low, 0.1, axis=0) == pytest.approx(lower, abs=0.05)
    assert np.quantile(high, 0.9, axis=0) == pytest.approx(upper, abs=0.05)
