"""Centres and completed tables taken together, against calculations by hand and a simulated truth."""

import numpy as np
import pytest
from scipy import optimize, stats

from calibrant import metrics
from calibrant._numerics import links
from calibrant.errors import InvalidInputError
from calibrant.intervals import Interval
from calibrant.metrics.pooling import _firth_slope, expect_effect, pool_effects
from calibrant.metrics.validation import ValidationSummary


def rows(n_centres, size, spread, seed):
    rng = np.random.default_rng(seed)
    centre = np.repeat(np.arange(n_centres), size)
    z = rng.normal(-0.5, 1.3, len(centre))
    return rng.random(len(z)) < links.expit(z + spread * rng.normal(0, 1, n_centres)[centre]), links.expit(z), centre


def test_effects_by_hand():
    # Equal errors: the mean is plain, and tau² is the variance of the values minus theirs.
    values = np.array([0.8, 1.0, 1.2, 1.4])
    mean, error, tau, i_squared = pool_effects(values, np.full(4, 0.1))
    assert mean == pytest.approx(1.1)
    assert tau**2 == pytest.approx(values.var(ddof=1) - 0.01)
    assert error == pytest.approx(values.std(ddof=1) / 2)
    assert i_squared == pytest.approx(1 - 3 / (0.2 / 0.01))


def test_effects_that_agree_have_no_spread():
    errors = np.array([0.1, 0.2, 0.4])
    mean, error, tau, i_squared = pool_effects(np.array([1.0, 1.01, 0.99]), errors)
    assert (tau, i_squared) == (0.0, 0.0)
    assert error == pytest.approx((1 / errors**2).sum() ** -0.5)
    assert mean == pytest.approx(1.0, abs=0.01)


def test_agrees_with_metafor():
    # rma(yi, vi) of dat.bcg, as its documentation prints it: log risk ratios of 13 trials of a vaccine.
    values = [-0.8893, -1.5854, -1.3481, -1.4416, -0.2175, -0.7861, -1.6209, 0.0120, -0.4694, -1.3713, -0.3394, 0.4459]
    squares = [0.3256, 0.1946, 0.4154, 0.0200, 0.0512, 0.0069, 0.2230, 0.0040, 0.0564, 0.0730, 0.0124, 0.5325, 0.0714]
    mean, _, tau, i_squared = pool_effects(np.array([*values, -0.0173]), np.sqrt(squares))
    assert mean == pytest.approx(-0.7145, abs=2e-4)
    assert tau**2 == pytest.approx(0.3132, abs=5e-4)
    assert i_squared == pytest.approx(0.9222, abs=5e-4)


def test_no_tau_has_no_share():
    # Cochran's Q is above its degrees of freedom, but the likelihood is highest without a variance between centres.
    values, errors = np.array([0.0, 0.0, 0.0, 0.85]), np.array([0.1, 0.1, 0.1, 0.4])
    assert values**2 @ errors**-2.0 > 3.0
    assert pool_effects(values, errors)[2:] == (0.0, 0.0)


def test_a_slope_of_few_positives_is_that_of_firth():
    rng = np.random.default_rng(2)
    z = rng.normal(-2.0, 1.2, 40)
    y = rng.random(40) < links.expit(z)
    features = np.column_stack((np.ones(40), z))

    def penalised(line):
        p = links.expit(features @ line)
        information = (features.T * (p * (1.0 - p))) @ features
        return -np.log(np.where(y, p, 1.0 - p)).sum() - 0.5 * np.linalg.slogdet(information)[1]

    slope, error = _firth_slope(y, links.expit(z))
    assert slope == pytest.approx(optimize.minimize(penalised, [0.0, 1.0]).x[1], abs=0.01)
    usual = metrics.calibration_slope(y, links.expit(z)).slope
    assert slope < usual.value - 0.05
    assert error == pytest.approx(usual.width / (2.0 * stats.norm.ppf(0.95)), rel=0.3)


def test_the_average_slope_is_not_pulled_down_by_low_ones():
    # By maximum likelihood and its own errors, the mean of these is 1.34.
    slopes, centre = [], np.arange(1200) % 20
    for seed in range(10):
        rng = np.random.default_rng(seed)
        z = rng.normal(0.0, 1.0, 1200)
        y = rng.random(1200) < links.expit(1.4 * z - 1.5)
        slopes.append(metrics.validate_centres(y, links.expit(z), centre, n_resamples=2)["slope"].value)
    assert np.mean(slopes) == pytest.approx(1.4, abs=0.03)


