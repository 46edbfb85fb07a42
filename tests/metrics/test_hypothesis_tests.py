import numpy as np
import pytest
from scipy import stats

from calibrant import metrics, simulate
from calibrant._numerics import links
from calibrant.errors import InvalidInputError
from calibrant.metrics import kuiper_test
from calibrant.metrics.cumulative import _draw_flipped_ranges, _range_p_value
from calibrant.metrics.samples import read_sample

TESTS = {
    "spiegelhalter": metrics.spiegelhalter_test,
    "hosmer_lemeshow": metrics.hosmer_lemeshow_test,
    "kuiper": metrics.kuiper_test,
}


def test_spiegelhalter_by_hand():
    y, p = np.array([1, 0, 1, 1]), np.array([0.2, 0.4, 0.6, 0.8])
    z = ((y - p) * (1 - 2 * p)).sum() / np.sqrt(((1 - 2 * p) ** 2 * p * (1 - p)).sum())
    found = metrics.spiegelhalter_test(y, p)
    assert found.statistic == pytest.approx(z)
    assert found.p_value == pytest.approx(2 * stats.norm.sf(abs(z)))


def test_hosmer_lemeshow_by_hand():
    y, p = [0, 1, 1, 1, 0, 0], [0.2, 0.2, 0.5, 0.5, 0.9, 0.9]
    chi = 2 * (0.3**2 / 0.16 + 0.5**2 / 0.25 + 0.9**2 / 0.09)
    found = metrics.hosmer_lemeshow_test(y, p, n_bins=3)
    assert found.statistic == pytest.approx(chi)
    assert found.p_value == pytest.approx(stats.chi2.sf(chi, 3))
    assert metrics.hosmer_lemeshow_test(y, p, n_bins=3, fitted=True).p_value == pytest.approx(stats.chi2.sf(chi, 1))


def test_hosmer_lemeshow_where_the_impossible_happens():
    found = metrics.hosmer_lemeshow_test([1, 0, 1], [0.0, 0.5, 0.6], n_bins=3)
    assert (found.statistic, found.p_value) == (np.inf, 0.0)
    assert metrics.hosmer_lemeshow_test([0, 1], [0.0, 1.0]).p_value == 1.0


def test_both_series_meet_and_fall_from_one_to_zero():
    x = np.linspace(0.0, 12.0, 1201)
    values = np.array([_range_p_value(float(at)) for at in x])
    assert values[0] == 1.0
    assert 0.0 < values[-1] < 1e-20
    assert (np.diff(values) <= 1e-12).all()
    for seam in (0.1, 1.5):
        assert _range_p_value(seam - 1e-9) == pytest.approx(_range_p_value(seam), abs=1e-7)


def test_walks_have_the_distribution_of_brownian_motion():
    steps = np.random.default_rng(0).standard_normal((4000, 2000)) / np.sqrt(2000)
    paths = np.cumsum(steps, axis=1)
    ranges = np.maximum(paths.max(axis=1), 0) - np.minimum(paths.min(axis=1), 0)
    assert (ranges > 2.0).mean() == pytest.approx(_range_p_value(2.0), abs=0.03)


@pytest.mark.parametrize("test", TESTS.values(), ids=TESTS)
def test_p_values_are_even_when_calibrated_and_small_when_not(test):
    values = np.array(
        [test(simulate.binomial_process(400, np.array, (1.2, 1.6), rng=seed).tally).p_value for seed in range(200)]
    )
    assert ((values >= 0) & (values <= 1)).all()
    assert stats.kstest(values, "uniform").pvalue > 1e-4
    assert (values < 0.05).mean() < 0.12
    assert test(simulate.from_truth("D1", 2000).tally).p_value < 1e-6


@pytest.mark.parametrize("name", ["spiegelhalter", "kuiper"])
def test_certain_probabilities_are_refused(name):
    with pytest.raises(InvalidInputError, match="0"):
        TESTS[name]([0, 1], [0.0, 1.0])


def test_fitted_hosmer_lemeshow_needs_three_bins():
    with pytest.raises(InvalidInputError, match="at least 3 bins"):
        metrics.hosmer_lemeshow_test([0, 1], [0.2, 0.8], fitted=True)


def test_by_hand():
    # Running sums of p − y: .3, −.1, −.2.
    assert metrics.ks_calibration_error([0, 1, 1], [0.3, 0.6, 0.9]) == pytest.approx(0.1)


def test_agrees_with_running_sums_over_rows():
    data = simulate.from_truth("wave", 500, rng=0)
    order = np.argsort(data.scores)
    sums = np.cumsum((data.scores - data.labels)[order]) / 500
    assert metrics.ks_calibration_error(data.labels, data.scores) == pytest.approx(np.abs(sums).max())


def test_equals_the_mean_gap_when_all_scores_are_too_high():
    p = np.linspace(0.5, 0.9, 50)
    assert metrics.ks_calibration_error(np.zeros(50), p) == pytest.approx(p.mean())


def clustered(n_groups, size, spread, seed):
    """Rows of a group share an effect on the log-odds that the model does not know."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_groups), size)
    p = links.expit(rng.normal(0, 1, n_groups * size))
    y = rng.random(len(p)) < links.expit(links.logit(p) + rng.normal(0, spread, n_groups)[groups])
    return y, p, groups


def test_the_range_of_flipped_gaps_by_brute_force():
    y, p, groups = clustered(6, 5, 1.0, 0)
    rows = read_sample(y, p, None, None, groups).rows
    observed, draws = _draw_flipped_ranges(rows, 3000, 0)
    order = np.argsort(p)

    def span(signs):
        walk = np.concatenate(([0.0], np.cumsum(((y - p) * signs[groups])[order])))
        return walk.max() - walk.min()

    possible = [span(np.array([1 - 2 * (number >> bit & 1) for bit in range(6)])) for number in range(64)]
    assert observed == pytest.approx(possible[0])
    assert {round(value, 9) for value in draws} == {round(value, 9) for value in possible}
    assert draws.mean() == pytest.approx(np.mean(possible), rel=0.02)


def test_the_test_of_groups_keeps_its_level_where_the_plain_one_does_not():
    grouped, plain, runs = 0, 0, 200
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        p, groups = np.repeat(rng.beta(2, 2, 40), 10), np.repeat(np.arange(40), 10)
        y = np.repeat(rng.random(40), 10) < p  # ten copies of one outcome
        grouped += kuiper_test(y, p, groups=groups).p_value < 0.1
        plain += kuiper_test(y, p).p_value < 0.1
    assert grouped <= 0.1 * runs + 4 * np.sqrt(0.09 * runs)  # four standard deviations
    assert plain > 0.5 * runs


def test_an_error_is_found_in_spite_of_groups():
    y, p, groups = clustered(60, 10, 0.5, 1)
    assert kuiper_test(y, np.sqrt(p), groups=groups).p_value < 0.01
