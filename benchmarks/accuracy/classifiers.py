"""CalibratedClassifier beside scikit-learn's CalibratedClassifierCV: four learners, two bundled data sets, many splits.

``python -m benchmarks.accuracy.classifiers [SPLITS]`` prints mean log-losses on the halves of the rows that were not
trained on; ten splits take about two minutes.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from calibrant import CalibratedClassifier

LEARNERS = {
    "naive Bayes": GaussianNB(),
    "tree": DecisionTreeClassifier(min_samples_leaf=5, random_state=0),
    "forest": RandomForestClassifier(50, random_state=0),
    "boosting": GradientBoostingClassifier(n_estimators=30, random_state=0),
}


def data_sets() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    digits, number = load_digits(return_X_y=True)
    return {"breast cancer": load_breast_cancer(return_X_y=True), "digits above 4": (digits, number > 4)}


def candidates(learner: ClassifierMixin) -> dict[str, ClassifierMixin]:
    return {
        "raw": learner,
        "CV sigmoid": CalibratedClassifierCV(learner, method="sigmoid"),
        "CV isotonic": CalibratedClassifierCV(learner, method="isotonic"),
        "calibrant": CalibratedClassifier(learner),
    }


def losses(learner: ClassifierMixin, X: np.ndarray, y: np.ndarray, seed: int) -> list[float]:
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=seed)
    models = candidates(learner).values()
    return [log_loss(y_test, model.fit(X_train, y_train).predict_proba(X_test)) for model in models]


def show(label: str, values: np.ndarray) -> None:
    print(f"{label:<30}" + "".join(f"{value:13.3f}" for value in values))


def main(splits: int) -> None:
    print(f"{'mean log-loss':<30}" + "".join(f"{name:>13}" for name in candidates(GaussianNB())))
    rows = []
    for set_name, (X, y) in data_sets().items():
        for name, learner in LEARNERS.items():
            rows.append(np.array([losses(learner, X, y, seed) for seed in range(splits)]))
            show(f"{set_name}, {name}", rows[-1].mean(axis=0))
    show("mean", np.mean([row.mean(axis=0) for row in rows], axis=0))
    every = np.concatenate(rows)
    show("splits on which it is best", (every == every.min(axis=1, keepdims=True)).mean(axis=0))
    show("splits worse than raw", (every > every[:, :1]).mean(axis=0))


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # isotonic regression on folds with few rows of one class
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
