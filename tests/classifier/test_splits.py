"""A model whose training failed is left out; one whose held-out rows are hard is not."""

import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

from calibrant import CalibratedClassifier
from calibrant.classifier import splits


class Fragile(ClassifierMixin, BaseEstimator):
    """A logistic regression that says nonsense with certainty if one of the rows `needed` did not train it."""

    def __init__(self, needed=()):
        self.needed = needed

    def fit(self, X, y):
        self.inner_ = LogisticRegression().fit(X, y)
        self.classes_ = self.inner_.classes_
        self.broken_ = not all((row == X).all(axis=1).any() for row in np.asarray(self.needed))
        return self

    def predict_proba(self, X):
        proba = self.inner_.predict_proba(X)
        if not self.broken_:
            return proba
        chosen = (1e3 * np.abs(X[:, 0])).astype(int) % proba.shape[1]  # has nothing to do with the label
        return 0.001 + (1.0 - 0.001 * proba.shape[1]) * np.eye(proba.shape[1])[chosen]


def data(n_classes=2, n=400, rest=2000):
    X, y = make_classification(n + rest, 8, n_informative=6, n_classes=n_classes, class_sep=1.5, random_state=1)
    return (X[:n], y[:n]), (X[n:], y[n:])


def fitted(model, rows, n_warnings):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(*rows)
    said = [str(one.message) for one in caught if "training seems to have failed" in str(one.message)]
    assert len(said) == n_warnings, said
    return model


@pytest.mark.parametrize("method", ["blend", "isotonic"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_broken_split_costs_nothing_but_its_model(method, n_classes):
    train, test = data(n_classes)
    folds = list(StratifiedKFold(5).split(*train))
    fragile = Fragile(needed=train[0][folds[2][1][:1]])
    model = fitted(CalibratedClassifier(fragile, method, cv=folds), train, 1)
    assert len(model.calibrated_classifiers_) == 4
    without = CalibratedClassifier(Fragile(), method, cv=folds[:2] + folds[3:]).fit(*train)
    loss, expected = (log_loss(test[1], one.predict_proba(test[0])) for one in (model, without))
    assert loss == pytest.approx(expected, rel=1e-6)


def test_scores_of_a_broken_split_do_not_teach_the_map_of_one_model():
    train, test = data()
    folds = list(StratifiedKFold(5).split(*train))
    fragile = Fragile(needed=train[0][folds[2][1][:1]])
    one = fitted(CalibratedClassifier(fragile, cv=folds, ensemble=False), train, 1)
    assert len(one.calibrated_classifiers_) == 1
    sound = CalibratedClassifier(Fragile(), cv=folds, ensemble=False).fit(*train)
    losses = [log_loss(test[1], model.predict_proba(test[0])) for model in (one, sound)]
    assert losses[0] == pytest.approx(losses[1], rel=0.05)


def test_two_of_five_can_break_but_at_least_half_are_kept():
    train, _ = data()
    folds = list(StratifiedKFold(5).split(*train))
    for broken, kept in ((2, 3), (4, 3)):
        needed = train[0][[fold[0] for _, fold in folds[:broken]]]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = CalibratedClassifier(Fragile(needed), cv=folds).fit(*train)
        assert len(model.calibrated_classifiers_) >= kept


def test_a_split_with_hard_rows_keeps_its_model():
    """Labels of the last fold are noise: its loss is beyond doubt higher, and its model is as good as the others."""
    (X, y), _ = data(n=500)
    folds = [(np.flatnonzero(np.arange(500) // 100 != k), np.flatnonzero(np.arange(500) // 100 == k)) for k in range(5)]
    y = np.where(np.arange(500) // 100 == 4, np.random.default_rng(0).integers(0, 2, 500), y)
    model = fitted(CalibratedClassifier(LogisticRegression(), cv=folds), (X, y), 0)
    assert len(model.calibrated_classifiers_) == 5
    losses = [
        log_loss(y[test], one.predict_proba(X[test]))
        for one, (_, test) in zip(model.calibrated_classifiers_, folds, strict=True)
    ]
    assert losses[4] > 2.0 * max(losses[:4])


def test_maps_of_their_own_are_fitted_only_where_lines_speak_for_them(monkeypatch):
    fits = []
    monkeypatch.setattr(splits.CrossFit, "_with_own_maps", lambda *_: fits.append(1))
    (X, y), _ = data()
    CalibratedClassifier(LogisticRegression()).fit(X, y)
    assert not fits
