"""Several scores per row on the command line: fitted and applied by the names of their columns."""

import json

import numpy as np
import pandas as pd
import pytest

import calibrant
from calibrant import PanelCalibrator
from calibrant.calibrators import registry
from calibrant.monitoring import AdaptiveCalibrator, walk_forward

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
    assert "--by and --top-label are not for several scores" in refused(
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


@pytest.fixture
def path(table, tmp_path):
    table.to_csv(tmp_path / "data.csv", index=False)
    return tmp_path / "data.csv"


@pytest.fixture
def model(cli, path, tmp_path):
    assert cli("fit", path, *SCORES, "-o", tmp_path / "m.json").code == 0
    return tmp_path / "m.json"


def test_compare_is_that_of_the_library(cli, path, table):
    done = cli("compare", path, *SCORES, "--folds", "2", "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    names = {"panel", "mean_logit", "judge_a alone", "judge_b alone", "sure alone"}
    assert {row["name"] for row in found["results"]} == names
    scores = {name: table[name] for name in ("judge_a", "judge_b", "sure")}
    mine = calibrant.compare(scores, table["right"], cv=2, methods=["panel"])
    losses = {row["name"]: row["log_loss"]["value"] for row in found["results"]}
    assert losses["panel"] == pytest.approx(mine["panel"].log_loss.value)
    assert "Were a score missing" in cli("compare", path, *SCORES, "--folds", "2", "--method", "panel").err


def test_evaluate_measures_each_score_or_the_probability_of_a_model(cli, refused, path, model, table):
    done = cli("evaluate", path, *SCORES, "--model", model, "--json")
    assert done.code == 0, done.err
    p = calibrant.load(model).predict(table)
    expected = calibrant.evaluate(table["right"], p)["log_loss"].value
    assert json.loads(done.out)["models"]["model"]["log_loss"]["value"] == pytest.approx(expected)
    some = ("--score", "judge_a", "--score", "judge_b", "--label", "right")
    assert "`judge_b` must be finite" in refused("evaluate", path, *some)
    table.fillna(0.5).to_csv(path, index=False)
    assert set(json.loads(cli("evaluate", path, *some, "--json").out)["models"]) == {"judge_a", "judge_b"}


def test_estimate_finds_its_columns_by_name(cli, refused, path, model, table):
    done = cli("estimate", model, path, "--what", "mean", "--json")
    assert done.code == 0, done.err
    expected = calibrant.load(model).estimate(table)
    assert json.loads(done.out)["estimates"][0]["value"] == pytest.approx(expected.value)
    assert "leave out --score and --weight" in refused("estimate", model, path, "--weight", "judge_a")
    assert "--prior is for models of one score" in refused("estimate", model, path, "--prior")
    table.drop(columns="sure").to_csv(path, index=False)
    assert "'sure' of" in refused("estimate", model, path)


def test_monitor_watches_the_probability_of_the_model(cli, refused, path, model, table, tmp_path):
    table.assign(right=1 - table["right"]).to_csv(tmp_path / "now.csv", index=False)
    done = cli("monitor", path, tmp_path / "now.csv", *SCORES, "--model", model, "--fail")
    assert done.code == 3, done.err
    assert "ALARM" in done.out
    assert "ALARM" not in cli("monitor", path, path, *SCORES, "--model", model).out
    assert "pass --model" in refused("monitor", path, path, *SCORES)


def test_what_takes_one_score_says_so(refused, path, table):
    assert "A gate takes one score" in refused("gate", path, *SCORES, "-p", "0.9")
    table.fillna(0.5).to_csv(path, index=False)
    for label in ("length", "right"):  # commas are for classes
        hint = refused("compare", path, "--score", "judge_a,judge_b", "--label", label)
        assert "everal scores of a row need a --score for each" in hint


def test_methods_of_several_scores_are_listed(cli):
    assert "panel" in cli("methods").out


class LastScore(PanelCalibrator):
    """The last score alone."""

    name = "last_score"
    title = "the last score"

    def fit(self, X, y, sample_weight=None, *, pos_label=None):
        last = list(X)[-1]
        return super().fit({last: X[last]}, y, sample_weight, pos_label=pos_label)


def test_a_registered_method_goes_everywhere(cli, path, tmp_path, monkeypatch):
    monkeypatch.setattr(registry, "_REGISTERED", {})
    monkeypatch.setattr("calibrant.report.data.RESAMPLES", 10)  # quicker
    calibrant.register(LastScore)
    model, page = tmp_path / "mine.json", tmp_path / "page.html"
    assert "last_score" in cli("methods").out
    assert cli("fit", path, *SCORES, "--method", "last_score", "-o", model).code == 0
    assert calibrant.load(model).names == ("sure",)
    assert "last_score" in cli("compare", path, *SCORES, "--method", "last_score", "--folds", "2").out
    assert cli("evaluate", path, *SCORES, "--model", model).code == 0
    assert cli("estimate", model, path).code == 0
    done = cli("report", path, *SCORES, "--method", "last_score", "-o", page)
    assert done.code == 0, done.err
    assert "the last score" in page.read_text(encoding="utf-8").lower()


def test_a_history_of_several_scores_is_replayed_and_goes_on(cli, refused, table, tmp_path):
    path, state, month = tmp_path / "data.csv", tmp_path / "state.json", np.repeat(np.arange(6), 50)
    table.assign(month=month).to_csv(path, index=False)
    done = cli("replay", path, *SCORES, "--time", "month", "--first", "2", "--save", state)
    assert done.code == 0, done.err
    scores = {name: table[name].to_numpy() for name in ("judge_a", "judge_b", "sure")}
    assert done.out == f"{walk_forward(scores, table['right'], month, n_reference=2)}\n"
    assert "-o map.json" not in done.err
    done = cli("adapt", state, path, *SCORES, "--period", "all")
    assert done.code == 0, done.err
    assert AdaptiveCalibrator.load(state).history[-1].rows == 300
    assert "each of a panel by a --score of its own" in refused("adapt", state, path, "-s", "judge_a", "-l", "right")
    PanelCalibrator().fit(scores, table["right"]).save(tmp_path / "panel.json")
    begun = cli("adapt", tmp_path / "new.json", path, *SCORES, "--model", tmp_path / "panel.json")
    assert begun.code == 0, begun.err
    assert "After 1 period" in begun.out
