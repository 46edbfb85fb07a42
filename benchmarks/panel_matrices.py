"""Several score matrices of the same rows to one: `python -m benchmarks.panel_matrices FOLDER`.

FOLDER holds matrices of several classes, one .npz file each (`logp`, `y`); those with the same labels are models of the
same rows. Printed are mean log-losses on rows not seen, by Blend of: the matrix that is best on those rows (in
hindsight), the mean of the logarithms, and the pool that `CalibratedClassifier` makes of several models. The groups of
`DEVELOPMENT` chose the method; the others judge it. Before them simulated truths: the excess over the true
probabilities in thousandths, and the coverage of 90 % intervals.
"""

import argparse
import warnings
import zlib
from collections import defaultdict
from pathlib import Path

import numpy as np
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.frozen import FrozenEstimator

from calibrant import Blend, CalibratedClassifier

DEVELOPMENT = ("ann_thyroid_nb", "cifar10_densenet121", "cifar10_humanworst_efficientnet", "connect_4_hgb", "sleep_et")
DEVELOPMENT += ("satimage_knn", "waveform_40_hgb", "wine_quality_white_hgb", "llm_falcon_7b_emotion_task_four")
SIZES = (200, 1000)
REPETITIONS = 2
MOST_CLASSES, MOST_MODELS = 20, 5


def read_groups(folder):
    """Models of the same rows: matrices by name, and labels."""
    found = defaultdict(dict)
    for path in sorted(folder.glob("*.npz")):
        with np.load(path) as file:
            log_p, y = file["logp"].astype(float), file["y"].astype(int)
        if log_p.shape[1] <= MOST_CLASSES:
            found[log_p.shape[1], y.tobytes()][path.stem] = softmax(log_p, axis=1), y
    groups = [group for group in found.values() if len(group) > 1]
    return [
        ({name: group[name][0] for name in list(group)[:MOST_MODELS]}, group[next(iter(group))][1]) for group in groups
    ]


def log_loss(p, y):
    return -np.mean(np.log(np.clip(p[np.arange(len(y)), y], 1e-7, 1.0)))


def mean_of_logs(matrices):
    return softmax(np.mean([np.log(np.maximum(m, 1e-4)) for m in matrices.values()], axis=0), axis=1)


class Given(ClassifierMixin, BaseEstimator):
    """A model whose features are the probabilities of all models, of which it gives its own."""

    def __init__(self, place=0, n_classes=2):
        self.place, self.n_classes = place, n_classes

    def fit(self, X=None, y=None):  # noqa: ARG002 - as scikit-learn calls it
        """Know all classes."""
        self.classes_ = np.arange(self.n_classes)
        return self

    def predict_proba(self, X):
        """Its own columns."""
        return X[:, self.place * self.n_classes :][:, : self.n_classes]


def join(matrices):
    return np.concatenate(list(matrices.values()), axis=1)


def fit_several(matrices, y):
    n_classes = next(iter(matrices.values())).shape[1]
    models = {name: FrozenEstimator(Given(j, n_classes).fit()) for j, name in enumerate(matrices)}
    return CalibratedClassifier(models).fit(join(matrices), y)


def compare(matrices, y, size, seed):
    order = np.random.default_rng([zlib.crc32(next(iter(matrices)).encode()), seed]).permutation(len(y))
    own, other = order[-size:], order[: min(len(y) - size, 3000)]
    inside, outside = ({name: m[rows] for name, m in matrices.items()} for rows in (own, other))
    alone = [log_loss(Blend().fit(inside[name], y[own]).predict(outside[name]), y[other]) for name in matrices]
    mean = Blend().fit(mean_of_logs(inside), y[own]).predict(mean_of_logs(outside))
    several = fit_several(inside, y[own]).predict_proba(join(outside))
    return min(alone), log_loss(mean, y[other]), log_loss(several, y[other])


def compare_tables(groups):
    print("| group | models | classes | labels | best in hindsight | mean of logarithms | several |")
    for judging in (False, True):
        for size in SIZES:
            rows = []
            for matrices, y in groups:
                first = next(iter(matrices))
                if (first in DEVELOPMENT) == judging or len(y) < size + 700 or len(np.unique(y)) < 3:
                    continue
                found = [compare(matrices, y, size, seed) for seed in range(REPETITIONS)]
                rows.append(np.mean(found, axis=0))
                shape = f"{len(matrices)} | {matrices[first].shape[1]} | {size}"
                print(f"| {first} | {shape} | " + " | ".join(f"{loss:.4f}" for loss in rows[-1]) + " |", flush=True)
            mean = " | ".join(f"{loss:.4f}" for loss in np.mean(rows, axis=0))
            print(
                f"| **{'judging' if judging else 'development'}**, {len(rows)} groups | | | {size} | {mean} |",
                flush=True,
            )


def draw(kind, n, rng):
    """Three models of four classes, and the true probabilities given what they say."""
    parts = 1.2 * rng.standard_normal((3, n, 4))
    weights = {"all alike": (0.7, 0.7, 0.7), "one good": (1.2, 0.0, 0.0), "unequal": (1.0, 0.5, 0.2)}[kind]
    truth = softmax(np.tensordot(weights, parts, 1) + np.linspace(0.3, -0.3, 4), axis=1)
    y = (truth.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
    return {f"model {j}": softmax(part, axis=1) for j, part in enumerate(parts)}, y, truth


def simulate(repetitions):
    print("| truth | labels | best alone | mean of logarithms | several | coverage |")
    for kind in ("all alike", "one good", "unequal"):
        for size in (200, 1000, 4000):
            rows = []
            for repetition in range(repetitions):
                rng = np.random.default_rng([repetition, size])
                (inside, y, _), (outside, _, truth) = draw(kind, size, rng), draw(kind, 1000, rng)
                model = fit_several(inside, y)
                low, high = model.predict_interval(join(outside))
                alone = Blend().fit(inside["model 0"], y).predict(outside["model 0"])
                mean = Blend().fit(mean_of_logs(inside), y).predict(mean_of_logs(outside))
                found = (alone, mean, model.predict_proba(join(outside)))
                excess = [1000 * np.mean((truth * np.log(truth / p)).sum(axis=1)) for p in found]
                rows.append([*excess, np.mean((low <= truth) & (truth <= high))])
            *excess, held = np.mean(rows, axis=0)
            print(f"| {kind} | {size} | " + " | ".join(f"{e:.1f}" for e in excess) + f" | {held:.2f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="the matrices")
    parser.add_argument("--repetitions", type=int, default=6, help="of each simulated truth")
    options = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        simulate(options.repetitions)
        compare_tables(read_groups(options.folder))


if __name__ == "__main__":
    main()
