"""The tally against a plain argsort, evaluating a map against numpy's own lookup, and the cost of importing."""

from __future__ import annotations

import subprocess
import sys

import numpy as np

from benchmarks.timing import compare
from calibrant import CalibrationMap, Tally
from calibrant.maps.functions import Linear, Step

N_ROWS = 10**6


def tally() -> None:
    rng = np.random.default_rng(0)
    scores = rng.random(N_ROWS)
    labels = rng.random(N_ROWS) < scores
    weights = rng.random(N_ROWS)
    for title, column in (
        ("distinct probabilities", scores),
        ("half of them tied", scores.round(6)),
        ("decision scores", 8 * (scores - 0.5)),
        ("probabilities rounded to 3 digits", scores.round(3)),
    ):
        compare(
            f"Tally of {N_ROWS:,} rows, {title}",
            ("np.argsort", lambda column=column: np.argsort(column)),
            {"Tally.from_arrays": (lambda column=column: Tally.from_arrays(column, labels), 1.5)},
            rounds=9,
        )
    compare(
        f"Tally of {N_ROWS:,} weighted rows",
        ("np.argsort", lambda: np.argsort(scores)),
        {"Tally.from_arrays": (lambda: Tally.from_arrays(scores, labels, weights), None)},
        rounds=9,
    )


def evaluation() -> None:
    rng = np.random.default_rng(1)
    scores = rng.random(N_ROWS)
    for knots in (20, 200, 2000):
        x = np.sort(rng.random(knots))
        y = np.sort(rng.random(knots))
        linear = CalibrationMap(Linear(x, y), "probability", True)
        compare(
            f"Straight lines through {knots} knots at {N_ROWS:,} scores",
            ("np.interp", lambda x=x, y=y: np.interp(scores, x, y)),
            {"CalibrationMap": (lambda linear=linear: linear(scores), 1.3)},
            rounds=9,
        )
        step = CalibrationMap(Step(x[1:], y), "probability", True)
        compare(
            f"Steps at {knots} knots at {N_ROWS:,} scores",
            ("np.searchsorted", lambda x=x: np.searchsorted(x[1:], scores)),
            {"CalibrationMap": (lambda step=step: step(scores), 1.3)},
            rounds=9,
        )


def importing() -> None:
    def run(statement: str) -> None:
        subprocess.run([sys.executable, "-c", statement], check=True)

    ratios = compare(
        "Importing",
        ("import sklearn", lambda: run("import sklearn")),
        {
            "import calibrant": (
                lambda: run("import sklearn, calibrant; calibrant.Tally; calibrant.IsotonicCalibration"),
                None,
            )
        },
    )
    print(f"  (the promise is at most 0.1 s more; a ratio of {ratios['import calibrant']:.3f})")


def main() -> None:
    tally()
    evaluation()
    importing()


if __name__ == "__main__":
    main()
