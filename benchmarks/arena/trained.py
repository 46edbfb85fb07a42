"""Scores of ten learners on the data sets that come with scikit-learn or that it generates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn import datasets
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier, GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

__all__ = ["LEARNERS", "SETS", "scored_rows"]

Rows = tuple[np.ndarray, np.ndarray]
TRAINING_ROWS = 3000
GENERATED_ROWS = 13000

LEARNERS: dict[str, Callable[[], Any]] = {
    "ada": lambda: AdaBoostClassifier(random_state=0),
    "ann": lambda: make_pipeline(StandardScaler(), MLPClassifier((50,), max_iter=200, random_state=0)),
    "bag": lambda: BaggingClassifier(n_estimators=50, random_state=0),
    "dt": lambda: DecisionTreeClassifier(min_samples_leaf=5, random_state=0),
    "gbt": lambda: GradientBoostingClassifier(random_state=0),
    "knn": lambda: make_pipeline(StandardScaler(), KNeighborsClassifier(10)),
    "lr": lambda: make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
    "nb": GaussianNB,
    "rf": lambda: RandomForestClassifier(n_estimators=100, random_state=0),
    "svm": lambda: make_pipeline(StandardScaler(), SVC(random_state=0)),
}


def _digits(positive: Callable[[np.ndarray], np.ndarray]) -> Rows:
    X, y = datasets.load_digits(return_X_y=True)
    return X, positive(y).astype(int)


def _diabetes() -> Rows:
    X, y = datasets.load_diabetes(return_X_y=True)
    return X, (y > np.median(y)).astype(int)


def _hastie() -> Rows:
    X, y = datasets.make_hastie_10_2(GENERATED_ROWS, random_state=0)
    return X, (y > 0).astype(int)


SETS: dict[str, Callable[[], Rows]] = {
    "breast_cancer": lambda: datasets.load_breast_cancer(return_X_y=True),
    "diabetes": _diabetes,
    "digits_odd": lambda: _digits(lambda y: y % 2 == 1),
    "digits_above_four": lambda: _digits(lambda y: y > 4),
    "hastie": _hastie,
    "moons": lambda: datasets.make_moons(GENERATED_ROWS, noise=0.4, random_state=0),
    "rare": lambda: datasets.make_classification(GENERATED_ROWS, weights=[0.95], flip_y=0.02, random_state=0),
    "noisy": lambda: datasets.make_classification(GENERATED_ROWS, n_informative=6, flip_y=0.25, random_state=0),
}


def scored_rows(data: str, learner: str) -> Rows:
    """Scores in [0, 1] of rows that the learner was not trained on, and their labels.

    Large sets are split once, 3000 rows to train on; small ones are scored by ten-fold cross-validation. Decision
    scores are mapped by the logistic function.
    """
    X, y = SETS[data]()
    model = LEARNERS[learner]()
    output = "predict_proba" if hasattr(model, "predict_proba") else "decision_function"
    if len(X) < 2 * TRAINING_ROWS:
        scores = cross_val_predict(model, X, y, cv=10, method=output)
    else:
        model.fit(X[:TRAINING_ROWS], y[:TRAINING_ROWS])
        X, y = X[TRAINING_ROWS:], y[TRAINING_ROWS:]
        scores = getattr(model, output)(X)
    return (scores[:, 1] if output == "predict_proba" else expit(scores)), y
