"""SplineCalibration on the Bayes-Iso task, on real scores against recorded peers, and the coverage of its intervals.

``python -m benchmarks.accuracy.spline [folder of data]``; the folder (default: ``CALIBRANT_DATA``, else ../shared/data)
holds ``arena/*.parquet``, ``arena/INDEX.csv`` and ``arena_peers.csv``; without it the part on real scores is skipped.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import expit, xlogy

from calibrant import SplineCalibration, simulate
from calibrant.simulate.draws import TRUTHS

LIMITS = {100: 0.0300, 1000: 0.0048, 3000: 0.0022, 30_000: 0.0006}
WINS = {"log_loss": {100: 0.79, 1000: 0.84, 3000: 0.82}, "brier": {100: 0.76, 1000: 0.80, 3000: 0.83}}
OURS = "calibrant.SplineCalibration"
TEST_ROWS = 6000


def bayes_iso_task() -> None:
    test = simulate.bayes_iso(100_000, rng=999_999)
    truth = test.probabilities
    print("Bayes-Iso task, mean excess log-loss, seeds 0–19")
    for n, limit in LIMITS.items():
        losses = []
        for seed in range(20):
            data = simulate.bayes_iso(n, rng=seed)
            p = np.clip(SplineCalibration().fit(data.scores, data.labels).predict(test.scores), 1e-15, 1.0 - 1e-15)
            losses.append(np.mean(xlogy(truth, truth / p) + xlogy(1.0 - truth, (1.0 - truth) / (1.0 - p))))
        found = float(np.mean(losses))
        print(f"  N = {n:6d}   {found:.4f}   limit {limit:.4f}  {'ok' if found <= limit else 'MISSED'}")


def coverage() -> None:
    print("\n90 % intervals: share of scores at which the true map is inside, 20 seeds (aim: .85 to .95 on average)")
    print(f"{'':12}" + "".join(f"{name:>18}" for name in TRUTHS) + f"{'mean':>8}")
    for n in (300, 3000, 30_000):
        shares = []
        for truth in TRUTHS.values():
            inside = []
            for seed in range(20):
                data, new = truth.sample(n, rng=seed), truth.sample(1000, rng=1000 + seed)
                low, high = SplineCalibration().fit(data.scores, data.labels).predict_interval(new.scores)
                inside.append(np.mean((low <= new.probabilities) & (new.probabilities <= high)))
            shares.append(np.mean(inside))
        print(f"  N = {n:6d}" + "".join(f"{share:18.3f}" for share in shares) + f"{np.mean(shares):8.3f}")


def arena(folder: Path) -> None:
    if not (folder / "arena_peers.csv").exists():
        print(f"\nReal scores: skipped, because there is no {folder / 'arena_peers.csv'}")
        return
    peers = pd.read_csv(folder / "arena_peers.csv")
    space = pd.read_csv(folder / "arena" / "INDEX.csv").set_index("task")["space"]
    rows = []
    for task, group in peers.groupby("task"):
        table = pd.read_parquet(folder / "arena" / f"{task}.parquet")
        scores, labels = table["score"].to_numpy(float), table["label"].to_numpy()
        scores = expit(scores) if space[task] == "decision" else scores
        for n, rep in group[["n", "rep"]].drop_duplicates().itertuples(index=False):
            order = np.random.default_rng(rep).permutation(len(scores))
            train, test = order[:n], order[n : n + TEST_ROWS]
            p = SplineCalibration().fit(scores[train], labels[train]).predict(scores[test])
            rows.append((task, n, rep, OURS, *_losses(labels[test], p)))
    ours = pd.DataFrame(rows, columns=["task", "n", "rep", "method", "log_loss", "brier"])
    _summary(pd.concat((peers, ours)))


def _losses(y: np.ndarray, p: np.ndarray) -> tuple[float, float]:
    inside = np.clip(p, 1e-15, 1.0 - 1e-15)
    return float(-np.mean(np.where(y == 1, np.log(inside), np.log1p(-inside)))), float(np.mean((p - y) ** 2))


def _summary(rows: pd.DataFrame) -> None:
    """Excess: mean over tasks of loss above the best peer; win: share of peers beaten; harm: 95 % quantile over raw."""
    for loss, limits in WINS.items():
        table = rows.pivot_table(index=["task", "n"], columns="method", values=loss)
        table = table.apply(lambda row: row.fillna(row.max()), axis=1)
        rivals = table.drop(columns=OURS)
        figures = pd.DataFrame(
            {
                "excess": 1000.0 * (table[OURS] - rivals.min(axis=1)),
                "win": rivals.gt(table[OURS], axis=0).mean(axis=1),
                "harm": 1000.0 * (table[OURS] - table["ref.raw"]),
            }
        ).groupby("n")
        print(f"\nReal scores, {loss} × 1000, {rivals.shape[1]} peers")
        for n, limit in limits.items():
            win, excess = figures["win"].mean()[n], figures["excess"].mean()[n]
            print(
                f"  N = {n:5d}   excess {excess:6.2f}   harm {figures['harm'].quantile(0.95)[n]:6.2f}   "
                f"win {win:.3f}   limit {limit:.2f}  {'ok' if win >= limit else 'MISSED'}"
            )


def main() -> None:
    given = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("CALIBRANT_DATA")
    bayes_iso_task()
    coverage()
    arena(Path(given) if given else Path(__file__).parents[3] / "shared" / "data")


if __name__ == "__main__":
    main()