def test_slopes_of_as_many_positives_count_alike():
    y, p, centre = rows(8, 100, 0.5, 3)
    found = metrics.validate_centres(y, p, centre, n_resamples=2, level=0.95)
    slopes, errors = np.transpose([_firth_slope(y[centre == k], p[centre == k]) for k in range(8)])
    mass = np.array([y[centre == k].mean() * (1.0 - y[centre == k].mean()) for k in range(8)])
    mean, error, tau, _ = pool_effects(slopes, np.sqrt(mass @ (mass * errors**2) / mass.sum() / mass))
    assert found["slope"].value == pytest.approx(mean)
    assert found["slope"].width == pytest.approx(2.0 * stats.t.ppf(0.975, 7) * error)
    assert found.columns["tau"]["slope"] == pytest.approx(tau)


def test_a_new_effect_by_draws():
    rng = np.random.default_rng(3)
    errors = rng.uniform(0.1, 0.3, 8)
    values = 0.2 + 0.25 * rng.normal(0, 1, 8) + errors * rng.normal(0, 1, 8)

    def fitted(between):
        weights = 1 / (errors**2 + between)
        mean = weights @ values / weights.sum()
        return weights @ (values - mean) ** 2, mean, weights.sum()

    drawn = []
    for square in rng.chisquare(7, 4000):  # what the weighted squares are where the variance is the true one
        between = optimize.brentq(lambda x, q=square: fitted(x)[0] - q, 0.0, 1e3) if fitted(0.0)[0] > square else 0.0
        left, mean, total = fitted(between)
        drawn += (mean + np.sqrt(between + left / square / total) * rng.normal(0, 1, 20)).tolist()
    assert expect_effect(values, errors, 0.9) == pytest.approx(np.quantile(drawn, [0.05, 0.95]), abs=0.02)


@pytest.mark.parametrize(("n_centres", "tau"), [(6, 0.1), (15, 0.3)])
def test_a_new_effect_is_held_where_tau_is_hard_to_see(n_centres, tau):
    rng = np.random.default_rng(0)
    held = 0
    for _ in range(1000):
        errors = rng.uniform(0.15, 0.25, n_centres)
        values, new = tau * rng.normal(0, 1, n_centres) + errors * rng.normal(0, 1, n_centres), tau * rng.normal()
        low, high = expect_effect(values, errors, 0.95)
        held += low <= new <= high
    assert 930 <= held <= 985


def test_the_means_of_rows_have_one_variance_in_all_centres():
    # A centre in which the level is far off has a high Brier score and a large error by itself. The truth is the mean
    # over normal effects, by quadrature.
    held = 0
    for seed in range(60):
        y, p, centre = rows(12, 80, 0.9, seed)
        found = metrics.validate_centres(y, p, centre, n_resamples=5)
        held += found["brier_score"].low <= 0.19427 <= found["brier_score"].high
    assert held >= 48  # 54 are expected of 90 % intervals


def test_restricted_likelihood_is_at_its_top():
    rng = np.random.default_rng(0)
    errors = rng.uniform(0.1, 0.5, 12)
    values = 0.3 + 0.4 * rng.normal(0, 1, 12) + errors * rng.normal(0, 1, 12)

    def likelihood(tau):
        weights = 1 / (errors**2 + tau**2)
        mean = weights @ values / weights.sum()
        return 0.5 * (np.log(weights).sum() - np.log(weights.sum()) - weights @ (values - mean) ** 2)

    tau = pool_effects(values, errors)[2]
    assert likelihood(tau) > max(likelihood(0.98 * tau), likelihood(1.02 * tau))


def test_centres_have_a_table_a_mean_and_an_outlook():
    y, p, centre = rows(12, 120, 0.6, 0)
    found = metrics.validate_centres(y, p, centre, thresholds=[0.3], n_resamples=30, level=0.95)
    assert list(found.centres) == [str(k) for k in range(12)]
    one = metrics.validation_summary(y[centre == 3], p[centre == 3], thresholds=[0.3], n_resamples=30, level=0.95)
    assert found.centres["3"] == one
    assert "ici" not in found.measures
    values = np.array([part["intercept"].value for part in found.centres.values()])
    errors = np.array([part["intercept"].width for part in found.centres.values()]) / (2 * stats.norm.ppf(0.975))
    mean, error, tau, i_squared = pool_effects(values, errors)
    assert found["intercept"].value == pytest.approx(mean)
    assert found["intercept"].width == pytest.approx(2 * stats.t.ppf(0.975, 11) * error)
    assert found.columns["tau"]["intercept"] == pytest.approx(tau)
    assert found.columns["I²"]["intercept"] == pytest.approx(i_squared)
    new = found.columns["new centre"]
    assert [new["intercept"].low, new["intercept"].high] == pytest.approx(expect_effect(values, errors, 0.95).tolist())
    assert new["observed_expected"].low > 0.0  # the ends are back from the logarithm
    ratio = found["observed_expected"]
    assert ratio.low * ratio.high == pytest.approx(ratio.value**2)  # symmetric on the logarithmic scale
    assert "new centre_low" in found.to_frame().columns
    assert "With 12 centres, fewer than 30" in str(found)
    assert "tau of O/E on the log scale, of AUC on the logit scale" in found.table().caption


