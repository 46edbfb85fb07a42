"""What the rows of several classes say, on the rows of the recorded peers (seed 0).

On one task and size N:

- excess: the loss less that of the best peer (raw scores included), × 1000;
- win: the share of the peers that are worse;
- harm: the loss less that of the raw scores, × 1000, of which the 95 % quantile over tasks is shown.

Paired differences have standard errors clustered by data set: tables of one data set are not independent.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

__all__ = ["LOSSES", "by_classes", "data_set", "measures", "paired", "report"]

LOSSES = ("log_loss", "brier")
OURS, RAW = "calibrant.", "raw"
GROUPS = {"≤ 5": 5, "6–20": 20, "21–100": 100, "> 100": 10**9}


def report(rows: pd.DataFrame, recorded: pd.DataFrame, index: pd.DataFrame, loss: str) -> dict[str, pd.DataFrame]:
    """All tables of one loss by title."""
    table = loss_table(pd.concat((recorded, rows[rows["seed"] == 0]), ignore_index=True), loss)
    ours = sorted(rows["method"].unique())
    return {
        "all tasks": measures(table).round(3),
        "mean excess by number of classes, on the tasks that each method was run on": by_classes(table, index).round(2),
        **{f"{name} less each peer, × 1000": paired(table, index, name).round(2) for name in ours},
    }


def loss_table(rows: pd.DataFrame, loss: str) -> pd.DataFrame:
    """(task, N) × method, with holes."""
    return rows.pivot_table(index=["task", "N"], columns="method", values=loss)


def peers_of(table: pd.DataFrame) -> list[str]:
    """The methods of other libraries, and the raw scores."""
    return [name for name in table if not name.startswith(OURS)]


def measures(table: pd.DataFrame) -> pd.DataFrame:
    """Excess, win-rate, harm and number of tasks of each method by N, the lowest excess at the smallest N first."""
    peers = peers_of(table)
    excess = _excess(table)
    wins = pd.DataFrame({name: _wins(table, name, [p for p in peers if p != name]) for name in table})
    harm = table.sub(table[RAW], axis=0) * 1000
    parts = {
        "excess": excess.groupby("N").mean().T,
        "win": wins.groupby("N").mean().T,
        "harm 95 %": harm.groupby("N").quantile(0.95).T,
        "tasks": table.groupby("N").count().T,
    }
    out = pd.concat(parts, axis=1)
    return out.sort_values(("excess", out["excess"].columns[0]))


def by_classes(table: pd.DataFrame, index: pd.DataFrame) -> pd.DataFrame:
    """The mean excess of each method, columns (number of classes, N)."""
    excess = _excess(table)
    classes = index["K"].reindex(excess.index.get_level_values("task")).to_numpy()
    names = np.array(list(GROUPS))[np.searchsorted(list(GROUPS.values()), classes)]
    out = excess.groupby([names, excess.index.get_level_values("N")]).mean().T
    out.columns = out.columns.set_names(["classes", "N"])
    return out[[column for group in GROUPS for column in out.columns if column[0] == group]]


def paired(table: pd.DataFrame, index: pd.DataFrame, name: str) -> pd.DataFrame:
    """Mean difference to each other method by N, and its standard error clustered by data set."""
    clusters = np.array(
        [data_set(task, index["source"].get(task, "")) for task in table.index.get_level_values("task")]
    )
    lines = {}
    for other in table.columns.drop(name):
        difference = (table[name] - table[other]) * 1000
        for n, part in difference.groupby("N"):
            held = part.notna().to_numpy()
            here = clusters[table.index.get_level_values("N") == n][held]
            values = part.to_numpy()[held]
            if len(values):
                lines[other, n] = {"difference": values.mean(), "error": clustered_error(values, here)}
    return pd.DataFrame(lines).T.unstack()


def clustered_error(values: np.ndarray, clusters: np.ndarray) -> float:
    """The standard error of the mean where values of one cluster depend on each other."""
    sums = pd.Series(values - values.mean()).groupby(clusters).sum()
    groups = len(sums)
    if groups < 2:
        return float("nan")
    return float(np.sqrt(groups / (groups - 1) * (sums**2).sum()) / len(values))


def data_set(task: str, source: str) -> str:
    """The data that a table is about: learners of one table share it, as do all nets on one set of images."""
    if "pmlb" in source:
        return task.rsplit("_", 1)[0]
    first = task.split("_", 1)[0]
    return "cifar10" if first == "cifar10h" or task == "crossval_cifar10" else task if first == "crossval" else first


def _excess(table: pd.DataFrame) -> pd.DataFrame:
    return table.sub(table[peers_of(table)].min(axis=1), axis=0) * 1000


def _wins(table: pd.DataFrame, name: str, peers: list[str]) -> pd.Series:
    others = table[peers]
    share = others.gt(table[name], axis=0).sum(axis=1) / others.notna().sum(axis=1)
    return share.where(table[name].notna())
