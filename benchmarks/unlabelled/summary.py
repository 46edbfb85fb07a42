"""Coverage, width and error of every method, on the runs that it and counting labels both answered.

python -m benchmarks.unlabelled.summary ours.csv ppi.csv
"""

from __future__ import annotations

import argparse

import pandas as pd

BASE = "counting labels"


def summarise(rows: pd.DataFrame) -> pd.DataFrame:
    rows = rows.dropna(subset=["value", "low", "high", "truth"]).assign(
        coverage=lambda r: (r["low"] <= r["truth"]) & (r["truth"] <= r["high"]),
        width=lambda r: r["high"] - r["low"],
        error=lambda r: (r["value"] - r["truth"]).abs(),
    )
    key = ["what", "n", "task", "rep"]
    base = rows[rows["method"] == BASE].set_index(key)[["width", "error"]].add_suffix("_base")
    joined = rows.join(base, on=key).dropna(subset=["error_base"])
    # A task counts as much as any other, however many of its runs were answered.
    tasks = joined.groupby(["what", "n", "method", "task"])[
        ["coverage", "width", "error", "width_base", "error_base"]
    ].mean()
    table = tasks.groupby(["what", "n", "method"]).mean()
    table["width ratio"], table["error ratio"] = (
        table["width"] / table["width_base"],
        table["error"] / table["error_base"],
    )
    table["tasks"] = tasks.groupby(["what", "n", "method"]).size()
    return table.drop(columns=["width_base", "error_base"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    table = summarise(pd.concat([pd.read_csv(file) for file in options.files]))
    print(table.round(3).to_string())
    sizes = table.reset_index().groupby(["what", "method"])[["coverage", "width ratio", "error ratio"]].mean()
    print("\nMean over the sizes")
    print(sizes.round(3).to_string())


if __name__ == "__main__":
    main()
