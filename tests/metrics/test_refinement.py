import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from calibrant import metrics, simulate
from calibrant._numerics import links
from calibrant.errors import InvalidInputError
from calibrant.metrics.decomposition import refinement_by_recalibration
from calibrant.metrics.folds import split_tally


@pytest.mark.parametrize("loss", ["log", "brier"])
def test_agrees_with_logistic_regression_of_the_folds(loss):
    data = simulate.from_truth("underconfident", 2000, rng=1)
    total = 0.0
    for fold in split_tally(data.tally, 4, 7):
        z, rows = links.logit(fold.train.scores), np.arange(len(fold.train))
        labels = np.concatenate((np.ones(len(rows)), np.zeros(len(rows))))
        weights = np.concatenate((fold.train.positives, fold.train.negatives))
        kept = weights > 0
        model = LogisticRegression(C=1e8, tol=1e-10, max_iter=1000)
        model.fit(np.tile(z, 2)[kept, None], labels[kept], weights[kept])
        q = model.predict_proba(links.logit(fold.test.scores)[:, None])[:, 1]
        losses = {"log": (-np.log(q), -np.log1p(-q)), "brier": ((1 - q) ** 2, q**2)}[loss]
        total += fold.test.positives @ losses[0] + fold.test.negatives @ losses[1]
    parts = refinement_by_recalibration(data.tally, loss=loss, cv=4, rng=7)
    assert parts.refinement.value == pytest.approx(total / 2000, abs=2e-5)  # ours leans a little towards the identity
    assert parts.score == pytest.approx({"log": metrics.log_loss, "brier": metrics.brier_score}[loss](data.tally))
    assert parts.calibration.value + parts.refinement.value == pytest.approx(parts.score)


def test_a_distortion_that_two_numbers_undo_costs_no_refinement():
    data = simulate.from_truth("D1", 20_000)
    distorted = links.expit(0.4 * links.logit(data.probabilities) + 1.0)
    true, bent = (refinement_by_recalibration(data.labels, p) for p in (data.probabilities, distorted))
    assert bent.refinement.value == pytest.approx(true.refinement.value, abs=1e-4)
    assert abs(true.calibration.value) < 5e-4
    assert bent.calibration.low > 0.05


def test_a_fold_that_separates_the_classes_stays_finite():
    parts = refinement_by_recalibration([0, 0, 0, 0, 1, 1, 1, 1], [0.1, 0.15, 0.2, 0.3, 0.7, 0.8, 0.9, 0.95], cv=2)
    assert 0.0 < parts.refinement.value < 2.0


def test_many_probabilities_are_joined_without_a_trace():
    data = simulate.from_truth("D1", 20_000)
    parts = refinement_by_recalibration(data.labels, data.scores)
    assert parts.calibration.value + parts.refinement.value == pytest.approx(parts.score, abs=1e-6)


def test_groups_stay_in_one_fold_and_widen_the_intervals():
    data = simulate.from_truth("underconfident", 200)
    y, p, patient = (np.repeat(column, 10) for column in (data.labels, data.scores, np.arange(200)))
    grouped, plain = refinement_by_recalibration(y, p, groups=patient), refinement_by_recalibration(y, p)
    assert grouped.score == pytest.approx(plain.score)
    # Every row is there ten times, so its ten copies say as much as one.
    widths = [one.refinement.high - one.refinement.low for one in (grouped, plain)]
    assert widths[0] == pytest.approx(np.sqrt(10) * widths[1], rel=0.05)


def test_refuses_other_losses_and_one_class():
    with pytest.raises(InvalidInputError, match="`loss`"):
        refinement_by_recalibration([0, 1], [0.2, 0.7], loss="hinge")
    with pytest.raises(InvalidInputError, match="both classes"):
        refinement_by_recalibration([1, 1], [0.2, 0.7])


def test_the_gain_has_an_interval_that_reaches_its_expectation():
    found = []
    for seed in range(250):
        rng = np.random.default_rng(seed)
        p = rng.beta(1.5, 1.5, 200)
        truth = links.expit(0.1 + links.logit(p) / 1.3)
        found.append(refinement_by_recalibration(rng.random(200) < truth, p).calibration)
    expected = np.mean([gain.value for gain in found])
    assert 0.87 <= np.mean([gain.low <= expected <= gain.high for gain in found]) <= 0.96


def test_of_calibrated_probabilities_the_interval_holds_the_expected_gain_and_is_not_too_wide():
    found = []
    for seed in range(250):
        rng = np.random.default_rng([4, seed])
        p = rng.beta(1.5, 1.5, 200)
        found.append(refinement_by_recalibration(rng.random(200) < p, p).calibration)
    expected = np.mean([gain.value for gain in found])
    assert all(gain.low <= gain.value <= gain.high for gain in found)
    assert 0.87 <= np.mean([gain.low <= expected <= gain.high for gain in found]) <= 0.96
