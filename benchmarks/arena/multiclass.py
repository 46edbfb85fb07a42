"""The arena of several classes: score matrices, the rows to fit and to judge on, our methods, and the command line.

    python -m benchmarks.arena.multiclass run --data FOLDER --out rows.csv
    python -m benchmarks.arena.multiclass summary rows.csv --data FOLDER
    python -m benchmarks.arena.multiclass summary rows.csv --data FOLDER --peers-csv champions_multiclass.csv
    python -m benchmarks.arena.multiclass picture rows.csv --data FOLDER --n 1000 --out ranks.png

FOLDER holds a `<task>.npz` for each line of its INDEX.csv (task, source, K): `logp` (n, K), where −inf is an exact
zero, and `y` (n,). Its `peers.csv` holds what other libraries reached on the same rows.
"""

from __future__ import annotations

import argparse
import csv
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.arena import multiclass_summary
from benchmarks.arena.champions import CHAMPIONS
from benchmarks.arena.h_calibration import HCalibration
from benchmarks.arena.methods import chosen, foreign_class
from calibrant.calibrators import registry
from calibrant.multiclass.blend import MatrixBlend
from calibrant.multiclass.dirichlet import DirichletCalibration
from calibrant.multiclass.scaling import MatrixScaling, VectorScaling

__all__ = ["METHODS", "Split", "Table", "measure", "run", "tables"]

SIZES = (200, 1000, 5000)
FEWEST_TEST_ROWS, TEST_ROWS = 700, 4000
CLIP = 1e-7
WIDEST_MATRIX = 50  # classes for which a full matrix is worth its time
COLUMNS = ("task", "K", "N", "seed", "method", "log_loss", "brier", "accuracy", "seconds", "error")
METHODS: dict[str, Callable[[], Any]] = {
    "calibrant.matrix_blend": MatrixBlend,
    "calibrant.vector_scaling": VectorScaling,
    "calibrant.matrix_scaling": MatrixScaling,
    "calibrant.dirichlet": DirichletCalibration,
    "calibrant.dirichlet_odir": lambda: DirichletCalibration(regularisation="odir"),
    multiclass_summary.RAW: lambda: registry.create("identity", "matrix"),
    **CHAMPIONS,
    "h_calibration.temperatures": HCalibration,
}


@dataclass(frozen=True)
class Split:
    """Rows to calibrate on and rows to judge on."""

    scores: np.ndarray
    labels: np.ndarray
    test_scores: np.ndarray
    test_labels: np.ndarray


@dataclass(frozen=True)
class Table:
    """A score matrix on disk."""

    task: str
    path: Path
    n_classes: int

    def splits(self, sizes: tuple[int, ...], seeds: tuple[int, ...]) -> Iterator[tuple[int, int, Split]]:
        """(N, seed, rows) for each size that leaves enough rows to judge on."""
        with np.load(self.path) as data:
            p, y = np.exp(data["logp"].astype(np.float64)), data["y"].astype(int)
        p /= p.sum(axis=1, keepdims=True)
        for n in sizes:
            for seed in seeds if len(y) >= n + FEWEST_TEST_ROWS else ():
                order = np.random.default_rng([zlib.crc32(self.task.encode()), seed]).permutation(len(y))
                fit, test = order[-n:], order[: min(len(y) - n, TEST_ROWS)]
                yield n, seed, Split(p[fit], y[fit], p[test], y[test])


def tables(folder: Path, patterns: list[str]) -> list[Table]:
    """The tables of a folder whose names fit one of the patterns; all without patterns."""
    index = pd.read_csv(folder / "INDEX.csv")
    return [
        Table(row.task, folder / f"{row.task}.npz", int(row.K))
        for row in index.itertuples()
        if not patterns or any(fnmatch(row.task, pattern) for pattern in patterns)
    ]


