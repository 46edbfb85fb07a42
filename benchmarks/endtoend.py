"""Learner and table in, probabilities out: CalibratedClassifier beside every option of CalibratedClassifierCV.

``python -m benchmarks.endtoend run OUT.csv [--sizes 200 1000 4000] [--reps 2]`` appends the losses of each task,
``python -m benchmarks.endtoend summary OUT.csv`` prints mean differences. Fitted learners and what they say are shared
by all options, so that only the calibration differs; rows in the file are not run again.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import datasets
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.metaestimators import available_if

from benchmarks.arena.summary import clustered_mean
from calibrant import CalibratedClassifier

LEARNERS = {
    "naive Bayes": GaussianNB(),
    "logistic regression": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
    "tree": DecisionTreeClassifier(min_samples_leaf=5, random_state=0),
    "forest": RandomForestClassifier(50, random_state=0),
    "boosting": HistGradientBoostingClassifier(max_iter=60, random_state=0),
    "support vectors": make_pipeline(StandardScaler(), SVC()),
}
LEAST_TEST_ROWS, MOST_TEST_ROWS, CLIP = 300, 4000, 1e-7
COLUMNS = ("table", "size", "rep", "learner", "option", "log_loss", "brier_score")
CACHE: dict[Any, Any] = {}


def has(method: str) -> Callable[[Any], bool]:
    return lambda self: hasattr(self.learner, method)


class Shared(ClassifierMixin, BaseEstimator):
    """A learner that is fitted once for the same rows, and asked once about the same rows."""

    def __init__(self, learner: Any) -> None:
        self.learner = learner

    def fit(self, X: np.ndarray, y: np.ndarray) -> Shared:
        """Fit, or find what was fitted to these rows."""
        self.key_ = (str(self.learner), X.tobytes(), y.tobytes())
        if self.key_ not in CACHE:
            CACHE[self.key_] = clone(self.learner).fit(X, y)
        self.classes_ = CACHE[self.key_].classes_
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """The learner's own answer."""
        return self._ask("predict", X)

    @available_if(has("predict_proba"))
    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """The learner's own answer."""
        return self._ask("predict_proba", X)

    @available_if(has("decision_function"))
    def decision_function(self, X: np.ndarray) -> np.ndarray:
        """The learner's own answer."""
        return self._ask("decision_function", X)

    def _ask(self, method: str, X: np.ndarray) -> np.ndarray:
        key = (self.key_, method, X.tobytes())
        if key not in CACHE:
            CACHE[key] = getattr(CACHE[self.key_], method)(X)
        return CACHE[key]