def test_the_interval_of_a_new_centre_holds_new_centres():
    held = 0
    for seed in range(20):
        found = metrics.validate_centres(*rows(15, 100, 0.6, seed), n_resamples=2)
        new = found.columns["new centre"]["intercept"]
        effect = 0.6 * np.random.default_rng(1000 + seed).normal()
        held += new.low <= effect <= new.high
    assert held >= 15  # 18 are expected of 90 % intervals


def test_centres_without_a_slope_are_named():
    y, p, centre = rows(5, 100, 0.3, 0)
    y[centre == 2] = False
    found = metrics.validate_centres(y, p, centre, n_resamples=2)
    assert found.remarks[0] == "Left out, as they have no calibration slope: 2."
    assert found.rows == 400
    with pytest.raises(InvalidInputError, match="at least three"):
        metrics.validate_centres(y[:200], p[:200], centre[:200])


def summary(slope, error, ratio=1.0, ratio_error=0.1):
    slopes = Interval.normal(slope, error, 0.95)
    ends = np.exp(np.log(ratio) + np.array([-1, 1]) * stats.norm.ppf(0.975) * ratio_error)
    return ValidationSummary(100, 40, 0.95, {"slope": slopes, "observed_expected": Interval(ratio, *ends, 0.95)})


def test_rubin_by_hand():
    # Within .01; between .04 (1 + 1/3) = .05333; total .06333; degrees 2 (.06333 / .05333)² = 2.8203.
    found = metrics.pool_imputations([summary(1.0, 0.1, 0.9), summary(1.2, 0.1, 1.0), summary(1.4, 0.1, 1.1)])
    total = 0.01 + 0.04 * 4 / 3
    degrees = 2 * (total / (0.04 * 4 / 3)) ** 2
    assert found["slope"].value == pytest.approx(1.2)
    assert found["slope"].high == pytest.approx(1.2 + stats.t.ppf(0.975, degrees) * np.sqrt(total))
    assert found.columns["missing"]["slope"] == pytest.approx(0.04 * 4 / 3 / total)
    assert found["observed_expected"].value == pytest.approx((0.9 * 1.0 * 1.1) ** (1 / 3))
    assert "pooled by Rubin's rules" in str(found)


def test_equal_tables_miss_nothing():
    found = metrics.pool_imputations([summary(1.1, 0.2)] * 5)
    assert found["slope"].low == pytest.approx(summary(1.1, 0.2)["slope"].low)
    assert found.columns["missing"]["slope"] == 0.0


def test_rubin_takes_a_curve_at_once():
    curves, errors = np.array([[0.0, 1.0], [0.2, 1.0]]), np.full((2, 2), 0.1)
    mean, error, degrees, missing = metrics.rubin_rules(curves, errors)
    assert mean.tolist() == [0.1, 1.0]
    assert error == pytest.approx(np.sqrt([0.01 + 1.5 * 0.02, 0.01]))
    assert np.isinf(degrees[1])
    assert missing[1] == 0.0


def test_refuses_what_cannot_be_pooled():
    with pytest.raises(InvalidInputError, match="two or more"):
        metrics.pool_imputations([summary(1.0, 0.1)])
    other = ValidationSummary(100, 40, 0.9, summary(1.0, 0.1).measures)
    with pytest.raises(InvalidInputError, match="one level"):
        metrics.pool_imputations([summary(1.0, 0.1), other])


def test_net_benefit_is_pooled_where_nobody_is_above_the_threshold():
    y, p, centre = rows(6, 200, 0.3, 8)
    p = np.where((centre == 2) & (p > 0.8), 0.8, p)
    found = metrics.validate_centres(y, p, centre, thresholds=[0.85, 0.9999], n_resamples=20)
    assert found["net_benefit_0.85"].low < found["net_benefit_0.85"].value < found["net_benefit_0.85"].high
    none = found["net_benefit_0.9999"], found.columns["new centre"]["net_benefit_0.9999"]
    assert [abs(end) < 1e-9 for one in none for end in (one.low, one.value, one.high)] == [True] * 6
    assert "scaled_brier" not in found.measures
