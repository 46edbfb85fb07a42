"""The recorded run of CalArena's own runner: the table in its README is what the result files say."""

import re
from pathlib import Path

import pandas as pd
import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks" / "calarena"


def win_rates(benchmark, loss):
    losses = {}
    for path in sorted((FOLDER / "results" / benchmark).glob("*.csv")):
        table = pd.read_csv(path)
        losses[path.stem] = table.set_index(["dataset", "model"])[f"{path.stem}_{loss}"]
    table = pd.DataFrame(losses)
    assert not table.isna().to_numpy().any()
    return {name: table.drop(columns=name).gt(table[name], axis=0).mean(axis=1).mean() for name in table}


@pytest.mark.parametrize(("benchmark", "side"), [("arena-binary", 0), ("arena-multiclass", 3)])
def test_readme_has_the_win_rates_of_the_result_files(benchmark, side):
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    rows = [
        [cell.strip(" *") for cell in line.split("|")[1:-1]]
        for line in text.splitlines()
        if re.match(r"\| .*\.\d", line)
    ]
    assert len(rows) == 7
    found = {loss: win_rates(benchmark, loss) for loss in ("logloss", "brier")}
    for row in rows:
        name, log_loss, brier = row[side : side + 3]
        assert found["logloss"][name] == pytest.approx(float(log_loss), abs=6e-4)
        assert found["brier"][name] == pytest.approx(float(brier), abs=6e-4)
    for rates in found.values():
        assert max(rates, key=rates.get) == "calibrant"
