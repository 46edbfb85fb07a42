"""Other packages' calibrators for segments, on the same rows as `benchmarks.accuracy.segments`, which reads the result.

python -m benchmarks.peers.segments FOLDER --out peers.csv [--single] [--bound 1e-5] [--tables …] [--sizes …]
python -m benchmarks.accuracy.segments FOLDER --peers peers.csv [--single]

It runs in an environment of its own, `pip install mcgrad probcal pandas pyarrow`; calibrant is not needed. FOLDER and
the other options are those of `benchmarks.accuracy.segments`; without a folder the tables are generated. Both packages
run with their defaults. mcgrad takes all keys of a task, probcal one, the first that has two segments. mcgrad works
with logits, so scores are held within `--bound` and 1 minus it. Rows that are in the file already are not run again, so
that a run can be taken up, and tables that want another bound can be run before the others.
"""

from __future__ import annotations

import argparse
import csv
import logging
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.accuracy.segment_tasks import Task, add_options, tasks, worst_gap

COLUMNS = ("table", "keys", "rows", "repeat", "method", "log_loss", "worst")
EPSILON = float(np.finfo(float).eps)  # as in calibrant's log-loss, which keeps it finite


def predict_mcgrad(train: pd.DataFrame, test: pd.DataFrame, task: Task) -> np.ndarray:
    from mcgrad.methods import MCGrad

    columns = {"prediction_column_name": "score", "categorical_feature_column_names": task.keys}
    model = MCGrad().fit(df_train=train, label_column_name="label", **columns)
    return np.asarray(model.predict(df=test, **columns))


def predict_probcal(train: pd.DataFrame, test: pd.DataFrame, task: Task) -> np.ndarray:
    from probcal.segmented import SegmentedCalibrator

    scores, labels, segments = (train[name].to_numpy() for name in ("score", "label", task.first_key))
    model = SegmentedCalibrator().fit(scores, labels, segments=segments)
    return np.asarray(model.predict_proba(test["score"].to_numpy(), segments=test[task.first_key].to_numpy()))


METHODS: dict[str, Callable[[pd.DataFrame, pd.DataFrame, Task], np.ndarray]] = {
    "mcgrad": predict_mcgrad,
    "probcal": predict_probcal,
}


def judge(method: str, task: Task, bound: float) -> tuple[float, float]:
    """Log-loss and worst gap on the test rows."""
    train, test = (
        rows.assign(score=rows["score"].clip(bound, 1.0 - bound)).reset_index(drop=True)
        for rows in (task.train, task.test)
    )
    p = np.clip(METHODS[method](train, test, task), EPSILON, 1.0 - EPSILON)
    happened = np.where(task.test["label"] == 1, p, 1.0 - p)
    return float(-np.mean(np.log(happened))), worst_gap(task, p)


def read_done(path: Path) -> set[tuple[str, ...]]:
    """What the file has already: table, keys, rows, repeat and method of each line."""
    if not path.exists():
        path.write_text(",".join(COLUMNS) + "\n", encoding="utf-8")
    with path.open(encoding="utf-8", newline="") as file:
        return {tuple(line[name] for name in COLUMNS[:5]) for line in csv.DictReader(file)}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_options(parser)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--bound", type=float, default=1e-5)
    parser.add_argument("--methods", nargs="*", default=list(METHODS), choices=METHODS)
    options = parser.parse_args(arguments)
    done = read_done(options.out)
    with options.out.open("a", encoding="utf-8", newline="", buffering=1) as file:
        lines = csv.writer(file)
        for task in tasks(options):
            for method in options.methods:
                place = (*map(str, task.place), method)
                if place not in done:
                    lines.writerow((*place, *judge(method, task, options.bound)))


if __name__ == "__main__":
    warnings.filterwarnings("ignore")  # both packages have much to say about each fit
    logging.disable(logging.CRITICAL)
    main()
