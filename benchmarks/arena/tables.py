"""The arena's results as Markdown tables for pages."""

from __future__ import annotations

import pandas as pd

from benchmarks.arena import heldout, summary

__all__ = ["gaps", "gaps_by_learner", "markdown", "measures", "wins"]

NAMES = {"log_loss": "log-loss", "brier": "Brier score"}


def measures(table: pd.DataFrame) -> str:
    """`summary.summarise`: a line for each method, the sizes of a measure side by side."""
    names = list(dict.fromkeys(table.columns.get_level_values(0)))
    sizes = _joined(table[names[0]].columns)
    lines = {m: [_joined(f"{v:.3g}" for v in row[name]) for name in names] for m, row in table.iterrows()}
    return markdown(["method", *(f"{name} {sizes}" for name in names)], lines)


def gaps(rows: pd.DataFrame) -> str:
    """How far each method is behind the default, and on which share of sources it is ahead."""
    columns = {
        f"{name}: {head}": _cells(rows, loss, kind)
        for loss, name in NAMES.items()
        for kind, head in {"gap": "behind", "ahead": "sources ahead"}.items()
    }
    return _side_by_side(columns, _order(rows))


def gaps_by_learner(rows: pd.DataFrame, loss: str = "log_loss") -> str:
    """How far each method is behind the default on the held-out tables of each learner."""
    return _side_by_side({name: _cells(own, loss, "gap") for name, own in _of_learners(rows).items()}, _order(rows))


def wins(rows: pd.DataFrame) -> str:
    """Win-rates over the peers: that of the default and the highest of a peer, on all tasks and by learner."""
    parts = {"all": rows, **_of_learners(rows)}
    heads = ["learner", *(f"{name}: {who}" for name in NAMES.values() for who in (summary.DEFAULT, "best rival"))]
    return markdown(heads, {name: _wins(own) for name, own in parts.items()})


def _of_learners(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The rows of each held-out learner that has any."""
    parts = {name: rows[rows["task"].str.endswith(f"_{name}")] for name in heldout.LEARNERS}
    return {f"`{name}`": own for name, own in parts.items() if len(own)}


def _wins(rows: pd.DataFrame) -> list[str]:
    cells = []
    for loss in summary.LOSSES:
        table = summary.summarise(rows, loss)["peers"]
        rivals = table[~table.index.str.startswith(summary.OURS)]
        cells.append(_joined(f"{v:.2f}" for v in table.loc[summary.DEFAULT]))
        cells.append(_joined(f"{rivals[n].max():.2f} {rivals[n].idxmax()}" for n in rivals))
    return cells


def _cells(rows: pd.DataFrame, loss: str, kind: str) -> pd.Series:
    """A text for each method, sizes side by side; a dash where it has no result."""
    found = {}
    for n in sorted(rows["n"].unique()):
        table = summary.behind(rows, loss, n)
        texts = table.apply(lambda row: _with_error(row["behind"], row["error"]), axis=1)
        found[n] = texts if kind == "gap" else table["ahead"].map("{:.2f}".format)
    return pd.DataFrame(found).fillna("–").apply(_joined, axis=1)


def _order(rows: pd.DataFrame) -> list[str]:
    """Methods, the lowest log-loss at the middle one of the sizes first; then those without a result there."""
    sizes = sorted(rows["n"].unique())
    tables = [summary.behind(rows, "log_loss", n) for n in (sizes[len(sizes) // 2], *sizes)]
    return list(dict.fromkeys(name for table in tables for name in table.index))


def _with_error(value: float, error: float) -> str:
    digits = 2 if error < 0.5 else 1 if error < 5.0 else 0
    return f"{value:.{digits}f} ± {error:.{digits}f}".replace("-", "−")


def _side_by_side(columns: dict[str, pd.Series], order: list[str]) -> str:
    return markdown(["method", *columns], {name: [column[name] for column in columns.values()] for name in order})


def _joined(cells: object) -> str:
    return " / ".join(map(str, cells))


def markdown(heads: list[str], lines: dict[str, list[str]]) -> str:
    """A table whose first column names the lines."""
    rows = [heads, *([name, *cells] for name, cells in lines.items())]
    texts = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([texts[0], "|---" * len(heads) + "|", *texts[1:]])
