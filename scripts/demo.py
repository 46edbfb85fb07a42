"""Train a classifier on a real data set, calibrate it with every method, compare, and draw the result."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

from calibrant import Tally, metrics
from calibrant.calibrators import registry
from calibrant.calibrators.base import Calibrator

PICTURE = Path("demo.png")


def scored_rows() -> tuple[Tally, Tally]:
    """Scores of naive Bayes on handwritten digits, "above four?": rows to calibrate with and rows to judge on."""
    X, y = load_digits(return_X_y=True)
    X_train, X_rest, y_train, y_rest = train_test_split(X, y > 4, train_size=0.3, random_state=0)
    scores = GaussianNB().fit(X_train, y_train).predict_proba(X_rest)[:, 1]
    half = len(scores) // 2
    return Tally.from_arrays(scores[:half], y_rest[:half]), Tally.from_arrays(scores[half:], y_rest[half:])


def judge(calibrator: Calibrator, calibration: Tally, test: Tally) -> tuple[list[float], float]:
    """Log-loss, Brier score and smooth calibration error on the test rows, and the seconds of the fit."""
    start = time.perf_counter()
    calibrator.fit_tally(calibration)
    seconds = time.perf_counter() - start
    after = test.rescored(calibrator.predict(test.scores))
    return [metrics.log_loss(after), metrics.brier_score(after), metrics.smooth_calibration_error(after)], seconds


def draw(fitted: dict[str, Calibrator], test: Tally) -> None:
    """Save the reliability diagram before calibration and after two of the methods."""
    import matplotlib as mpl

    mpl.use("Agg")
    from calibrant import ReliabilityDisplay
    from calibrant.reliability import reliability

    shown = {"raw score": "identity", "isotonic": "isotonic", "Platt scaling": "platt"}
    after = {label: test.rescored(fitted[name].predict(test.scores)) for label, name in shown.items()}
    display = ReliabilityDisplay([reliability(tally, name=label) for label, tally in after.items()]).plot()
    display.figure_.savefig(PICTURE, dpi=150)


def main() -> None:
    calibration, test = scored_rows()
    print("Naive Bayes on handwritten digits: is the digit above four?")
    print(f"{calibration.total:g} rows to calibrate with, {test.total:g} rows to judge on.\n")
    print(f"{'method':<14} {'log-loss':>9} {'Brier':>8} {'smECE':>8} {'fit ms':>8}")
    fitted = {name: registry.create(name) for name in registry.METHODS}
    results = {name: judge(calibrator, calibration, test) for name, calibrator in fitted.items()}
    for name, (values, seconds) in sorted(results.items(), key=lambda item: item[1][0][0]):
        note = "  ← before" if name == "identity" else ""
        print(f"{name:<14} {values[0]:9.4f} {values[1]:8.4f} {values[2]:8.4f} {1e3 * seconds:8.1f}{note}")
    draw(fitted, test)
    print(f"\nThe reliability diagram before and after is in {PICTURE}.")


if __name__ == "__main__":
    sys.exit(main())
