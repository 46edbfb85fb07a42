"""Features that say nothing: how much worse than the base rate a calibrated classifier is, beside a sigmoid.

``python -m benchmarks.accuracy.noise [SEEDS]`` draws ten normal features and labels that do not depend on them, three
base rates in turn, trains five learners on 100, 200 and 1000 rows, and prints the mean regret × 10³: the expected
log-loss on new rows less the entropy of the labels.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC

from benchmarks.accuracy.blend import excess
from calibrant import CalibratedClassifier

LEARNERS = {
    "naive Bayes": GaussianNB(),
    "forest": RandomForestClassifier(50, random_state=0),
    "boosting": HistGradientBoostingClassifier(max_iter=30, random_state=0),
    "logistic regression": LogisticRegression(),
    "support vectors": SVC(random_state=0),
}
SIZES, RATES, FEATURES, TEST_ROWS = (100, 200, 1000), (0.5, 0.3, 0.15), 10, 2000


def regret(model: ClassifierMixin, n: int, rate: float, seed: int) -> float:
    """Expected log-loss on new rows, above the entropy of the labels."""
    rng = np.random.default_rng([seed, 74])
    X, y = rng.normal(size=(n + TEST_ROWS, FEATURES)), (rng.random(n) < rate).astype(int)
    return excess(model.fit(X[:n], y).predict_proba(X[n:])[:, 1], np.full(TEST_ROWS, rate))


def main() -> None:
    warnings.simplefilter("ignore")
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 12
    print(f"{'rows':>5} {'learner':<20}{'default':>10}{'sigmoid':>10}{'ratio':>8}   regret × 10³, {seeds} seeds")
    for n in SIZES:
        rows = []
        for name, learner in LEARNERS.items():
            both = CalibratedClassifier(learner), CalibratedClassifierCV(learner)
            found = [[regret(model, n, RATES[seed % 3], seed) for model in both] for seed in range(seeds)]
            rows.append(1e3 * np.mean(found, axis=0))
            print(
                f"{n:>5} {name:<20}{rows[-1][0]:10.2f}{rows[-1][1]:10.2f}{rows[-1][0] / rows[-1][1]:8.2f}", flush=True
            )
        ours, sigmoid = np.mean(rows, axis=0)
        print(f"{n:>5} {'mean':<20}{ours:10.2f}{sigmoid:10.2f}{ours / sigmoid:8.2f}", flush=True)


if __name__ == "__main__":
    main()
