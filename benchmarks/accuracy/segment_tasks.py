"""Tables with segments, their calibration and test rows, and the worst gap; without calibrant, so that peers share it.

Calibration rows are `default_rng(repeat).permutation(rows)[:n]`, test rows the next 6000.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

__all__ = ["Task", "add_options", "generate", "tasks", "worst_gap"]

TEST_ROWS = 6000
FEWEST_TEST_ROWS = 500
KINDS = ("no difference", "shifts", "slopes", "pairs", "one odd")


class Task(NamedTuple):
    """Calibration and test rows of one repetition."""

    table: str
    keys: list[str]
    rows: int
    repeat: int
    train: pd.DataFrame
    test: pd.DataFrame
    key_names: str

    @property
    def place(self) -> tuple[str, str, int, int]:
        """What tells one task from another."""
        return self.table, self.key_names, self.rows, self.repeat

    @property
    def first_key(self) -> str:
        """The first key that has more than one segment."""
        return next((key for key in self.keys if self.train[key].nunique() > 1), self.keys[0])


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options that say which tasks to run."""
    parser.add_argument("folder", type=Path, nargs="?", help="of parquet files; without it tables are generated")
    parser.add_argument("--tables", nargs="*", default=[])
    parser.add_argument("--sizes", nargs="*", type=int, default=[500, 2000, 8000])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--first-repeat", type=int, default=0)
    parser.add_argument("--single", action="store_true", help="each key alone in place of all at once")


def tasks(options: argparse.Namespace) -> Iterator[Task]:
    """All repetitions of each table, choice of keys and size, in this order."""
    for table, frame in _tables(options.folder, options.tables):
        frame["score"] = frame["score"].astype(float)
        keys = [name for name in frame.columns if name not in {"score", "label"}]
        frame[keys] = frame[keys].astype(str)
        many = [key for key in keys if frame[key].nunique() > 1]
        chosen = {key: [key] for key in many} if options.single else {"all keys": keys}
        for name, members in chosen.items():
            for n in options.sizes:
                for repeat in range(options.first_repeat, options.first_repeat + options.repeats):
                    order = np.random.default_rng(repeat).permutation(len(frame))
                    train, test = frame.iloc[order[:n]], frame.iloc[order[n : n + TEST_ROWS]]
                    if len(test) >= FEWEST_TEST_ROWS:
                        yield Task(table, members, n, repeat, train, test, name)


def _tables(folder: Path | None, only: list[str]) -> Iterator[tuple[str, pd.DataFrame]]:
    """The tables of a folder, or those that are generated."""
    paths = {} if folder is None else {path.stem: path for path in sorted(folder.glob("*.parquet"))}
    for name in KINDS if folder is None else paths:
        if not only or name in only:
            yield name, generate(name) if folder is None else pd.read_parquet(paths[name])


def generate(kind: str, rows: int = 20_000) -> pd.DataFrame:
    """Scores that are too bold, with two keys of 30 and 4 segments of uneven sizes, and their effects."""
    rng = np.random.default_rng([7, KINDS.index(kind)])
    sizes = rng.dirichlet(np.full(30, 0.7))
    a, b = rng.choice(30, rows, p=sizes), rng.choice(4, rows, p=[0.5, 0.3, 0.15, 0.05])
    z = rng.normal(-0.5, 1.5, rows)
    logits = 0.8 * z
    if kind == "shifts":
        logits = logits + rng.normal(0.0, 0.5, 30)[a] + rng.normal(0.0, 0.3, 4)[b]
    elif kind == "slopes":
        logits = logits * np.exp(rng.normal(0.0, 0.4, 30))[a]
    elif kind == "pairs":
        logits = logits + rng.normal(0.0, 0.7, (30, 4))[a, b]
    elif kind == "one odd":
        logits = logits + np.where(a == np.argsort(sizes)[-3], 2.0, 0.0)
    label = rng.random(rows) < 1.0 / (1.0 + np.exp(-logits))
    score = 1.0 / (1.0 + np.exp(-z))
    return pd.DataFrame({"score": score, "label": label.astype(int), "a": a.astype(str), "b": b.astype(str)})


def worst_gap(task: Task, p: Any) -> float:
    """The largest standardised gap between outcomes and predictions over the segments of the first key."""
    gaps = pd.DataFrame({"gap": task.test["label"] - p, "variance": p * (1.0 - p)})
    total = gaps.groupby(task.test[task.first_key].to_numpy()).sum()
    return float(np.sqrt(np.max(total["gap"] ** 2 / total["variance"])))
