"""fit does what the library does, and says what it did."""

import json
from pathlib import Path

import numpy as np

import calibrant
from calibrant.cli.fit import class_file


def test_a_model_and_its_summary(cli, data, tmp_path):
    result = cli("fit", data, "--method", "platt")
    assert json.loads(result.out)["format"] == "calibrant-map"
    assert "PlattScaling fitted to 400 rows" in result.err
    summary = cli("fit", data, "--method", "platt", "-o", tmp_path / "m.json", "--json")
    assert json.loads(summary.out)["method"] == "PlattScaling"


def test_the_default_method_and_decision_scores(cli, tmp_path):
    rng = np.random.default_rng(0)
    margin = rng.normal(size=300)
    rows = "\n".join(f"{x},{int(rng.random() < 1 / (1 + np.exp(-x)))}" for x in margin)
    path = tmp_path / "margin.csv"
    path.write_text(f"score,label\n{rows}\n")
    fitted = cli("fit", path, "-o", tmp_path / "default.json")
    assert fitted.code == 0
    assert calibrant.load(tmp_path / "default.json").space == "real"
    assert cli("fit", path, "-m", "platt", "-o", tmp_path / "platt.json").code == 0
    assert calibrant.load(tmp_path / "platt.json").space == "real"


def test_options_of_a_method(cli, refused, data, tmp_path):
    model = tmp_path / "m.json"
    assert cli("fit", data, "-m", "histogram", "--set", "n_bins=3", "-o", model).code == 0
    assert len(np.unique(calibrant.load(model)(np.linspace(0, 1, 100)))) <= 3
    assert "has no option 'nbins'; it has" in refused("fit", data, "-m", "histogram", "--set", "nbins=3")
    assert "name and a value" in refused("fit", data, "--set", "n_bins")
    assert "Did you mean 'isotonic'" in refused("fit", data, "-m", "isotonc")
    assert "model needs a file" in refused("fit", data, "--json")


def test_a_table_is_not_overwritten_by_its_model(refused, data):
    assert "is an input and would be overwritten" in refused("fit", data, "-o", data)


def test_rows_of_one_class_are_remarked_on(cli, tmp_path):
    table = tmp_path / "ones.csv"
    table.write_text("score,label\n0.2,1\n0.4,1\n0.9,1\n")
    result = cli("fit", table, "-o", tmp_path / "m.json")
    assert result.code == 0
    assert "warning: All 3 rows are positive" in result.err


def test_several_classes_have_a_model_each(refused, cli, animals, tmp_path):
    scores = ("-s", "p_cat,p_dog,p_fox", "-l", "animal", "-m", "platt", "-w", "w")
    assert cli("fit", animals, *scores, "-o", tmp_path / "m.json").code == 0
    assert sorted(path.name for path in tmp_path.glob("m.*")) == ["m.p_cat.json", "m.p_dog.json", "m.p_fox.json"]
    assert Path(class_file("x/model", "cat")).name == "model.cat.json"
    assert "a model for each" in refused("fit", animals, *scores)


def test_a_private_model_stays_private(cli, data, tmp_path):
    model = tmp_path / "m.json"
    model.touch(mode=0o600)
    assert cli("fit", data, "-m", "platt", "-o", model).code == 0
    assert model.stat().st_mode & 0o777 == 0o600
