"""Tables of our arenas in the form of CalArena's files, so that its own runner can be run on them.

    python -m benchmarks.calarena.tables --scores FOLDER --classes FOLDER --out calibration_benchmarks

writes `arena-binary.h5` and `arena-multiclass.h5` with `{dataset}/{model}/` → `probas_cal, labels_cal, probas_test,
labels_test`, and beside each the index `…-experiments.csv`. The name of a table ends in its learner. Half of the rows,
but at most 5000, are for calibration, and at most 6000 others for the test. Needs h5py, which CalArena needs too.
"""

from __future__ import annotations

import argparse
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import expit

CALIBRATION_ROWS, TEST_ROWS = 5000, 6000


def read_scores(folder: Path) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Name, probability of the positive class and labels of each table of the two-class arena."""
    for row in pd.read_csv(folder / "INDEX.csv").itertuples():
        table = pd.read_parquet(folder / f"{row.task}.parquet")
        scores = table["score"].to_numpy(float)
        yield str(row.task), expit(scores) if row.space == "decision" else scores, table["label"].to_numpy(int)


def read_classes(folder: Path) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Name, probabilities of the classes and labels of each table of the several-class arena."""
    for row in pd.read_csv(folder / "INDEX.csv").itertuples():
        with np.load(folder / f"{row.task}.npz") as data:
            p = np.exp(data["logp"].astype(float))
            yield str(row.task), p / p.sum(axis=1, keepdims=True), data["y"].astype(int)


def write_benchmark(tables: Iterator[tuple[str, np.ndarray, np.ndarray]], name: str, out: Path) -> int:
    """One HDF5 file and its index; the number of tables in them."""
    import h5py

    index = []
    with h5py.File(out / f"{name}.h5", "w") as file:
        for task, p, y in tables:
            dataset, _, model = task.rpartition("_")
            order = np.random.default_rng(zlib.crc32(task.encode())).permutation(len(y))
            n = min(len(y) // 2, CALIBRATION_ROWS)
            parts = {"cal": order[:n], "test": order[n : n + TEST_ROWS]}
            group = file.create_group(f"{dataset}/{model}")
            for part, rows in parts.items():
                group[f"probas_{part}"], group[f"labels_{part}"] = p[rows], y[rows]
            sizes = {f"{part}_size": len(rows) for part, rows in parts.items()}
            index.append({"dataset": dataset, "model": model, **sizes})
    pd.DataFrame(index).to_csv(out / f"{name}-experiments.csv", index=False)
    return len(index)


def main() -> None:
    """Write both benchmarks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scores", type=Path, required=True)
    parser.add_argument("--classes", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name, tables in {
        "arena-binary": read_scores(arguments.scores),
        "arena-multiclass": read_classes(arguments.classes),
    }.items():
        print(f"{name}: {write_benchmark(tables, name, arguments.out)} tables")


if __name__ == "__main__":
    main()
