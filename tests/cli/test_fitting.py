"""fit and apply do what the library does, and say what they did."""

import json
import os

import numpy as np

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


def test_models_and_endings_are_checked(refused, cli, data, tmp_path):
    model = tmp_path / "m.json"
    cli("fit", data, "-m", "platt", "-o", model)
    assert "There is no file" in refused("apply", tmp_path / "n.json", data)
    assert "does not say the format" in refused("apply", model, data, "-o", tmp_path / "out.xls")


def test_a_table_is_not_overwritten_by_its_model(refused, data):
    assert "is to be read, and would be overwritten" in refused("fit", data, "-o", data)


def test_rows_of_one_class_are_remarked_on(cli, tmp_path):
    table = tmp_path / "ones.csv"
    table.write_text("score,label\n0.2,1\n0.4,1\n0.9,1\n")
    result = cli("fit", table, "-o", tmp_path / "m.json")
    assert result.code == 0
    assert "warning: All 3 rows are positive" in result.err


def test_classes_that_are_left_out_are_named(cli, tmp_path):
    table, model = tmp_path / "rows.csv", tmp_path / "m.json"
    rows = [f"{k}{i},{p},{q},{r},0" for i in range(9) for k, p, q, r in (("a", 0.7, 0.2, 0.1), ("b", 0.3, 0.5, 0.2))]
    text = "\n".join(f"{row[0]},{row.split(',', 1)[1]}" for row in rows)
    table.write_text(f"label,p_a,p_b,p_c,p_d\n{text}\nc,0.1,0.2,0.7,0\n")
    fitted = cli("fit", table, "-l", "label", "-s", "p_a,p_b,p_c,p_d", "-m", "platt", "-o", model)
    assert fitted.code == 0
    assert "warning: All 19 rows for m.p_d.json are negative" in fitted.err
    result = cli("apply", model, table, "-s", "p_a,p_b")
    assert result.code == 0
    assert "add up to 1 over the 2 named classes; not used: m.p_c.json, m.p_d.json" in result.err
    assert "named classes" not in cli("apply", model, table, "-s", "p_a,p_b,p_c,p_d").err


def test_a_name_with_a_comma_is_one_column(cli, data, tmp_path):
    model, table = tmp_path / "m.json", tmp_path / "odd.csv"
    cli("fit", data, "-m", "platt", "-o", model)
    table.write_text('"score, raw",id\n0.5,1\n')
    assert cli("apply", model, table, "-s", "score, raw").code == 0


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
