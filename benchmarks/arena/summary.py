"""What the rows say: wins, excess, harm and time at each size, and average ranks with their critical difference.

A loss is averaged over repetitions first. On one task and size:

- excess: the loss less the best peer's, × 1000; on simulations, less the loss of the true probabilities;
- win: the share of the other methods that are worse; peers: the share of the peers that are worse;
- harm: the loss less that of the raw score, × 1000, of which the 95 % quantile over tasks is shown;
- behind: the loss less that of Blend, × 1000, with a standard error clustered by source: ten learners on one data set,
  or six language models asked the same questions, are not ten or six independent tables;
- ahead: the share of sources on which a method's mean loss is below that of Blend.

A result that is missing where others have one counts as the worst of its task; a method without any result is left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import friedmanchisquare, rankdata, studentized_range

from benchmarks.arena import heldout, trained

__all__ = ["LOSSES", "Ranking", "behind", "clustered_mean", "loss_table", "ranking", "read", "source", "summarise"]

LOSSES = ("log_loss", "brier")
OURS, DEFAULT = "calibrant", "calibrant.blend"
RAW, TRUTH = "ref.raw", "ref.truth"
LEARNERS = [*trained.LEARNERS, *heldout.LEARNERS]
FAMILIES = ("imagenet", "llm")  # models on the same pictures, or asked the same questions


def read(files: list[str], pattern: str | None = None) -> pd.DataFrame:
    """The rows of several files; with `pattern` (a regular expression) only the tasks that it finds."""
    rows = pd.concat([pd.read_csv(file) for file in files], ignore_index=True)
    return rows[rows["task"].str.contains(pattern)] if pattern else rows


def loss_table(rows: pd.DataFrame, loss: str) -> pd.DataFrame:
    """(task, n) × method, holes where a result is missing."""
    return rows.pivot_table(index=["task", "n"], columns="method", values=loss)


def summarise(rows: pd.DataFrame, loss: str) -> pd.DataFrame:
    """A row for each method, columns (measure, n), the best win-rate at the smallest size first."""
    holes = loss_table(rows, loss)
    truth = holes.pop(TRUTH) if TRUTH in holes else pd.Series(np.nan, holes.index)
    peers = [name for name in holes if not name.startswith(OURS)]
    table = _worst_for_missing(holes)
    best = truth.fillna(table[peers].min(axis=1))
    measures = {
        "win": _wins(table).groupby("n").mean().T,
        "peers": _wins_over_peers(holes, peers).groupby("n").mean().T,
        "excess": (table.sub(best, axis=0) * 1000).groupby("n").mean().T,
    }
    if RAW in table:
        measures["harm"] = (table.sub(table[RAW], axis=0) * 1000).groupby("n").quantile(0.95).T
    measures["ms"] = 1000 * rows.pivot_table(index="method", columns="n", values="seconds", aggfunc="median")
    summary = pd.concat(measures, axis=1).loc[list(table)]
    return summary.sort_values(("win", summary["win"].columns[0]), ascending=False)


def source(task: str) -> str:
    """The data behind a task: its name without the learner or the network."""
    name = re.sub(f"_({'|'.join(LEARNERS)})$", "", task)
    if name.startswith("toplabel_"):
        return name.rpartition("_")[2]
    return next((family for family in FAMILIES if name.startswith(family)), name)


def clustered_mean(values: Sequence[float], clusters: Sequence[str]) -> tuple[float, float]:
    """The mean, and its standard error where values of one cluster may depend on each other."""
    residuals = pd.Series(values).sub(np.mean(values)).groupby(list(clusters)).sum()
    m = len(residuals)
    return float(np.mean(values)), float(np.sqrt(np.square(residuals).sum() * m / max(m - 1, 1)) / len(values))


def behind(rows: pd.DataFrame, loss: str, n: int) -> pd.DataFrame:
    """How far each method is behind the default on the tasks that both have, with its clustered standard error."""
    table = loss_table(rows[rows["n"] == n], loss)
    found = {}
    for name in table.columns.drop([DEFAULT, TRUTH], errors="ignore"):
        gap = 1000.0 * (table[name] - table[DEFAULT]).dropna()
        sources = [source(task) for task, _ in gap.index]
        ahead = (gap.groupby(sources).mean().round(9) < 0.0).mean()
        found[name] = (*clustered_mean(gap.to_numpy(), sources), len(gap), len(set(sources)), ahead)
    columns = ["behind", "error", "tasks", "sources", "ahead"]
    return pd.DataFrame.from_dict(found, orient="index", columns=columns).sort_values("behind")


def _worst_for_missing(table: pd.DataFrame) -> pd.DataFrame:
    return table.apply(lambda row: row.fillna(row.max()), axis=1)


def _wins(table: pd.DataFrame) -> pd.DataFrame:
    values = table.to_numpy()
    beaten = (values[:, None, :] > values[:, :, None]).sum(axis=2)
    return pd.DataFrame(beaten / max(table.shape[1] - 1, 1), table.index, table.columns)


def _wins_over_peers(holes: pd.DataFrame, peers: list[str]) -> pd.DataFrame:
    """The win-rate that each method would have if it were alone with the peers."""
    alone = {name: _worst_for_missing(holes[[*peers, *({name} - set(peers))]]) for name in holes}
    return pd.DataFrame({name: _wins(table)[name] for name, table in alone.items()})


@dataclass(frozen=True)
class Ranking:
    """Average ranks, best first, and how far apart two of them must be to differ (Demšar, JMLR 7, 2006)."""

    ranks: pd.Series
    critical_difference: float
    p_value: float
    n_tasks: int

    def groups(self) -> list[tuple[int, int]]:
        """First and last position of the longest runs of methods that are not told apart."""
        ranks, found = self.ranks.to_numpy(), []
        for first in range(len(ranks)):
            last = int(np.searchsorted(ranks, ranks[first] + self.critical_difference, side="right")) - 1
            if last > first and (not found or last > found[-1][1]):
                found.append((first, last))
        return found


def ranking(rows: pd.DataFrame, loss: str, n: int, level: float = 0.05, drop: tuple[str, ...] = ()) -> Ranking:
    """Friedman's test and Nemenyi's critical difference over the tasks of one size."""
    return rank(loss_table(rows[rows["n"] == n], loss).drop(columns=[TRUTH, *drop], errors="ignore"), level)


def rank(holes: pd.DataFrame, level: float = 0.05) -> Ranking:
    """The same of a table tasks × methods; a method that failed on a task is the worst there."""
    table = _worst_for_missing(holes)
    n_tasks, k = table.shape
    ranks = pd.Series(rankdata(table.to_numpy(), axis=1).mean(axis=0), table.columns).sort_values()
    quantile = studentized_range.ppf(1.0 - level, k, np.inf) / np.sqrt(2.0)
    p_value = float(friedmanchisquare(*table.to_numpy().T).pvalue) if k > 2 else float("nan")
    return Ranking(ranks, float(quantile * np.sqrt(k * (k + 1) / (6.0 * n_tasks))), p_value, n_tasks)
