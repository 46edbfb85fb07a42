"""Segments: log-loss and worst-segment gap of partial pooling beside one pooled map and one map for each segment.

python -m benchmarks.accuracy.segments [FOLDER] [--sizes 500 2000 8000] [--repeats 5] [--single] [--peers peers.csv]

FOLDER holds tables `*.parquet` with the columns `score`, `label` and one column for each key; without it, tables are
generated whose segments differ in a known way: not at all, by shifts, by slopes, by pairs of keys, one oddly.
`--each` adds one Blend for each combination of all keys that has rows of both classes (slow). Calibration rows are
`default_rng(repeat).permutation(rows)[:n]`, test rows the next 6000. `--single` takes each key alone in place of all at
once. `--peers` adds log-losses of other packages from a file with the columns table, rows, repeat, method, log_loss.
Figures are log-loss minus that of the pooled Blend, × 1000; `worst` is the largest standardised gap between outcomes
and predictions over the segments of the first key: 2 to 3 by chance, the more the more segments there are.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from calibrant import Blend, CalibrationMap, Tally, load, metrics
from calibrant._typing import Floats
from calibrant.calibrators.segmented import SegmentedCalibrator

TEST_ROWS = 6000
FEWEST_TEST_ROWS = 500
CACHE: Path | None = None
KINDS = ("no difference", "shifts", "slopes", "pairs", "one odd")


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


class Task(NamedTuple):
    """Calibration and test rows of one repetition."""

    table: str
    keys: list[str]
    rows: int
    repeat: int
    train: pd.DataFrame
    test: pd.DataFrame


def tables(folder: Path | None, only: list[str]) -> Iterator[tuple[str, pd.DataFrame]]:
    """The tables of a folder, or those that are generated."""
    paths = {} if folder is None else {path.stem: path for path in sorted(folder.glob("*.parquet"))}
    for name in KINDS if folder is None else paths:
        if not only or name in only:
            yield name, generate(name) if folder is None else pd.read_parquet(paths[name])


def tasks(
    folder: Path | None, only: list[str], sizes: list[int], repeats: list[int], *, single: bool
) -> Iterator[Task]:
    for table, frame in tables(folder, only):
        frame["score"] = frame["score"].astype(float)
        keys = [name for name in frame.columns if name not in {"score", "label"}]
        frame[keys] = frame[keys].astype(str)
        many = [key for key in keys if frame[key].nunique() > 1]
        for chosen in [[key] for key in many] if single else [keys]:
            for n in sizes:
                for repeat in repeats if n + FEWEST_TEST_ROWS <= len(frame) else []:
                    order = np.random.default_rng(repeat).permutation(len(frame))
                    train, test = frame.iloc[order[:n]], frame.iloc[order[n : n + TEST_ROWS]]
                    yield Task(table, chosen, n, repeat, train, test)


def one_each(task: Task, pooled: Floats) -> Floats:
    """A Blend for each combination of the keys with rows of both classes; the pooled map elsewhere."""
    out = pooled.copy()
    for segment, rows in task.train.groupby(task.keys):
        inside = (task.test[task.keys] == list(segment)).all(axis=1).to_numpy()
        if rows["label"].nunique() == 2 and inside.any():
            out[inside] = CachedBlend().fit(rows["score"], rows["label"]).predict(task.test["score"][inside])
    return out


def worst_gap(task: Task, p: Floats) -> float:
    key = next((key for key in task.keys if task.train[key].nunique() > 1), task.keys[0])
    sums = pd.DataFrame({"gap": task.test["label"] - p, "variance": p * (1.0 - p)}).groupby(task.test[key].values)
    total = sums.sum()
    return float(np.sqrt(np.max(total["gap"] ** 2 / total["variance"])))


def judge(task: Task, *, each: bool) -> dict[str, tuple[float, float]]:
    pooled = CachedBlend().fit(task.train["score"], task.train["label"]).predict(task.test["score"])
    calibrator = SegmentedCalibrator(CachedBlend())
    calibrator.fit(task.train["score"], task.train["label"], segment=task.train[task.keys])
    segmented = calibrator.predict(task.test["score"], segment=task.test[task.keys])
    predictions = {"pooled": pooled, "segmented": segmented} | ({"one each": one_each(task, pooled)} if each else {})
    return {name: (metrics.log_loss(task.test["label"], p), worst_gap(task, p)) for name, p in predictions.items()}


def read_peers(path: Path | None) -> dict[tuple[str, int, int], dict[str, float]]:
    peers: dict[tuple[str, int, int], dict[str, float]] = defaultdict(dict)
    if path is not None:
        with path.open(encoding="utf-8") as file:
            for line in csv.DictReader(file):
                place = line["table"], int(line["rows"]), int(line["repeat"])
                peers[place][line["method"]] = float(line["log_loss"])
    return peers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--tables", nargs="*", default=[])
    parser.add_argument("--sizes", nargs="*", type=int, default=[500, 2000, 8000])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--first-repeat", type=int, default=0)
    parser.add_argument("--single", action="store_true")
    parser.add_argument("--each", action="store_true", help="also one Blend for each combination of keys (slow)")
    parser.add_argument("--peers", type=Path)
    parser.add_argument("--cache", type=Path)
    options = parser.parse_args()
    global CACHE  # noqa: PLW0603 - a calibrator's parameters would be cloned and printed
    CACHE = options.cache
    peers = read_peers(options.peers)
    repeats = list(range(options.first_repeat, options.first_repeat + options.repeats))
    cells: dict[tuple[str, str, int], list[dict[str, tuple[float, float]]]] = defaultdict(list)
    for task in tasks(options.folder, options.tables, options.sizes, repeats, single=options.single):
        found = judge(task, each=options.each)
        place = task.table, "+".join(task.keys) if options.single else "all keys", task.rows
        more = {} if options.single else peers[task.table, task.rows, task.repeat]
        cells[place].append(found | {name: (loss, np.nan) for name, loss in more.items()})
        if task.repeat == repeats[-1]:
            report(place, cells[place])
    summarise(cells)


def report(place: tuple[str, str, int], results: list[dict[str, tuple[float, float]]]) -> None:
    table, keys, rows = place
    parts = []
    for name in results[0]:
        losses = [1000.0 * (r[name][0] - r["pooled"][0]) for r in results if name in r]
        gaps = np.mean([r[name][1] for r in results if name in r])
        parts.append(f"{name} {np.mean(losses):+.2f}" + ("" if np.isnan(gaps) else f" (worst {gaps:.1f})"))
    print(f"{table:<29} {keys:<16} {rows:>5}  " + "  ".join(parts), flush=True)


def summarise(cells: dict[tuple[str, str, int], list[dict[str, tuple[float, float]]]]) -> None:
    print("mean over tables, log-loss minus pooled × 1000:")
    for rows in sorted({place[2] for place in cells}):
        found = [r for place, results in cells.items() if place[2] == rows for r in results]
        names = list(dict.fromkeys(name for r in found for name in r))
        means = {n: np.mean([1000.0 * (r[n][0] - r["pooled"][0]) for r in found if n in r]) for n in names}
        print(f"  {rows:>5} rows  " + "  ".join(f"{name} {mean:+.2f}" for name, mean in means.items()))


if __name__ == "__main__":
    main()
