"""Made tables whose classes interact, where sums of curves and matrices of single classes cannot follow.

    python -m benchmarks.accuracy.interactions [--sizes 200 1000 5000] [--seeds 0 1] [--tables 'between*'] [--rivals]

- between: a class lies between two others, which a linear learner gives both half.
- opposite: classes are sums of two features' signs, and the learner sees features one by one.
- clusters: classes of several clusters each (scikit-learn's generator), with learners too simple or too sure.
- digits: scikit-learn's digits in five or ten classes, taught to learners that are too sure.
- tempered, tilted: controls without interaction, where a richer model can only lose.

Shown is the log-loss on other rows less that of the raw scores, × 1000, of each method.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from fnmatch import fnmatch
from functools import partial
from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.datasets import load_digits, make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import AdaBoostClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier

from calibrant import MatrixBlend
from calibrant.multiclass.scaling import MatrixScaling

TRAINING_ROWS, TEST_ROWS = 1500, 6000
CLIP = 1e-7
Rows = tuple[np.ndarray, np.ndarray]


def between(n: int, rng: np.random.Generator, n_classes: int = 3, noise: float = 0.5) -> Rows:
    """Features around points of a circle; every third class lies in the middle of its two neighbours."""
    y = rng.integers(n_classes, size=n)
    angle = 2.0 * np.pi * np.arange(n_classes) / n_classes
    centers = 2.0 * np.column_stack((np.cos(angle), np.sin(angle)))
    for k in range(2, n_classes, 3):
        centers[k] = 0.5 * (centers[k - 1] + centers[k - 2])
    return centers[y] + noise * rng.normal(size=(n, 2)), y


def opposite(n: int, rng: np.random.Generator, n_classes: int = 4) -> Rows:
    """Two hidden sides; class 0 and 1 where they agree, the others where they do not; and features that only hint."""
    sides = rng.normal(size=(n, 2)) + 0.8 * rng.choice([-1.0, 1.0], size=(n, 2))
    agree = (sides[:, 0] > 0.0) == (sides[:, 1] > 0.0)
    y = np.where(agree, sides[:, 0] > 0.0, 2 + (rng.random(n) < 0.3) * (n_classes > 3)).astype(int)
    return np.column_stack((sides, sides + rng.normal(size=(n, 2)), rng.normal(size=(n, 3)))), y


def clusters(n: int, rng: np.random.Generator, n_classes: int = 4, each: int = 3, informative: int = 6) -> Rows:
    X, y = make_classification(
        n,
        n_features=informative + 4,
        n_informative=informative,
        n_redundant=2,
        n_classes=n_classes,
        n_clusters_per_class=each,
        class_sep=1.2,
        flip_y=0.03,
        random_state=int(rng.integers(2**31)),
    )
    return X, y


def learned(data: Callable[..., Rows], learner: Callable[[], Any], n: int, seed: int) -> Rows:
    """Scores of a learner for rows that it was not trained on."""
    X, y = data(n + TRAINING_ROWS, np.random.default_rng([seed, 71]))
    model = learner().fit(X[:TRAINING_ROWS], y[:TRAINING_ROWS])
    return model.predict_proba(X[TRAINING_ROWS:]), y[TRAINING_ROWS:]


def digits(learner: Callable[[], Any], n_classes: int, n: int, seed: int) -> Rows:  # noqa: ARG001 - there are only so many
    """Scores out of fold; where there are five classes, each is two digits."""
    X, y = load_digits(return_X_y=True)
    y, order = y % n_classes, np.random.default_rng([seed, 72]).permutation(len(y))
    return cross_val_predict(learner(), X[order], y[order], cv=3, method="predict_proba"), y[order]


def altered(change: Callable[[np.ndarray], np.ndarray], n_classes: int, n: int, seed: int) -> Rows:
    """Labels from a function of the scores' logarithms."""
    rng = np.random.default_rng([seed, 73])
    scores = softmax(rng.normal(0.0, 1.7, (n, n_classes)), axis=1)
    truth = softmax(change(np.log(scores)), axis=1)
    return scores, (truth.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1).clip(0, n_classes - 1)


def _linear() -> Any:
    return LogisticRegression(max_iter=500)


def _network() -> Any:
    return MLPClassifier((30,), alpha=0.0, max_iter=150, random_state=0)