def measure(p: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """Log-loss of probabilities clipped at 1e-7, Brier score summed over classes, and accuracy."""
    at = np.arange(len(y))
    brier = (p**2).sum(axis=1) - 2.0 * p[at, y] + 1.0
    return {
        "log_loss": float(-np.log(np.clip(p[at, y], CLIP, 1.0)).mean()),
        "brier": float(brier.mean()),
        "accuracy": float((p.argmax(axis=1) == y).mean()),
    }


def run(
    wanted: list[Table],
    methods: dict[str, Callable[[], Any]],
    sizes: tuple[int, ...],
    seeds: tuple[int, ...],
    out: Path,
) -> None:
    """Append a line for each (task, N, seed, method) that the file does not hold yet."""
    done = set()
    if out.exists():
        held = pd.read_csv(out)
        done = set(zip(held["task"], held["N"], held["seed"], held["method"], strict=True))
    with out.open("a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        if not done:
            writer.writeheader()
        for table in wanted:
            names = [m for m in methods if table.n_classes <= WIDEST_MATRIX or not _has_full_matrix(m)]
            if all((table.task, n, seed, m) in done for n in sizes for seed in seeds for m in names):
                continue
            for n, seed, split in table.splits(sizes, seeds):
                for name in (m for m in names if (table.task, n, seed, m) not in done):
                    line = {"task": table.task, "K": table.n_classes, "N": n, "seed": seed, "method": name}
                    writer.writerow(line | _judged(methods[name], split))
                    file.flush()


def _has_full_matrix(name: str) -> bool:
    return any(word in name for word in ("matrix_scaling", "dirichlet"))


def _judged(make: Callable[[], Any], split: Split) -> dict[str, Any]:
    begin = time.perf_counter()
    try:
        predicted = make().fit(split.scores, split.labels).predict_proba(split.test_scores)
    except Exception as error:  # a method that fails is a result
        return {"error": repr(error)}
    return measure(predicted, split.test_labels) | {"seconds": round(time.perf_counter() - begin, 4)}


def _maker(name: str) -> Callable[[], Any]:
    return foreign_class(name) if ":" in name else METHODS[name]


def _run(options: argparse.Namespace) -> None:
    methods = {name: _maker(name) for name in chosen(options.methods, METHODS)}
    run(tables(options.data, options.tasks), methods, tuple(options.sizes), tuple(options.seeds), options.out)


def _read(options: argparse.Namespace) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Our rows and those of the recorded peers, without failures."""
    rows = pd.concat([pd.read_csv(file) for file in options.rows], ignore_index=True)
    peers = [file for file in (options.data / "peers.csv", *options.peers_csv) if Path(file).exists()]
    recorded = pd.concat([rows.iloc[:0], *map(pd.read_csv, peers)])
    return rows[rows["error"].isna()] if "error" in rows else rows, recorded


def _picture(options: argparse.Namespace) -> None:
    from benchmarks.arena import picture, summary

    rows, recorded = _read(options)
    table = multiclass_summary.loss_table(pd.concat((recorded, rows[rows["seed"] == 0])), options.loss)
    # Ranks compare only methods that were run on every table.
    result = summary.rank(table.xs(options.n, level="N").dropna(axis=1))
    name = {"log_loss": "log-loss", "brier": "Brier score"}[options.loss]
    picture.draw(result, f"{name} on {result.n_tasks} tables, calibrated on {options.n} rows", options.out)


def _summary(options: argparse.Namespace) -> None:
    index = pd.read_csv(options.data / "INDEX.csv").set_index("task")
    rows, recorded = _read(options)
    for loss in multiclass_summary.LOSSES:
        for title, table in multiclass_summary.report(rows, recorded, index, loss).items():
            print(f"\n{loss}: {title}\n{table.to_string()}")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.arena.multiclass", description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)
    running = commands.add_parser("run", help="append rows to a CSV file, skipping those that it holds")
    running.add_argument("--data", type=Path, required=True)
    running.add_argument("--out", type=Path, required=True)
    running.add_argument("--tasks", nargs="*", default=[], help="patterns of task names")
    running.add_argument("--methods", nargs="*", default=[], help="patterns of method names")
    running.add_argument("--sizes", nargs="+", type=int, default=list(SIZES))
    running.add_argument("--seeds", nargs="+", type=int, default=[0], help="0 are the rows of the recorded peers")
    running.set_defaults(act=_run)
    show = commands.add_parser("summary", help="excess, win-rates and harm by N and by number of classes")
    show.add_argument("rows", nargs="+", help="CSV files of `run`")
    show.add_argument("--data", type=Path, required=True)
    show.add_argument("--peers-csv", nargs="*", default=[], help="more recorded peers, such as the champions")
    show.set_defaults(act=_summary)
    drawing = commands.add_parser("picture", help="average ranks with their critical difference")
    drawing.add_argument("rows", nargs="+", help="CSV files of `run`")
    drawing.add_argument("--data", type=Path, required=True)
    drawing.add_argument("--peers-csv", nargs="*", default=[], help="more recorded peers")
    drawing.add_argument("--loss", choices=multiclass_summary.LOSSES, default="log_loss")
    drawing.add_argument("--n", type=int, default=1000)
    drawing.add_argument("--out", type=Path, required=True)
    drawing.set_defaults(act=_picture)
    options = parser.parse_args(arguments)
    options.act(options)


if __name__ == "__main__":
    main()
