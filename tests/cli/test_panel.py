"""Several scores per row on the command line: fitted and applied by the names of their columns."""

import json

import numpy as np
import pandas as pd
import pytest

import calibrant
from calibrant import PanelCalibrator

SCORES = ("--score", "judge_a", "--score", "judge_b", "--score", "sure", "--label", "right")


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    truth = rng.normal(size=300)
    judges = {f"judge_{name}": 1 / (1 + np.exp(-truth - rng.normal(size=300))) for name in "ab"}
    right = (rng.random(300) < 1 / (1 + np.exp(-truth))).astype(int)
    frame = pd.DataFrame(judges).assign(sure=truth > 0.5, length=np.round(100 + 20 * truth), right=right)
    frame.loc[::9, "judge_b"] = np.nan
    return frame


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_fit_and_apply_are_those_of_the_library(cli, table, tmp_path, kind):
    path, model, output = tmp_path / f"data.{kind}", tmp_path / "m.json", tmp_path / f"out.{kind}"
    (table.to_csv if kind == "csv" else table.to_parquet)(path, index=False)
    done = cli("fit", path, *SCORES, "-o", model, "--json")  # several --score are a panel without a word
    assert done.code == 0, done.err
    summary = json.loads(done.out)
    assert summary["method"] == "PanelCalibrator"
    assert {row["name"] for row in summary["scores"]} == {"judge_a", "judge_b", "sure"}
    said = cli("fit", path, *SCORES, "-o", model).err
    assert "\\x0a" not in said
    panel = PanelCalibrator().fit(table[["judge_a", "judge_b", "sure"]], table["right"])
    np.testing.assert_allclose(calibrant.load(model).predict(table), panel.predict(table), atol=1e-12)
    done = cli("apply", model, path, "--level", "0.9", "-o", output)
    assert done.code == 0, done.err
    found = pd.read_csv(output) if kind == "csv" else pd.read_parquet(output)
    np.testing.assert_allclose(found["probability"], panel.predict(table), atol=1e-12)
    np.testing.assert_allclose(found["probability_low"], panel.predict_interval(table)[0], atol=1e-12)


def test_numbers_that_are_no_probabilities_are_said_by_column(cli, refused, table, tmp_path):
    path, model = tmp_path / "data.csv", tmp_path / "m.json"
    table.to_csv(path, index=False)
    scores = ("--score", "judge_a,length", "--label", "right", "--method", "panel")
    assert "'length' must be a probability" in refused("fit", path, *scores, "-o", model)
    assert "lenght" in refused("fit", path, "--score", "judge_a", "--score", "lenght", "--label", "right", "-o", model)
    done = cli("fit", path, *scores, "--set", 'space={"length": "decision"}', "-o", model)
    assert done.code == 0, done.err
    assert calibrant.load(model).space == "decision"


def test_what_is_not_for_several_scores(refused, cli, table, tmp_path):
    path, model = tmp_path / "data.csv", tmp_path / "m.json"
    table.to_csv(path, index=False)
    assert "--by, --groups and --top-label are not for several scores" in refused(
        "fit", path, *SCORES, "--method", "panel", "--by", "sure"
    )
    cli("fit", path, *SCORES, "--method", "panel", "-o", model)
    assert "finds them by their names" in refused("apply", model, path, "--score", "judge_a", "-o", tmp_path / "o.csv")
    done = cli("export", model, "-o", tmp_path / "map.py")
    assert "Python written" in done.err
    assert "by name: leave out --score" in refused("export", model, "--score", "judge_a", "-o", tmp_path / "map.sql")


def test_rows_without_a_label_are_refused_or_left_out(cli, refused, table, tmp_path):
    path, model = tmp_path / "data.csv", tmp_path / "m.json"
    table.astype({"right": "Int64"}).assign(right=lambda rows: rows["right"].where(rows.index > 1)).to_csv(
        path, index=False
    )
    command = ("fit", path, *SCORES, "--method", "panel", "-o", model)
    assert refused(*command).startswith("2 of 300 rows have no label. Add --drop-missing")
    assert "298 rows" in cli(*command, "--drop-missing").err