TABLES: dict[str, Callable[[int, int], Rows]] = {
    "between3_lr": partial(learned, between, _linear),
    "between6_lr": partial(learned, partial(between, n_classes=6), _linear),
    "between9_nb": partial(learned, partial(between, n_classes=9), GaussianNB),
    "between6_lda": partial(learned, partial(between, n_classes=6, noise=0.8), LinearDiscriminantAnalysis),
    "opposite_nb": partial(learned, opposite, GaussianNB),
    "opposite_lr": partial(learned, partial(opposite, n_classes=3), _linear),
    "clusters4_lr": partial(learned, clusters, _linear),
    "clusters4_nb": partial(learned, clusters, GaussianNB),
    "clusters4_ada": partial(learned, clusters, AdaBoostClassifier),
    "clusters3_mlp": partial(learned, partial(clusters, n_classes=3), _network),
    "clusters8_lr": partial(learned, partial(clusters, n_classes=8, each=2), _linear),
    "clusters10_nb": partial(learned, partial(clusters, n_classes=10, each=2, informative=8), GaussianNB),
    "clusters6_rf": partial(
        learned, partial(clusters, n_classes=6), partial(RandomForestClassifier, 50, random_state=0)
    ),
    "clusters12_lr": partial(learned, partial(clusters, n_classes=12, each=2, informative=8), _linear),
    "clusters18_nb": partial(learned, partial(clusters, n_classes=18, each=2, informative=8), GaussianNB),
    "clusters18_rf": partial(
        learned,
        partial(clusters, n_classes=18, each=2, informative=8),
        partial(RandomForestClassifier, 50, random_state=0),
    ),
    "clusters26_lr": partial(learned, partial(clusters, n_classes=26, each=2, informative=9), _linear),
    "digits5_lr": partial(digits, partial(LogisticRegression, C=100.0, max_iter=200), 5),
    "digits5_nb": partial(digits, GaussianNB, 5),
    "digits10_nb": partial(digits, GaussianNB, 10),
    "tempered5": partial(altered, lambda x: 0.6 * x, 5),
    "tilted10": partial(altered, lambda x: 0.8 * x + np.linspace(-0.6, 0.6, 10), 10),
    "tilted20": partial(altered, lambda x: 0.8 * x + np.linspace(-0.6, 0.6, 20), 20),
}


class Trees:
    """scikit-learn's boosted trees on the logarithms, for scale: what any function of the row could reach."""

    def fit(self, p: np.ndarray, y: np.ndarray) -> Trees:
        """Learn from probabilities (n, K) and labels 0 … K − 1."""
        self.model = HistGradientBoostingClassifier(max_iter=60, learning_rate=0.07, max_leaf_nodes=8)
        self.model.fit(np.log(np.maximum(p, 1e-12)), y)
        return self

    def predict_proba(self, p: np.ndarray) -> np.ndarray:
        """Calibrated probabilities, (n, K)."""
        return self.model.predict_proba(np.log(np.maximum(p, 1e-12)))


METHODS: dict[str, Callable[[], Any]] = {"MatrixBlend": MatrixBlend}
RIVALS: dict[str, Callable[[], Any]] = {"MatrixScaling": MatrixScaling, "trees": Trees}


def log_loss(p: np.ndarray, y: np.ndarray) -> float:
    return float(-np.log(np.clip(p[np.arange(len(y)), y], CLIP, 1.0)).mean())


def gains(table: str, n: int, seed: int, methods: dict[str, Callable[[], Any]]) -> list[float]:
    """Log-loss less that of the raw scores, × 1000, of each method; nothing where rows do not suffice."""
    p, y = TABLES[table](n + TEST_ROWS, seed)
    if len(y) < n + 700:
        return []
    test, labels = p[n:], y[n:]
    raw = log_loss(test, labels)
    return [1000.0 * (log_loss(m().fit(p[:n], y[:n]).predict_proba(test), labels) - raw) for m in methods.values()]


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", nargs="+", type=int, default=[200, 1000, 5000])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument("--tables", default="*")
    parser.add_argument("--rivals", action="store_true")
    options = parser.parse_args(arguments)
    methods = METHODS | (RIVALS if options.rivals else {})
    print(f"{'rows':>5} {'table':<16}" + "".join(f"{name:>16}" for name in methods))
    for n in options.sizes:
        found = []
        for table in (name for name in TABLES if fnmatch(name, options.tables)):
            each = [row for seed in options.seeds if (row := gains(table, n, seed, methods))]
            if each:
                found.append(np.mean(each, axis=0))
                print(f"{n:>5} {table:<16}" + "".join(f"{gain:16.1f}" for gain in found[-1]), flush=True)
        print(f"{n:>5} {'mean':<16}" + "".join(f"{gain:16.1f}" for gain in np.mean(found, axis=0)))


if __name__ == "__main__":
    main()
