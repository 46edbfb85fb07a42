import numpy as np
import pytest
from scipy import special
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

from calibrant import PlattScaling


class Margin(LogisticRegression):
    """A model whose decision score is its one feature."""

    def decision_function(self, X):
        return X[:, 0]


def scikit_learn(t, y, weights, grid):
    frozen = FrozenEstimator(Margin().fit(t[:, None], y))
    peer = CalibratedClassifierCV(frozen, method="sigmoid", ensemble=False).fit(t[:, None], y, sample_weight=weights)
    return peer.predict_proba(grid[:, None])[:, 1]


def data(n=300, seed=0, slope=1.7, intercept=-0.6):
    rng = np.random.default_rng(seed)
    t = 2.0 * rng.standard_normal(n)
    return t, (rng.random(n) < special.expit(slope * t + intercept)).astype(int)


def test_two_groups_by_hand():
    # Two rows of each class: the targets are 1/4 at −1 and 3/4 at 1, and the curve goes through both.
    calibrator = PlattScaling(space="decision").fit([-1.0, -1.0, 1.0, 1.0], [0, 0, 1, 1])
    np.testing.assert_allclose(calibrator.predict([-1.0, 0.0, 1.0]), [0.25, 0.5, 0.75], atol=1e-9)
    assert calibrator.slope_ == pytest.approx(np.log(3.0))
    assert calibrator.intercept_ == pytest.approx(0.0, abs=1e-9)


@pytest.mark.filterwarnings("ignore:Since FrozenEstimator does not appear to accept sample_weight")
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("weighted", [False, True])
def test_agrees_with_scikit_learn(seed, weighted):
    t, y = data(seed=seed)
    weights = np.random.default_rng(seed).uniform(0.2, 3.0, len(y)) if weighted else None
    grid = np.linspace(-6.0, 6.0, 50)
    ours = PlattScaling(space="decision").fit(t, y, weights).predict(grid)
    np.testing.assert_allclose(ours, scikit_learn(t, y, weights, grid), rtol=0, atol=1e-6)


def test_probabilities_are_fitted_on_their_logits():
    t, y = data()
    on_scores = PlattScaling(space="decision").fit(t, y)
    on_probabilities = PlattScaling().fit(special.expit(t), y)
    np.testing.assert_allclose(on_probabilities.predict(special.expit(t)), on_scores.predict(t), atol=1e-9)
    assert on_probabilities.map_.space == "probability"
    assert on_scores.map_.space == "decision"


def test_without_correction_it_is_logistic_regression():
    t, y = data()
    peer = LogisticRegression(C=np.inf, tol=1e-10).fit(t[:, None], y)
    ours = PlattScaling(space="decision", target_correction=False).fit(t, y)
    assert ours.slope_ == pytest.approx(peer.coef_[0, 0], abs=1e-5)
    assert ours.intercept_ == pytest.approx(peer.intercept_[0], abs=1e-5)


def test_recovers_the_truth():
    t, y = data(100_000)
    calibrator = PlattScaling(space="decision").fit(t, y)
    assert calibrator.slope_ == pytest.approx(1.7, abs=0.05)
    assert calibrator.intercept_ == pytest.approx(-0.6, abs=0.05)


@pytest.mark.filterwarnings("ignore:High scores go with the negative class")
def test_a_falling_curve_is_kept_and_declared():
    t, y = data()
    calibrator = PlattScaling(space="decision").fit(-t, y)
    assert calibrator.slope_ < 0.0
    assert not calibrator.map_.monotone
    assert PlattScaling(space="decision").fit(t, y).map_.monotone


def test_constant_scores_give_the_corrected_base_rate():
    calibrator = PlattScaling().fit(np.full(4, 0.3), [0, 1, 0, 0])
    expected = ((1 + 1) / (1 + 2) + 3 * 1 / (3 + 2)) / 4  # the mean of one target of 2/3 and three of 1/5
    np.testing.assert_allclose(calibrator.predict([0.1, 0.3, 0.9]), expected, atol=1e-9)


@pytest.mark.parametrize("factor", [1e-280, 1e-9, 1e9, 1e300])
def test_the_unit_of_the_scores_does_not_matter(factor):
    t, y = data()
    plain = PlattScaling(space="decision").fit(t, y).predict(t)
    np.testing.assert_allclose(PlattScaling(space="decision").fit(factor * t, y).predict(factor * t), plain, atol=1e-7)


def test_large_offsets_do_not_matter():
    t, y = data()
    plain = PlattScaling(space="decision").fit(t, y).predict(t)
    moved = np.round(t, 3) + 1e6
    np.testing.assert_allclose(PlattScaling(space="decision").fit(moved, y).predict(moved), plain, atol=1e-3)


def forest_votes(n=250, trees=30, seed=0):
    """Shares of trees, with exact zeros and ones, that are too bold."""
    rng = np.random.default_rng(seed)
    truth = special.expit(1.5 * rng.standard_normal(n))
    votes = rng.binomial(trees, special.expit(2.0 * special.logit(truth)))
    return votes / trees, (rng.random(n) < truth).astype(int)


@pytest.mark.parametrize("seed", range(4))
def test_exact_zeros_and_ones_do_not_outweigh_the_rest(seed):
    scores, y = forest_votes(seed=seed)
    test_scores, test_y = forest_votes(n=4000, seed=100 + seed)
    assert (scores == 0.0).any()
    assert (scores == 1.0).any()
    p = PlattScaling().fit(scores, y).predict(test_scores)
    assert np.mean((p - test_y) ** 2) < np.mean((test_scores - test_y) ** 2) - 0.005


def test_zero_and_one_go_halfway_to_the_nearest_score():
    scores, y = np.array([0.0, 0.2, 0.4, 0.6, 0.9, 1.0, 1.0]), np.array([0, 0, 1, 0, 1, 1, 1])
    with_ends = PlattScaling().fit(scores, y)
    without = PlattScaling().fit(np.array([0.1, 0.2, 0.4, 0.6, 0.9, 0.95, 0.95]), y)
    assert with_ends.slope_ == pytest.approx(without.slope_)
    np.testing.assert_allclose(
        with_ends.predict([0.0, 0.05, 0.3, 1.0]), without.predict([0.1, 0.1, 0.3, 0.95]), rtol=1e-9
    )


def test_nothing_but_zeros_and_ones_is_fitted_as_it_is():
    p = PlattScaling(target_correction=False).fit([0.0, 0.0, 0.0, 1.0, 1.0], [0, 0, 1, 0, 1]).predict([0.0, 1.0])
    np.testing.assert_allclose(p, [1 / 3, 1 / 2], atol=1e-6)
