"""The models of a cross-fitted ensemble: a map for each, one map that they share, or one model with one map.

``python -m benchmarks.accuracy.ensembles [SPLITS]`` prints mean log-losses on the data of scikit-learn's own test of
forests (three classes, 250 rows), and those of `Blend` on six data sets after training on 100, 250 and 1000 rows, by
learner. Three splits take about five minutes.

``python -m benchmarks.accuracy.ensembles fallback [SPLITS]`` asks of learners that give probabilities whether rows that
did not train them show that they are better left alone: `Blend`, on rows left out of it, has a higher log-loss than the
raw scores of the same rows, all out of fold, beyond the 90 % interval. Beside that stands what the model trained on all
rows, without calibration, loses on new rows beyond `CalibratedClassifier`.
"""

from __future__ import annotations

import sys
import warnings
from unittest.mock import patch

import numpy as np
from sklearn.base import ClassifierMixin, clone
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    make_blobs,
    make_classification,
    make_hastie_10_2,
    make_moons,
)
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_predict, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from calibrant import Blend, CalibratedClassifier
from calibrant.classifier.splits import CrossFit

LEARNERS = {
    "naive Bayes": GaussianNB(),
    "tree": DecisionTreeClassifier(min_samples_leaf=5, random_state=0),
    "forest": RandomForestClassifier(50, random_state=0),
    "boosting": HistGradientBoostingClassifier(max_iter=30, random_state=0),
    "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
    "support vectors": make_pipeline(StandardScaler(), SVC(random_state=0)),
}
SIZES = (100, 250, 1000)
METHODS = ("blend", "platt", "isotonic", "beta")
TEST_ROWS = 2000
ONE_SIDED = 1.645  # standard errors to the end of a 90 % interval


def data_sets() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    digits, number = load_digits(return_X_y=True)
    hastie, side = make_hastie_10_2(4000, random_state=0)
    return {
        "breast cancer": load_breast_cancer(return_X_y=True),
        "digits above 4": (digits, (number > 4).astype(int)),
        "Hastie": (hastie, (side > 0).astype(int)),
        "hard": make_classification(4000, n_informative=5, n_redundant=5, flip_y=0.2, class_sep=0.5, random_state=1),
        "rare": make_classification(4000, n_informative=5, weights=[0.8], flip_y=0.05, random_state=2),
        "moons": make_moons(4000, noise=0.4, random_state=3),
    }


def fit_each(model: CalibratedClassifier, X: np.ndarray, y: np.ndarray) -> CalibratedClassifier:
    """Fit an ensemble whose models keep their maps, whatever the odds."""
    with patch.object(CrossFit, "calibrate", CrossFit._with_own_maps), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y)


def losses(learner: ClassifierMixin, X: np.ndarray, y: np.ndarray, size: int, seed: int) -> list[float]:
    """Log-losses with a map for each model, with a shared map, and with one model."""
    split = train_test_split(X, y, train_size=size, stratify=y, random_state=seed)
    X_train, X_test, y_train, y_test = split[0], split[1][:TEST_ROWS], split[2], split[3][:TEST_ROWS]
    models = [
        fit_each(CalibratedClassifier(learner), X_train, y_train),
        CalibratedClassifier(learner).fit(X_train, y_train),
        CalibratedClassifier(learner, ensemble=False).fit(X_train, y_train),
    ]
    return [log_loss(y_test, model.predict_proba(X_test)) for model in models]


def compare_sharing(splits: int) -> None:
    sets = data_sets()
    print(f"{'mean log-loss':<24}{'a map each':>13}{'shared':>13}{'one model':>13}")
    for size in SIZES:
        chosen = [data for data in sets.values() if len(data[1]) >= size + 300]
        rows = []
        for name, learner in LEARNERS.items():
            own = [losses(learner, *data, size, seed) for data in chosen for seed in range(splits)]
            rows.append(np.mean(own, axis=0))
            print(f"{size:>5} {name:<18}" + "".join(f"{value:13.4f}" for value in rows[-1]), flush=True)
        print(f"{size:>5} {'mean':<18}" + "".join(f"{value:13.4f}" for value in np.mean(rows, axis=0)))


