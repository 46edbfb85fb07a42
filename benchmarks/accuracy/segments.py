"""Segments: log-loss and worst-segment gap of partial pooling beside one pooled map and one map for each segment.

python -m benchmarks.accuracy.segments [FOLDER] [--sizes 500 2000 8000] [--repeats 5] [--single] [--peers peers.csv]

FOLDER holds tables `*.parquet` with the columns `score`, `label` and one column for each key; without it, tables are
generated whose segments differ in a known way: not at all, by shifts, by slopes, by pairs of keys, one oddly.
`--each` adds one Blend for each combination of all keys that has rows of both classes (slow). `--single` takes each key
alone in place of all at once. `--peers` adds other packages from a file that `benchmarks.peers.segments` wrote.
Figures are log-loss minus that of the pooled Blend, × 1000; `worst` is the largest standardised gap between outcomes
and predictions over the segments of the first key: 2 to 3 by chance, the more the more segments there are. Errors are
standard errors over the repetitions.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
from collections import defaultdict
from itertools import groupby
from pathlib import Path

import numpy as np

from benchmarks.accuracy.segment_tasks import Task, add_options, tasks, worst_gap
from calibrant import Blend, CalibrationMap, Tally, load, metrics
from calibrant._typing import Floats
from calibrant.segments.calibrator import SegmentedCalibrator

CACHE: Path | None = None

Losses = dict[str, tuple[float, float]]  # log-loss and worst gap of each method
Cell = tuple[str, str, int]  # table, keys and rows


class CachedBlend(Blend):
    """Blend whose map is kept in a folder, because the same pooled map is needed again and again."""

    bayesian = False

    def fit_map(self, tally: Tally) -> CalibrationMap:
        """The map from the folder, or fitted and put there."""
        if CACHE is None:
            return super().fit_map(tally)
        content = b"".join(column.tobytes() for column in (tally.scores, tally.positives, tally.totals))
        path = CACHE / f"{hashlib.sha256(content).hexdigest()[:24]}.json"
        if not path.exists():
            super().fit_map(tally).save(path)
        return load(path)

    def sample_maps(self, scores: Floats, n_draws: int = 100, random_state: object = 0) -> Floats:  # type: ignore[override]  # noqa: ARG002
        """Only the mean is looked at here."""
        return np.tile(self.predict(scores), (n_draws, 1))


def one_each(task: Task, pooled: Floats) -> Floats:
    """A Blend for each combination of the keys with rows of both classes; the pooled map elsewhere."""
    out = pooled.copy()
    for segment, rows in task.train.groupby(task.keys):
        inside = (task.test[task.keys] == list(segment)).all(axis=1).to_numpy()
        if rows["label"].nunique() == 2 and inside.any():
            out[inside] = CachedBlend().fit(rows["score"], rows["label"]).predict(task.test["score"][inside])
    return out


def judge(task: Task, *, each: bool) -> Losses:
    pooled = CachedBlend().fit(task.train["score"], task.train["label"]).predict(task.test["score"])
    calibrator = SegmentedCalibrator(CachedBlend())
    calibrator.fit(task.train["score"], task.train["label"], segment=task.train[task.keys])
    segmented = calibrator.predict(task.test["score"], segment=task.test[task.keys])
    predictions = {"pooled": pooled, "segmented": segmented} | ({"one each": one_each(task, pooled)} if each else {})
    return {name: (metrics.log_loss(task.test["label"], p), worst_gap(task, p)) for name, p in predictions.items()}


def read_peers(path: Path | None) -> dict[tuple[str, str, int, int], Losses]:
    peers: dict[tuple[str, str, int, int], Losses] = defaultdict(dict)
    if path is not None:
        with path.open(encoding="utf-8", newline="") as file:
            for line in csv.DictReader(file):
                place = line["table"], line["keys"], int(line["rows"]), int(line["repeat"])
                peers[place][line["method"]] = float(line["log_loss"]), float(line["worst"])
    return peers


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_options(parser)
    parser.add_argument("--each", action="store_true", help="also one Blend for each combination of keys (slow)")
    parser.add_argument("--peers", type=Path, help="what benchmarks.peers.segments wrote")
    parser.add_argument("--cache", type=Path, help="a folder that keeps the maps of Blend for another run")
    options = parser.parse_args(arguments)
    global CACHE  # noqa: PLW0603 - a calibrator's parameters would be cloned and printed
    CACHE = options.cache
    peers = read_peers(options.peers)
    cells: dict[Cell, list[Losses]] = {}
    for cell, members in groupby(tasks(options), key=lambda task: task.place[:3]):
        cells[cell] = [judge(task, each=options.each) | peers[task.place] for task in members]
        table, keys, rows = cell
        print(f"{table:<29} {keys:<16} {rows:>5}  {describe(cells[cell])}", flush=True)
    summarise(cells)


def gain(results: list[Losses], name: str) -> Floats:
    """Log-loss minus that of the pooled map, × 1000, of each repetition."""
    return np.array([1000.0 * (losses[name][0] - losses["pooled"][0]) for losses in results if name in losses])


def describe(results: list[Losses]) -> str:
    """Mean log-loss less that of the pooled map, and mean worst gap, of each method."""
    names = dict.fromkeys(name for losses in results for name in losses)
    gaps = {name: np.mean([losses[name][1] for losses in results if name in losses]) for name in names}
    return "  ".join(f"{name} {gain(results, name).mean():+.2f} (worst {gaps[name]:.1f})" for name in names)


def summarise(cells: dict[Cell, list[Losses]]) -> None:
    """Means over all tables, where each method is furthest above the pooled map, and how often it is behind ours."""
    for rows in sorted({cell[2] for cell in cells}):
        of_size = {cell: results for cell, results in cells.items() if cell[2] == rows}
        everything = [losses for results in of_size.values() for losses in results]
        print(f"mean of {len(of_size)} cells with {rows} rows: {describe(everything)}")
        for name in dict.fromkeys(name for losses in everything for name in losses if name != "pooled"):
            gains = {cell: gain(results, name) for cell, results in of_size.items() if name in results[0]}
            table, keys, _ = worst = max(gains, key=lambda cell: gains[cell].mean())
            error = gains[worst].std(ddof=1) / np.sqrt(len(gains[worst])) if len(gains[worst]) > 1 else np.nan
            ahead = sum(gain(of_size[cell], "segmented").mean() < gains[cell].mean() for cell in gains)
            behind = "" if name == "segmented" else f"; segmented is ahead in {ahead} of {len(gains)}"
            print(f"  {name}: at most {gains[worst].mean():+.2f} ± {error:.2f}, {table} by {keys}{behind}")


if __name__ == "__main__":
    main()
