"""fit, apply and export do what the library does, and say what they did."""

import json
import os

import numpy as np
import pytest

import calibrant
from calibrant.calibrators import registry
from calibrant.cli.fitting import class_file, default_method


def column(path, name):
    import duckdb

    return duckdb.connect().execute(f"SELECT {name} FROM '{path}'").fetchnumpy()[name]


def test_fit_and_apply_are_the_library(cli, data, tmp_path):
    model, output = tmp_path / "model.json", tmp_path / "out.csv"
    assert cli("fit", data, "-m", "isotonic", "-o", model).code == 0
    result = cli("apply", model, data, "-o", output)
    assert result.code == 0
    assert "400 rows calibrated" in result.err
    scores, labels = column(data, "score"), column(data, "label")
    expected = calibrant.IsotonicCalibration().fit(scores, labels)
    np.testing.assert_allclose(column(output, "probability"), expected.predict(scores), rtol=1e-14)
    np.testing.assert_array_equal(column(output, "label"), labels)
    assert not list(tmp_path.glob(".*"))


def test_standard_streams_and_summaries(cli, data, tmp_path):
    result = cli("fit", data, "--method", "platt")
    assert json.loads(result.out)["format"] == "calibrant-map"
    assert "PlattScaling fitted to 400 rows" in result.err
    summary = cli("fit", data, "--method", "platt", "-o", tmp_path / "m.json", "--json")
    assert json.loads(summary.out)["method"] == "PlattScaling"
    applied = cli("-q", "apply", tmp_path / "m.json", data, "--name", "p")
    assert applied.err == ""
    assert applied.out.splitlines()[0] == "score,label,p"
    assert len(applied.out.splitlines()) == 401


def test_the_default_method_and_decision_scores(cli, tmp_path):
    assert default_method() in registry.METHODS
    rng = np.random.default_rng(0)
    margin = rng.normal(size=300)
    rows = "\n".join(f"{x},{int(rng.random() < 1 / (1 + np.exp(-x)))}" for x in margin)
    path = tmp_path / "margin.csv"
    path.write_text(f"score,label\n{rows}\n")
    assert cli("fit", path, "-o", tmp_path / "default.json").code == 0
    assert cli("fit", path, "-m", "platt", "-o", tmp_path / "platt.json").code == 0
    assert calibrant.load(tmp_path / "platt.json").space == "real"


def test_options_of_a_method(cli, refused, data, tmp_path):
    model = tmp_path / "m.json"
    assert cli("fit", data, "-m", "histogram", "--set", "n_bins=3", "-o", model).code == 0
    assert len(np.unique(calibrant.load(model)(np.linspace(0, 1, 100)))) <= 3
    assert "has no option 'nbins'; it has" in refused("fit", data, "-m", "histogram", "--set", "nbins=3")
    assert "name and a value" in refused("fit", data, "--set", "n_bins")
    assert "Did you mean isotonic" in refused("fit", data, "-m", "isotonc")
    assert "model needs a file" in refused("fit", data, "--json")


def test_several_classes(cli, refused, animals, tmp_path):
    scores, model, output = "p_cat,p_dog,p_fox", tmp_path / "m.json", tmp_path / "out.parquet"
    assert cli("fit", animals, "-s", scores, "-l", "animal", "-m", "platt", "-w", "w", "-o", model).code == 0
    assert os.path.basename(class_file(str(model), "p_cat")) == "m.p_cat.json"  # noqa: PTH119
    assert cli("apply", model, animals, "-s", scores, "-o", output).code == 0
    total = sum(column(output, f"probability_{name}") for name in scores.split(","))
    np.testing.assert_allclose(total, 1.0)
    assert "a model for each" in refused("fit", animals, "-s", scores, "-l", "animal")
    top = tmp_path / "top.json"
    assert cli("fit", animals, "-s", scores, "-l", "animal", "-m", "platt", "--top-label", "-o", top).code == 0
    assert cli("apply", top, animals, "-s", scores, "--top-label", "-o", output).code == 0
    highest = np.max([column(animals, name) for name in scores.split(",")], axis=0)
    np.testing.assert_allclose(column(output, "probability"), calibrant.load(top)(highest))


def test_unusable_scores_are_counted(cli, data, tmp_path):
    model, rows = tmp_path / "m.json", tmp_path / "rows.csv"
    cli("fit", data, "-m", "platt", "-o", model)
    rows.write_text("score,id\n0.5,1\n,2\n7,3\n")
    result = cli("apply", model, rows)
    assert result.out.splitlines()[2:] == [",2,", "7.0,3,"]
    assert "warning: 2 scores are missing" in result.err


@pytest.mark.parametrize(("target", "sign"), [("sql", "CASE"), ("python", "def calibrate"), ("schema", "$schema")])
def test_export(cli, data, tmp_path, target, sign):
    model = tmp_path / "m.json"
    cli("fit", data, "-m", "isotonic", "-o", model)
    result = cli("export", model, "--to", target)
    assert result.code == 0
    assert sign in result.out


def test_export_by_ending_and_refusals(cli, refused, data, tmp_path):
    model = tmp_path / "m.json"
    cli("fit", data, "-m", "platt", "-o", model)
    assert cli("export", model, "-o", tmp_path / "m.py", "--name", "f").code == 0
    assert "def f(" in (tmp_path / "m.py").read_text()
    assert "--to must be one of" in refused("export", model)
    assert "not a calibrant model" in refused("export", data, "--to", "sql")
    assert "There is no file" in refused("apply", tmp_path / "n.json", data)
    assert "does not say the format" in refused("apply", model, data, "-o", tmp_path / "out.xls")


def test_onnx_is_not_for_the_screen(refused, cli, data, tmp_path, monkeypatch):
    model = tmp_path / "model.json"
    cli("fit", data, "-m", "platt", "-o", model)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert "ONNX is not for the screen" in refused("export", model, "--to", "onnx")


def test_a_parquet_file_can_be_calibrated_in_its_place(cli, data, tmp_path):
    import duckdb

    model, table = tmp_path / "model.json", tmp_path / "table.parquet"
    cli("fit", data, "-m", "platt", "-o", model)
    duckdb.sql(f"COPY (FROM '{data}') TO '{table}' (FORMAT parquet)")
    assert cli("apply", model, table, "-o", table).code == 0
    expected = calibrant.load(model)(column(data, "score"))
    np.testing.assert_allclose(column(table, "probability"), expected, rtol=1e-13)
    assert "already has a column" in cli("apply", model, table, "-o", table).err
    assert cli("apply", model, table, "-o", table, "--name", "again").code == 0
    assert duckdb.sql(f"FROM '{table}'").columns == ["score", "label", "probability", "again"]
    assert not list(tmp_path.glob(".*"))
