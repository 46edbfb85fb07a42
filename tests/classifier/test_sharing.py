"""Models of an ensemble share the map of a Bayesian method, unless left-out rows speak for one each."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_blobs, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold, PredefinedSplit, RepeatedStratifiedKFold, StratifiedKFold
from sklearn.naive_bayes import GaussianNB

from calibrant import BayesianTemperature, Blend, CalibratedClassifier, PlattScaling
from calibrant.calibrators.base import BayesianCalibrator
from calibrant.classifier.splits import with_own_map
from calibrant.maps.functions import Step


class Share(BayesianCalibrator):
    """The share of positives with one imagined row of each class, whatever the score."""

    def fit_map(self, tally):
        self.counts_ = 1.0 + tally.total_positive, 1.0 + tally.total - tally.total_positive
        return Step(np.empty(0), [self.counts_[0] / sum(self.counts_)])

    def draw_maps(self, scores, n_draws, rng):
        draws = rng.beta(*self.counts_, n_draws)
        return np.repeat(draws[:, None], len(scores), axis=1)

    def interval_ends(self, scores, level):
        low, high = np.quantile(self.sample_maps(scores, 4000), [0.5 - level / 2, 0.5 + level / 2], axis=0)
        return low, high

    def leave_one_out(self, tally):
        a, b = self.counts_
        return np.full(len(tally), (a - 1) / (a + b - 1)), np.full(len(tally), (b - 1) / (a + b - 1))


class Even(ClassifierMixin, BaseEstimator):
    """Says one half of every row."""

    def fit(self, X, y):
        self.n_features_in_, self.classes_ = np.shape(X)[1], np.unique(y)
        return self

    def predict_proba(self, X):
        return np.full((len(X), 2), 0.5)


def maps(model):
    return {id(one.view) for one in model.calibrated_classifiers_}


def two_folds(first, second):
    """Two folds with as many positives among ten rows each as asked for."""
    y = np.array([1] * first + [0] * (10 - first) + [1] * second + [0] * (10 - second))
    return np.zeros((20, 1)), y, PredefinedSplit(np.repeat([0, 1], 10))


def test_the_prior_counts_once_by_hand():
    X, y, cv = two_folds(6, 9)
    model = CalibratedClassifier(Even(), Share(), cv=cv).fit(X, y)
    assert len(maps(model)) == 1
    # One map of 15 positives of 20 and a row of each class, not the mean of 7/12 and 10/12.
    np.testing.assert_allclose(model.predict_proba(X[:1]), [[6 / 22, 16 / 22]])
    low, high = model.predict_interval(X[:1])
    assert high[0] - low[0] == pytest.approx(3.29 * np.sqrt(16 * 6 / 22**2 / 23), rel=0.1)


def test_models_that_differ_keep_their_maps_by_hand():
    """The labels of left-out rows are exp(6.4) times as likely with two maps, then only exp(0.7) times."""

    def left_out(positive, n):
        a, b = positive + 1, n - positive + 1
        return positive * np.log((a - 1) / (a + b - 1)) + (n - positive) * np.log((b - 1) / (a + b - 1))

    X, y, cv = two_folds(1, 9)
    assert 2 * left_out(1, 10) - left_out(10, 20) == pytest.approx(6.4, abs=0.1)
    apart = CalibratedClassifier(Even(), Share(), cv=cv).fit(X, y)
    assert len(maps(apart)) == 2
    np.testing.assert_allclose(apart.predict_proba(X[:1]), [[0.5, 0.5]])
    X, y, cv = two_folds(3, 7)
    assert 2 * left_out(3, 10) - left_out(10, 20) == pytest.approx(0.7, abs=0.1)
    assert len(maps(CalibratedClassifier(Even(), Share(), cv=cv).fit(X, y))) == 1


def test_rows_that_are_held_out_twice_count_once():
    X, y, cv = two_folds(6, 9)
    folds = [(np.arange(20) >= 10, np.arange(20) < 10), (np.arange(20) < 10, np.arange(20) >= 10)]
    once = CalibratedClassifier(Even(), Share(), cv=cv).fit(X, y)
    twice = CalibratedClassifier(Even(), Share(), cv=folds * 2).fit(X, y)
    np.testing.assert_allclose(twice.predict_proba(X), once.predict_proba(X))
    weighted = CalibratedClassifier(Even(), Share(), cv=folds * 2)
    with pytest.warns(UserWarning, match="does not appear to accept sample_weight"):
        weighted.fit(X, y, np.full(20, 3.0))
    np.testing.assert_allclose(weighted.predict_proba(X[:1]), [[(15 + 1) / 62, (45 + 1) / 62]])


def test_answers_about_rows_without_labels_rest_on_the_rows_of_each_split():
    X, y, cv = two_folds(6, 9)
    model = CalibratedClassifier(Even(), Share(), cv=cv).fit(X, y)
    assert [one.posterior(X)[0].counts_ for one in model.calibrated_classifiers_] == [(16.0, 6.0)] * 2
    own = [with_own_map(one).posterior(X)[0].counts_ for one in model.calibrated_classifiers_]
    assert own == [(7.0, 5.0), (10.0, 2.0)]
    answer = model.estimate(X, "mean", sampling_noise=False, n_draws=4000)
    assert answer.value == pytest.approx(16 / 22, abs=0.01)  # at the level of the labels of each split
    draws = np.concatenate([np.random.default_rng(0).beta(*counts, 100_000) for counts in own])
    np.testing.assert_allclose((answer.low, answer.high), np.quantile(draws, [0.05, 0.95]), atol=0.03)


@pytest.mark.parametrize("estimator", [GaussianNB(), LogisticRegression()], ids=["probability", "decision"])
def test_a_shared_map_is_that_of_all_held_out_scores(estimator):
    X, y = make_classification(300, n_informative=4, flip_y=0.2, random_state=0)
    response = "decision_function" if hasattr(estimator, "decision_function") else "predict_proba"
    model = CalibratedClassifier(estimator, cv=3).fit(X, y)
    assert len(maps(model)) == 1

    def scores(fitted, rows):
        answer = getattr(fitted, response)(rows)
        return answer if answer.ndim == 1 else answer[:, 1]

    splits = list(StratifiedKFold(3).split(X, y))
    fitted = [estimator.__class__().fit(X[train], y[train]) for train, _ in splits]
    held_out = np.concatenate([scores(one, X[test]) for one, (_, test) in zip(fitted, splits, strict=True)])
    blend = Blend(space="decision" if response == "decision_function" else "probability")
    blend.fit(held_out, np.concatenate([y[test] for _, test in splits]))
    expected = np.mean([blend.predict(scores(one, X)) for one in fitted], axis=0)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expected, atol=1e-9)


def test_methods_without_a_posterior_keep_a_map_for_each_model():
    X, y = make_classification(200, random_state=0)
    assert len(maps(CalibratedClassifier(GaussianNB(), PlattScaling(), cv=4).fit(X, y))) == 4
    assert len(maps(CalibratedClassifier(GaussianNB(), BayesianTemperature(), cv=4).fit(X, y))) == 1
    repeated = RepeatedStratifiedKFold(n_splits=2, n_repeats=2, random_state=0)
    assert len(maps(CalibratedClassifier(GaussianNB(), cv=repeated).fit(X, y))) == 1


def test_models_that_know_other_classes_keep_their_maps():
    X, y = make_blobs([15, 25, 40], cluster_std=4.0, random_state=0)
    rows = np.argsort(y, kind="stable")
    model = CalibratedClassifier(GaussianNB(), multiclass="one_vs_rest", cv=KFold(4))
    with pytest.warns(RuntimeWarning, match="Number of classes in training fold"):
        model.fit(X[rows], y[rows])
    assert len(maps(model)) == 4


def test_a_blend_of_few_rows_is_no_longer_drawn_to_the_votes_of_a_forest():
    """A forest of 30 trees on noisy features says too little; a sigmoid for each fold was better than a blend."""
    losses = {"one_vs_rest": [], "auto": [], "platt": []}
    for seed in range(2):
        X, y = make_blobs(500, 100, centers=10, cluster_std=15.0, random_state=seed)
        y = np.minimum(y, 2)
        forest = RandomForestClassifier(30, random_state=42)
        for name, kept in losses.items():
            options = {"method": name} if name == "platt" else {"multiclass": name}
            model = CalibratedClassifier(forest, **options).fit(X[::2], y[::2])
            kept.append(log_loss(y[1::2], model.predict_proba(X[1::2])))
    assert np.mean(losses["one_vs_rest"]) < np.mean(losses["platt"])
    assert np.mean(losses["auto"]) < np.mean(losses["platt"])