def drawn(logit: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return (rng.random(len(logit)) < 1.0 / (1.0 + np.exp(-logit))).astype(int)


def tables(rep: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Bundled data sets, and generated ones that are drawn anew for each repetition."""
    rng, rows = np.random.default_rng(rep), 8000
    digits, digit = datasets.load_digits(return_X_y=True)
    friedman, mean = datasets.make_friedman1(rows, noise=0.0, random_state=rep)
    moons, side = datasets.make_moons(rows, noise=0.35, random_state=rep)
    hastie, sign = datasets.make_hastie_10_2(rows, random_state=rep)
    return {
        "breast cancer": datasets.load_breast_cancer(return_X_y=True),
        "digits above 4": (digits, (digit > 4).astype(int)),
        "ten digits": (digits, digit),
        "clusters": datasets.make_classification(rows, 20, n_informative=6, flip_y=0.1, random_state=rep),
        "rare": datasets.make_classification(rows, 20, n_informative=6, weights=[0.93], flip_y=0.02, random_state=rep),
        "three classes": datasets.make_classification(rows, 15, n_informative=8, n_classes=3, random_state=rep),
        "friedman": (friedman, drawn((mean - 14.4) / 2.5, rng)),
        "moons": (np.column_stack((moons, rng.normal(size=(rows, 8)))), side),
        "hastie": (hastie, (sign > 0.0).astype(int)),
    }


def options(learner: Shared) -> dict[str, Any]:
    found: dict[str, Any] = {
        "calibrant": CalibratedClassifier(learner),
        "calibrant, one model": CalibratedClassifier(learner, ensemble=False),
    }
    for method, ensemble in itertools.product(("sigmoid", "isotonic", "temperature"), (True, False)):
        name = method if ensemble else f"{method}, one model"
        found[name] = CalibratedClassifierCV(learner, method=method, ensemble=ensemble)
    if hasattr(learner, "predict_proba"):
        found["raw"] = learner
        found["bagged"] = CalibratedClassifier(learner, "identity", response_method="predict_proba")
    return found


def losses(model: Any, train: Any, test: Any) -> tuple[float, float]:
    proba = np.clip(model.fit(*train).predict_proba(test[0]), CLIP, 1.0)
    proba /= proba.sum(axis=1, keepdims=True)
    hits = test[1][:, None] == model.classes_
    return log_loss(test[1], proba), float(np.square(proba - hits).sum(axis=1).mean())


def tasks(sizes: list[int], reps: int) -> Iterator[tuple[str, int, int, Any, Any]]:
    for size, rep in itertools.product(sizes, range(reps)):
        for name, (X, y) in tables(rep).items():
            if len(y) >= size + LEAST_TEST_ROWS:
                rest = min(len(y) - size, MOST_TEST_ROWS)
                X_train, X_test, y_train, y_test = train_test_split(
                    X, y, train_size=size, test_size=rest, random_state=rep, stratify=y
                )
                yield name, size, rep, (X_train, y_train), (X_test, y_test)


def run(out: Path, sizes: list[int], reps: int) -> None:
    done = set() if not out.exists() else {tuple(row.values())[:4] for row in read(out)}
    for name, size, rep, train, test in tasks(sizes, reps):
        for learner_name, learner in LEARNERS.items():
            if (name, str(size), str(rep), learner_name) in done:
                continue
            CACHE.clear()
            rows = [
                (name, size, rep, learner_name, option, *losses(model, train, test))
                for option, model in options(Shared(learner)).items()
            ]
            new = not out.exists()
            with out.open("a", newline="", encoding="utf-8") as file:
                csv.writer(file).writerows([COLUMNS, *rows] if new else rows)


def read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def summary(path: Path) -> None:
    """Each option's loss less that of calibrant on the same task; errors clustered by table."""
    rows = read(path)
    for measure, by in (("log_loss", "size"), ("brier_score", "size"), ("log_loss", "learner")):
        groups = sorted({row[by] for row in rows}, key=lambda name: (len(name) if by == "size" else 0, name))
        print(f"\n{measure} less that of calibrant, in thousandths, ± a standard error clustered by table; by {by}")
        print(f"| option | {' | '.join(groups)} |\n|---|{'---|' * len(groups)}")
        for option in dict.fromkeys(row["option"] for row in rows):
            print(f"| {option} | {' | '.join(cell(rows, option, measure, by, group) for group in groups)} |")


def cell(rows: list[dict[str, str]], option: str, measure: str, by: str, group: str) -> str:
    found: dict[tuple[str, ...], dict[str, float]] = {}
    for row in rows:
        if row[by] == group:
            task = tuple(row[name] for name in COLUMNS[:4])
            found.setdefault(task, {})[row["option"]] = 1e3 * float(row[measure])
    both = {task: own for task, own in found.items() if option in own}
    if not both:
        return "–"
    if option == "calibrant":
        return f"{np.mean([own[option] for own in both.values()]):.0f} in all"
    differences = [own[option] - own["calibrant"] for own in both.values()]
    mean, error = clustered_mean(differences, [task[0] for task in both])
    return f"{mean:+.1f} ± {error:.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("run", "summary"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--sizes", type=int, nargs="+", default=[200, 1000, 4000])
    parser.add_argument("--reps", type=int, default=2)
    given = parser.parse_args()
    if given.command == "summary":
        summary(given.file)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # folds with few rows of one class, and steps of curves that are cut short
        run(given.file, given.sizes, given.reps)


if __name__ == "__main__":
    main()
