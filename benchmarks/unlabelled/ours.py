"""Blend's answers, and those of counting the labels.

python -m benchmarks.unlabelled.ours FOLDER --out ours.csv
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from benchmarks.unlabelled import splits
from benchmarks.unlabelled.splits import LEVEL, THRESHOLD, WHAT, Answer, Run, Z
from calibrant import Blend
from calibrant._numerics.links import expit, logit
from calibrant.estimates import estimate_several

NOTHING = (np.nan, np.nan, np.nan)


def count_labels(run: Run) -> dict[str, Answer]:
    """Wilson's interval for shares, DeLong's on the logit scale for the area, both for rows yet to be seen."""
    called = run.scores >= THRESHOLD
    wider = np.sqrt(1.0 + run.n / len(run.hidden_scores))
    value, error = splits.area(run.scores, run.labels)
    area = NOTHING
    if 0.0 < value < 1.0 and error > 0.0:
        reach = splits.Z * wider * error / (value * (1.0 - value))
        low, high = expit(logit(np.array(value)) + reach * np.array([-1.0, 1.0]))
        area = (value, float(low), float(high))
    return {
        "mean": _wilson(run.labels, wider),
        "accuracy": _wilson(called == (run.labels == 1), wider),
        "precision": _wilson(run.labels[called], wider),
        "auc": area,
    }


def _wilson(hits: np.ndarray, wider: float) -> Answer:
    if len(hits) == 0:
        return NOTHING
    n, p = len(hits), float(np.mean(hits))
    centre, scale = (p + Z * Z / (2 * n)) / (1 + Z * Z / n), 1 + Z * Z / n
    half = wider * Z / scale * np.sqrt(p * (1 - p) / n + Z * Z / (4 * n * n))
    return p, centre - half, centre + half


def ask_blend(run: Run) -> dict[str, Answer]:
    blend = Blend().fit(run.scores, run.labels)
    asked = [what for what in WHAT if what != "precision" or (run.hidden_scores >= THRESHOLD).any()]
    answers = estimate_several(blend, run.hidden_scores, asked, target="scores", level=LEVEL)
    return {what: (answer.value, answer.low, answer.high) for what, answer in answers.items()}


def answer(run: Run) -> dict[str, Answer]:
    return {f"{name}/{what}": numbers for name, ask in METHODS.items() for what, numbers in ask(run).items()}


METHODS = {"counting labels": count_labels, "calibrant": ask_blend}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--reps", type=int, default=20)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(splits.SIZES))
    parser.add_argument("--development", action="store_true", help="the tables that served the development")
    options = parser.parse_args()
    patterns = splits.DEVELOPMENT if options.development else splits.JUDGED
    splits.write(options.out, "", splits.runs(options.folder, patterns, tuple(options.sizes), options.reps), answer)


if __name__ == "__main__":
    main()