def compare_methods(splits: int) -> None:
    """scikit-learn's test data: ten blobs in 100 dimensions, eight of which are one class, and a small forest."""
    columns: dict[str, list[float]] = {}
    for seed in range(splits):
        X, y = make_blobs(500, 100, centers=10, cluster_std=15.0, random_state=seed)
        y = np.minimum(y, 2)
        forest = RandomForestClassifier(30, random_state=42)
        fitted = {"raw": forest.fit(X[::2], y[::2])}
        for method in METHODS:
            model = CalibratedClassifier(forest, method, multiclass="one_vs_rest")
            fitted[method] = model.fit(X[::2], y[::2])
        each = CalibratedClassifier(forest, multiclass="one_vs_rest")
        fitted["blend, a map each"] = fit_each(each, X[::2], y[::2])
        fitted["default"] = CalibratedClassifier(forest).fit(X[::2], y[::2])
        for name, model in fitted.items():
            columns.setdefault(name, []).append(log_loss(y[1::2], model.predict_proba(X[1::2])))
    print(
        f"\nscikit-learn's blobs and forest, mean log-loss of {splits} seeds, and seeds lower than with platt and beta"
    )
    for name, column in columns.items():
        lower = [int((np.array(column) < np.array(columns[other])).sum()) for other in ("platt", "beta")]
        print(f"{name:<24}{np.mean(column):10.4f}{lower[0]:6d}{lower[1]:6d}")


def raw_is_proved_better(learner: ClassifierMixin, X: np.ndarray, y: np.ndarray) -> bool:
    """Whether the raw scores of rows out of fold have a lower log-loss than `Blend`, beyond the 90 % interval."""
    blend = Blend().fit(cross_val_predict(learner, X, y, method="predict_proba"), y)
    gain, error = blend._gain
    return bool(gain + ONE_SIDED * error < 0.0)


def compare_fallback(splits: int) -> None:
    """How often held-out rows would send a user back to the uncalibrated model, and what that would change."""
    print(f"{'':>5} {'':<18}{'fits':>6}{'proved':>8}{'raw - default where proved':>28}{'everywhere':>12}")
    found = []
    for size in SIZES:
        for name, learner in LEARNERS.items():
            if not hasattr(learner, "predict_proba"):
                continue
            rows = []
            for X, y in data_sets().values():
                for seed in range(splits if len(y) >= size + 300 else 0):
                    split = train_test_split(X, y, train_size=size, stratify=y, random_state=seed)
                    X_train, X_test, y_train, y_test = split[0], split[1][:TEST_ROWS], split[2], split[3][:TEST_ROWS]
                    models = clone(learner), CalibratedClassifier(learner)
                    raw, default = (
                        log_loss(y_test, model.fit(X_train, y_train).predict_proba(X_test)) for model in models
                    )
                    rows.append((raw_is_proved_better(learner, X_train, y_train), raw - default))
            found += rows
            _print_fallback(f"{size:>5} {name}", rows)
    _print_fallback(f"{'':>5} all", found)


def _print_fallback(name: str, rows: list[tuple[bool, float]]) -> None:
    proved, change = np.array(rows).T
    where = f"{change[proved > 0].mean():28.4f}" if proved.any() else f"{'':>28}"
    print(f"{name:<24}{len(rows):>6}{int(proved.sum()):>8}{where}{change.mean():>12.4f}", flush=True)


if __name__ == "__main__":
    fallback = sys.argv[1:2] == ["fallback"]
    numbers = sys.argv[2:] if fallback else sys.argv[1:]
    n_splits = int(numbers[0]) if numbers else 3
    if fallback:
        compare_fallback(n_splits)
        sys.exit()
    compare_methods(20)
    print()
    compare_sharing(n_splits)
