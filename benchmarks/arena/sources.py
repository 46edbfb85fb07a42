"""Where scores and labels come from: simulations, scikit-learn's own sets, held-out tables, folders of tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import expit

from benchmarks.arena import heldout, trained
from benchmarks.papers import planes
from calibrant import simulate

__all__ = ["Split", "Task", "folder", "heldout_tables", "simulations", "sklearn_sets"]

TEST_ROWS = 6000
SIMULATED_TEST_ROWS = 20000
FEWEST_TEST_ROWS = 100


@dataclass(frozen=True)
class Split:
    """Rows to calibrate on and rows to judge on; `expected` are the labels, or their true probabilities if known."""

    scores: np.ndarray
    labels: np.ndarray
    test_scores: np.ndarray
    expected: np.ndarray
    truth_known: bool = False


@dataclass(frozen=True)
class Task:
    """A named source of rows; `open` prepares it once and returns what draws a split for (n, rep)."""

    name: str
    open: Callable[[], Callable[[int, int], Split]]


def folder(path: Path) -> Iterator[Task]:
    """Tables (score, label) as Parquet or CSV; INDEX.csv (task, space) says which hold decision scores."""
    index = path / "INDEX.csv"
    spaces = pd.read_csv(index).set_index("task")["space"].to_dict() if index.exists() else {}
    for file in sorted([*path.glob("*.parquet"), *path.glob("*.csv")]):
        if file != index:
            yield Task(file.stem, partial(_open_table, file, spaces.get(file.stem, "probability")))


def simulations() -> Iterator[Task]:
    """Simulations whose truth is known: losses there are expectations under the truth of each score."""
    for draw in (simulate.bayes_iso, planes.circular, planes.separable, planes.xor):
        yield Task(f"sim.{draw.__name__}", partial(_open_simulation, draw))
    for name in simulate.TRUTHS:
        yield Task(f"sim.{name}", partial(_open_simulation, partial(simulate.from_truth, name)))


def sklearn_sets() -> Iterator[Task]:
    """scikit-learn's own data sets, each with ten learners."""
    for data in trained.SETS:
        for learner in trained.LEARNERS:
            yield Task(f"sklearn.{data}_{learner}", partial(_open_learner, data, learner))


def heldout_tables() -> Iterator[Task]:
    """The tables of the protocol in heldout.md, each with its learners."""
    for name, source in heldout.sources().iterrows():
        for learner in heldout.LEARNERS:
            yield Task(f"heldout_{name}_{learner}", partial(_open_heldout, source, learner))


def chosen(tasks: Iterator[Task], patterns: list[str]) -> list[Task]:
    """Those whose name fits one of the patterns; all without patterns."""
    return [task for task in tasks if not patterns or any(fnmatch(task.name, pattern) for pattern in patterns)]


def _open_table(file: Path, space: str) -> Callable[[int, int], Split]:
    table = pd.read_parquet(file) if file.suffix == ".parquet" else pd.read_csv(file)
    scores, labels = table["score"].to_numpy(float), table["label"].to_numpy(int)
    return partial(permuted, expit(scores) if space == "decision" else scores, labels)


def _open_learner(data: str, learner: str) -> Callable[[int, int], Split]:
    return partial(permuted, *trained.scored_rows(data, learner))


def _open_heldout(source: pd.Series, learner: str) -> Callable[[int, int], Split]:
    return partial(permuted, *heldout.scored_rows(source, learner), fewest=heldout.FEWEST_TEST_ROWS)


def _open_simulation(draw: Callable[..., simulate.Simulation]) -> Callable[[int, int], Split]:
    def split(n: int, rep: int) -> Split:
        # One draw for both: some simulations train a model first, and another seed would be another model.
        data = draw(n + SIMULATED_TEST_ROWS, rng=rep)
        return Split(data.scores[:n], data.labels[:n], data.scores[n:], data.probabilities[n:], truth_known=True)

    return split


def permuted(scores: np.ndarray, labels: np.ndarray, n: int, rep: int, fewest: int = FEWEST_TEST_ROWS) -> Split:
    """The first n of the permuted rows to calibrate on, the next 6000 to judge on."""
    if len(scores) < n + fewest:
        raise ValueError(f"{len(scores)} rows are too few for n = {n}")
    order = np.random.default_rng(rep).permutation(len(scores))
    fit, test = order[:n], order[n : n + TEST_ROWS]
    return Split(scores[fit], labels[fit], scores[test], labels[test])
