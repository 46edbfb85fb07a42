"""Time to fit score matrices: `MatrixBlend` against structured matrix scaling of `probmetrics`, in one run.

    python -m benchmarks.peers.several_classes [--sizes 10000x10 10000x100 50000x1000] [--rounds 3]

Times are of the processor, so that other work on the machine does not count; set OMP_NUM_THREADS=1 for a fair ratio.
Below 1 calibrant is faster. Both are judged on other rows, so that the ratio cannot be bought with accuracy. Without
`probmetrics` only calibrant is timed.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from importlib.util import find_spec

import numpy as np

from calibrant import MatrixBlend
from calibrant.metrics import log_loss

SIZES = ("10000x10", "10000x100", "50000x1000")
TEST_ROWS = 2000

Predict = Callable[[np.ndarray], np.ndarray]


def draw(n: int, n_classes: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Class probabilities that are too extreme and too fond of some classes, and labels."""
    fondness = np.random.default_rng(n_classes).normal(0.0, 0.3, n_classes)  # the same whatever the rows
    rng = np.random.default_rng([n, n_classes, seed])
    y = rng.integers(0, n_classes, n)
    logits = rng.normal(size=(n, n_classes))
    logits[np.arange(n), y] += 2.0 + 0.5 * np.log(n_classes)
    logits = 1.7 * logits + fondness
    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    return odds / odds.sum(axis=1, keepdims=True), y


def fit_blend(p: np.ndarray, y: np.ndarray) -> Predict:
    return MatrixBlend().fit(p, y).predict_proba


def fit_sms(p: np.ndarray, y: np.ndarray) -> Predict:
    from probmetrics.calibrators import get_calibrator

    calibrator = get_calibrator("sms")
    calibrator.fit(p, y)
    return calibrator.predict_proba


def measure(n: int, n_classes: int, rounds: int) -> None:
    """Print the best processor time of each, its log-loss on other rows, and the ratio."""
    (p, y), (test, labels) = draw(n, n_classes), draw(TEST_ROWS, n_classes, seed=1)
    rivals = {"calibrant MatrixBlend": fit_blend} | ({"probmetrics SMS": fit_sms} if find_spec("probmetrics") else {})
    best, losses = dict.fromkeys(rivals, float("inf")), {}
    for _ in range(rounds):
        for name, fit in rivals.items():
            start = time.process_time()
            predict = fit(p, y)
            best[name] = min(best[name], time.process_time() - start)
            losses[name] = log_loss(labels, np.asarray(predict(test)))
    print(f"{n} rows, {n_classes} classes; log-loss before {log_loss(labels, test):.4f}")
    for name, seconds in best.items():
        print(f"  {name:<22} {seconds:8.2f} s   log-loss {losses[name]:.4f}")
    if len(best) == 2:
        ours, theirs = best.values()
        print(f"  ratio {ours / theirs:.3f}", flush=True)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", nargs="+", default=list(SIZES), help="rows x classes")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args(arguments)
    for size in options.sizes:
        measure(*map(int, size.split("x")), options.rounds)


if __name__ == "__main__":
    main()
