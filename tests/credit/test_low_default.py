import numpy as np
import pytest
from scipy import stats

from calibrant.credit import low_default_bounds
from calibrant.errors import InvalidInputError

TOTALS = [100, 400, 300]
# Pluto and Tasche 2005, tables 1, 2 and 3, in per cent.
NO_DEFAULTS = {0.5: (0.09, 0.10, 0.23), 0.75: (0.17, 0.20, 0.46), 0.9: (0.29, 0.33, 0.76), 0.99: (0.57, 0.65, 1.52)}
SOME_DEFAULTS = {0.5: (0.46, 0.52, 0.89), 0.75: (0.64, 0.73, 1.30), 0.9: (0.83, 0.95, 1.76), 0.95: (0.97, 1.10, 2.08)}


@pytest.mark.parametrize("level", NO_DEFAULTS)
def test_published_bounds_without_defaults(level):
    bounds = low_default_bounds([0, 0, 0], TOTALS, level=level)
    assert 100 * bounds == pytest.approx(NO_DEFAULTS[level], abs=0.006)


@pytest.mark.parametrize("level", SOME_DEFAULTS)
def test_published_bounds_with_few_defaults(level):
    bounds = low_default_bounds([0, 1, 2], TOTALS, level=level)
    assert 100 * bounds == pytest.approx(SOME_DEFAULTS[level], abs=0.011)


@pytest.mark.parametrize("correlation", [0.0, 0.12, 0.3])
def test_so_few_defaults_have_the_probability_of_the_rest(correlation):
    """The definition, by simulation of the one-factor model."""
    rng = np.random.default_rng(0)
    defaults, totals, level = [1, 2, 4], [50, 80, 120], 0.8
    bounds = low_default_bounds(defaults, totals, level=level, correlation=correlation)
    for i in range(3):
        threshold = stats.norm.ppf(bounds[i])
        factor = rng.normal(size=200_000)
        chance = stats.norm.cdf((threshold + np.sqrt(correlation) * factor) / np.sqrt(1 - correlation))
        at_most = rng.binomial(sum(totals[i:]), chance) <= sum(defaults[i:])
        assert at_most.mean() == pytest.approx(1 - level, abs=0.006)


def test_a_large_portfolio_whose_defaults_follow_the_common_factor():
    # Published with a calculator for this method, and confirmed there by simulation: at a PD of 3.34 %, more than 35
    # of 9810 default with a probability of 95 %.
    bound = low_default_bounds([35], [9810], level=0.95, correlation=0.15)
    assert bound[0] == pytest.approx(0.0334, abs=5e-5)


def test_correlation_makes_bounds_wider():
    plain, correlated = (low_default_bounds([0, 1, 2], TOTALS, correlation=rho) for rho in (0.0, 0.12))
    assert (correlated > 1.5 * plain).all()


def test_jeffreys_is_a_quantile_and_less_prudent():
    bounds = low_default_bounds([0, 1, 2], TOTALS, method="jeffreys")
    expected = [stats.beta.ppf(0.9, k + 0.5, n - k + 0.5) for k, n in ((3, 800), (3, 700), (2, 300))]
    assert bounds == pytest.approx(expected)
    assert (bounds < low_default_bounds([0, 1, 2], TOTALS)).all()


def test_bounds_never_decrease():
    bounds = low_default_bounds([5, 0, 0], [100, 1000, 1000])
    assert (np.diff(bounds) >= 0).all()
    assert low_default_bounds([3], [3])[0] == 1.0
    assert low_default_bounds([3], [3], correlation=0.1)[0] == 1.0


@pytest.mark.parametrize(
    ("defaults", "totals", "options"),
    [
        ([0], [10, 20], {}),
        ([11], [10], {}),
        ([], [], {}),
        ([0], [10], {"level": 1.0}),
        ([0], [10], {"method": "wilson"}),
        ([0], [10], {"correlation": 1.0}),
        ([0], [10], {"method": "jeffreys", "correlation": 0.1}),
    ],
)
def test_refuses_impossible_grades_and_options(defaults, totals, options):
    with pytest.raises(InvalidInputError):
        low_default_bounds(defaults, totals, **options)
