"""Data × method × size × repetition → rows of a CSV file, in parallel, and resumed where it was left."""

from __future__ import annotations

import csv
import io
import os
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed, parallel_config

from benchmarks.arena.methods import find
from benchmarks.arena.sources import Split, Task
from calibrant import simulate

__all__ = ["COLUMNS", "Plan", "losses", "run"]

COLUMNS = ("task", "n", "rep", "method", "log_loss", "brier", "seconds", "error")
TRUTH = "ref.truth"  # on simulations, the loss of the true probabilities: nothing can be better
WARM_UP_ROWS = 400
# Predictions this near to 0 and 1 are judged as if they were this far. The recorded raw scores have exactly the losses
# of this value; rows made with another one cannot be joined with them.
CLIP = 1e-7
Key = tuple[str, int, int, str]
Row = dict[str, Any]


@dataclass(frozen=True)
class Plan:
    """What to run on each task; a method slower than `limit` seconds at one size is skipped at larger ones."""

    methods: list[str]
    sizes: list[int]
    reps: list[int]
    limit: float = float("inf")
    clip: float = CLIP

    def keys(self, task: str) -> list[Key]:
        """The rows that a task should have, small sizes first."""
        return [(task, n, rep, m) for n in sorted(self.sizes) for rep in self.reps for m in self.methods]


def run(tasks: list[Task], plan: Plan, out: Path, jobs: int = 1, retry: bool = False) -> None:
    """Run what `out` does not hold yet and append the rows of each task at once when it is done."""
    done = _done(out, retry)
    work = [(task, [key for key in plan.keys(task.name) if key not in done]) for task in tasks]
    work = [(task, keys) for task, keys in work if keys]
    with parallel_config(backend="loky", inner_max_num_threads=1):
        results = Parallel(n_jobs=jobs, return_as="generator_unordered")(
            delayed(run_task)(task, keys, plan) for task, keys in work
        )
        with _progress(len(work)) as advance:
            for rows in results:
                _append(out, rows)
                advance(rows[0]["task"])


def run_task(task: Task, keys: list[Key], plan: Plan) -> list[Row]:
    """All rows of one task; what goes wrong is a reason in a row, never an end of the run."""
    try:
        split = task.open()
    except Exception as error:
        return [_skip(key, _reason(error)) for key in keys]
    rows: list[Row] = []
    slow: dict[str, str] = {}
    for _, group in groupby(keys, key=lambda key: key[1:3]):
        rows += _run_size(split, list(group), slow, plan)
    return rows


def _run_size(split: Callable[[int, int], Split], keys: list[Key], slow: dict[str, str], plan: Plan) -> list[Row]:
    """The rows of one size and repetition; `slow` remembers the reason not to try a method at larger sizes."""
    task, n, rep, _ = keys[0]
    try:
        data = split(n, rep)
    except ValueError as error:
        return [_skip(key, f"skipped: {error}") for key in keys]
    except Exception as error:
        return [_skip(key, _reason(error)) for key in keys]
    rows = [_row((task, n, rep, TRUTH), *losses(data.expected, data.expected))] if data.truth_known else []
    for key in keys:
        method = key[3]
        if method in slow:
            rows.append(_skip(key, f"skipped: {slow[method]}"))
            continue
        row = contest(key, data, plan.clip)
        rows.append(row)
        if row["seconds"] and float(row["seconds"]) > plan.limit:
            slow[method] = f"{row['seconds']} s at n = {n}, the limit is {plan.limit:g} s"
    return rows


def contest(key: Key, data: Split, clip: float = CLIP) -> Row:
    """Fit one method, predict the test rows, and judge it; the seconds are those of both."""
    method = find(key[3])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            _warm_up(key[3])
            start = time.perf_counter()
            predicted = np.asarray(method(data.scores, data.labels, data.test_scores), dtype=float)
            seconds = time.perf_counter() - start
            if predicted.shape != data.test_scores.shape or not np.isfinite(predicted).all():
                return _skip(key, "predictions are not finite or not one for each row")
        except ImportError as error:
            return _skip(key, f"skipped: {error}")
        except Exception as error:
            return _skip(key, _reason(error))
    return _row(key, *losses(data.expected, predicted, clip), seconds)


def losses(expected: np.ndarray, predicted: np.ndarray, clip: float = CLIP) -> tuple[float, float]:
    """Log-loss and Brier score; with true probabilities in place of labels, their expectations."""
    p = np.clip(predicted, clip, 1.0 - clip)
    log_loss = -(expected * np.log(p) + (1.0 - expected) * np.log1p(-p)).mean()
    brier = (expected * (1.0 - predicted) ** 2 + (1.0 - expected) * predicted**2).mean()
    return float(log_loss), float(brier)


@cache
def _warm_up(method: str) -> None:
    """Compilation and imports do not count as time of a fit."""
    data = simulate.bayes_iso(WARM_UP_ROWS, rng=0)
    find(method)(data.scores, data.labels, data.scores)


def _row(key: Key, log_loss: float, brier: float, seconds: float = 0.0) -> Row:
    # Six decimals, as in recorded results, so that equal predictions tie.
    figures = (f"{log_loss:.6f}", f"{brier:.6f}", f"{seconds:.4f}")
    return dict(zip(COLUMNS, (*key, *figures, ""), strict=True))


def _skip(key: Key, reason: str) -> Row:
    return dict(zip(COLUMNS, (*key, "", "", "", reason), strict=True))


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0][:200]


def _key(row: Row) -> Key:
    return row["task"], int(row["n"]), int(row["rep"]), row["method"]


def _done(out: Path, retry: bool) -> set[Key]:
    """The rows that the file holds; with `retry` only those without an error. A torn last line is cut off."""
    if not out.exists():
        return set()
    whole = out.read_bytes()
    if not whole.endswith(b"\n"):
        os.truncate(out, whole.rfind(b"\n") + 1)
    with out.open(newline="", encoding="utf-8") as file:
        return {_key(row) for row in csv.DictReader(file) if not (retry and row["error"])}


def _append(out: Path, rows: Iterable[Row]) -> None:
    """Append the rows by one write, so that another reader never sees half a task."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    if not out.exists() or out.stat().st_size == 0:
        writer.writeheader()
    writer.writerows(rows)
    with out.open("ab", buffering=0) as file:
        file.write(text.getvalue().encode())
        os.fsync(file.fileno())


@contextmanager
def _progress(total: int) -> Iterator[Any]:
    """A bar where rich is installed, else a line for each task."""
    try:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
    except ImportError:
        count = iter(range(1, total + 1))
        yield lambda name: print(f"{next(count)}/{total} {name}", flush=True)
        return
    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), TextColumn("{task.description}"))
    with Progress(*columns) as bar:
        line = bar.add_task("starting", total=total)
        yield lambda name: bar.update(line, advance=1, description=name)
