"""The rows of every run: some labelled, up to 6000 others whose labels are hidden. Needs numpy and pandas alone."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

import numpy as np
import pandas as pd

SIZES = (50, 100, 250, 1000)
HIDDEN_ROWS, FEWEST_HIDDEN = 6000, 500
THRESHOLD = 0.5
LEVEL = 0.9
Z = 1.6448536269514722  # of a 90 % interval
#: Networks, language models, forecasts and a risk score; tables of other names served the development.
JUDGED = ("imagenet_*", "toplabel_*", "forecast_*", "llm_*", "compas_*")
DEVELOPMENT = ("2dplanes_*", "cal_housing_*", "letter_*", "adult_*", "house_16H_*")
WHAT = ("mean", "accuracy", "precision", "auc")

Answer = tuple[float, float, float]
Method = Callable[["Run"], dict[str, Answer]]


class Run(NamedTuple):
    """Labelled rows, and rows whose labels are hidden."""

    task: str
    n: int
    rep: int
    scores: np.ndarray
    labels: np.ndarray
    hidden_scores: np.ndarray
    hidden_labels: np.ndarray


def runs(
    folder: Path, patterns: tuple[str, ...], sizes: tuple[int, ...], reps: int, *, apart: bool = False
) -> Iterator[Run]:
    """Every run; `apart`, each table has draws of its own.

    Otherwise tables of equally many rows have the same: many are networks on the same images, so that all are lucky or
    unlucky together, and a share of intervals over tables is much less certain than its number of runs says.
    """
    files = sorted({file for pattern in patterns for file in folder.glob(f"{pattern}.parquet")})
    tables = {}
    for file in files:
        table = pd.read_parquet(file)
        scores, labels = table["score"].to_numpy(np.float64), table["label"].to_numpy(np.int64)
        if scores.min() >= 0.0 and scores.max() <= 1.0 and len(scores) >= max(SIZES) + FEWEST_HIDDEN:
            tables[file.stem] = scores, labels
    for rep, (task, (scores, labels)), n in product(range(reps), tables.items(), sizes):
        own_draws = [crc32(task.encode())] if apart else []
        order = np.random.default_rng([2024, rep, n, len(scores), *own_draws]).permutation(len(scores))
        own, hidden = order[:n], order[n : n + HIDDEN_ROWS]
        yield Run(task, n, rep, scores[own], labels[own], scores[hidden], labels[hidden])


def truths(scores: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    called = scores >= THRESHOLD
    return {
        "mean": labels.mean(),
        "accuracy": (called == (labels == 1)).mean(),
        "precision": labels[called].mean() if called.any() else np.nan,
        "auc": area(scores, labels)[0],
    }


def area(scores: np.ndarray, labels: np.ndarray) -> tuple[float, float]:
    """The area under the curve and its standard error, after DeLong."""
    positive, negative = np.sort(scores[labels == 1]), np.sort(scores[labels == 0])
    if min(len(positive), len(negative)) < 2:
        return np.nan, np.nan
    below = [np.searchsorted(negative, positive, side) for side in ("left", "right")]
    above = [np.searchsorted(positive, negative, side) for side in ("left", "right")]
    of_positive = (below[0] + below[1]) / (2 * len(negative))
    of_negative = 1.0 - (above[0] + above[1]) / (2 * len(positive))
    variance = of_positive.var(ddof=1) / len(positive) + of_negative.var(ddof=1) / len(negative)
    return float(of_positive.mean()), float(np.sqrt(variance))


def write(path: Path, method: str, every: Iterator[Run], answer: Method) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["method", "task", "n", "rep", "what", "value", "low", "high", "truth"])
        for run in every:
            known = truths(run.hidden_scores, run.hidden_labels)
            for what, numbers in answer(run).items():
                name, _, what_ = what.rpartition("/")
                writer.writerow([name or method, run.task, run.n, run.rep, what_, *numbers, known[what_]])
