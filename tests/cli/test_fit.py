"""fit does what the library does, and says what it did."""

import json

import numpy as np
import pytest

import calibrant
from calibrant.cli.methods import method_names


def test_a_model_and_its_summary(cli, data, tmp_path):
    result = cli("fit", data, "--method", "platt")
    assert json.loads(result.out)["format"] == "calibrant"
    assert "PlattScaling fitted to 400 rows" in result.err
    summary = cli("fit", data, "--method", "platt", "-o", tmp_path / "m.json", "--json")
    assert json.loads(summary.out)["method"] == "PlattScaling"


def test_the_default_method_and_decision_scores(cli, tmp_path):
    rng = np.random.default_rng(0)
    margin = rng.normal(size=300)
    rows = "\n".join(f"{x},{int(rng.random() < 1 / (1 + np.exp(-x)))}" for x in margin)
    path = tmp_path / "margin.csv"
    path.write_text(f"score,label\n{rows}\n")
    assert cli("fit", path, "--space", "decision", "-o", tmp_path / "default.json").code == 0
    assert calibrant.load(tmp_path / "default.json").space == "decision"
    assert cli("fit", path, "-m", "platt", "--space", "decision", "-o", tmp_path / "platt.json").code == 0
    assert calibrant.load(tmp_path / "platt.json").space == "decision"


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


def test_several_classes_have_one_model(cli, animals, tmp_path):
    scores = ("-s", "p_dog,p_cat,p_fox", "-l", "animal")
    model = tmp_path / "m.json"
    summary = json.loads(cli("fit", animals, *scores, "-w", "w", "-o", model, "--json").out)
    assert (summary["method"], summary["classes"]) == ("MatrixBlend", 3)
    map_ = calibrant.load(model)
    assert (map_.classes, map_.columns) == (("dog", "cat", "fox"), ("p_dog", "p_cat", "p_fox"))
    table = np.genfromtxt(animals, delimiter=",", names=True, dtype=None, encoding="utf-8")
    matrix = np.column_stack([table["p_cat"], table["p_dog"], table["p_fox"]])
    alone = calibrant.MatrixBlend().fit(matrix, table["animal"], table["w"])
    np.testing.assert_allclose(map_(matrix[:, [1, 0, 2]]), alone.predict_proba(matrix)[:, [1, 0, 2]], atol=1e-6)


@pytest.mark.parametrize("method", method_names("matrix"))
def test_methods_for_several_classes(cli, animals, tmp_path, method):
    scores = ("-s", "p_cat,p_dog,p_fox", "-l", "animal", "--space", "decision")
    assert cli("fit", animals, *scores, "-m", method, "-o", tmp_path / "m.json").code == 0
    map_ = calibrant.load(tmp_path / "m.json")
    assert map_.space == "decision"
    assert map_([[9.0, -9.0, 0.0]]).sum() == pytest.approx(1.0)


def test_methods_and_spaces_that_do_not_suit_several_classes(cli, refused, animals, data, tmp_path):
    scores, model = ("-s", "p_cat,p_dog,p_fox", "-l", "animal"), tmp_path / "m.json"
    assert "'platt' takes one score for each row" in refused("fit", animals, *scores, "-m", "platt", "-o", model)
    assert "beta takes probabilities only" in refused("fit", data, "-m", "beta", "--space", "decision")
    assert "has no option 'n_bins'; it has space" in refused("fit", animals, *scores, "--set", "n_bins=3")
    animals.write_text(animals.read_text().replace("0.", "1.", 3))
    assert "need a --score for each); row 0 has" in (message := refused("fit", animals, *scores))
    assert message.endswith("or pass log-probabilities with --space decision.")


def test_a_class_without_rows_is_remarked_on(cli, animals, tmp_path):
    animals.write_text(animals.read_text().replace(",fox,", ",cat,"))
    result = cli("fit", animals, "-s", "p_cat,p_dog,p_fox", "-l", "animal", "-o", tmp_path / "m.json")
    assert "warning: No rows of fox" in result.err
    assert calibrant.load(tmp_path / "m.json").classes == ("cat", "dog", "fox")


def test_a_private_model_stays_private(cli, data, tmp_path):
    model = tmp_path / "m.json"
    model.touch(mode=0o600)
    assert cli("fit", data, "-m", "platt", "-o", model).code == 0
    assert model.stat().st_mode & 0o777 == 0o600
