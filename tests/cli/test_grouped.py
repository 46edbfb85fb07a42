"""--groups keeps rows together, as `groups=` does in the library."""

import json

import numpy as np
import pytest

from calibrant import compare, evaluate, simulate


@pytest.fixture
def patients(tmp_path):
    data = simulate.from_truth("underconfident", 60)
    rows = [np.repeat(column, 8) for column in (data.scores, data.labels.astype(int), np.arange(60))]
    path = tmp_path / "patients.csv"
    text = "".join(f"{score!r},{label},p{group}\n" for score, label, group in zip(*map(list, rows), strict=True))
    path.write_text("score,label,patient\n" + text.replace("np.float64(", "").replace(")", ""))
    return path, rows


def test_evaluate_is_that_of_the_library(cli, patients):
    path, (scores, labels, groups) = patients
    plain = json.loads(cli("evaluate", path, "--groups", "patient", "--json").out)
    names = [f"p{group}" for group in groups]
    assert plain["models"] == evaluate(labels, scores, groups=names).to_dict()["models"]
    assert "60 groups" in cli("evaluate", path, "--groups", "patient").out


def test_compare_is_that_of_the_library(cli, patients):
    path, (scores, labels, groups) = patients
    plain = json.loads(cli("compare", path, "--groups", "patient", "-m", "platt", "--json").out)
    names = [f"p{group}" for group in groups]
    wanted = compare(scores, labels, methods=["platt"], groups=names)["platt"].log_loss_difference
    found = next(result for result in plain["results"] if result["name"] == "platt")["log_loss_difference"]
    assert found == wanted.to_dict()


def test_a_positive_label_and_the_highest_score_of_several_classes(cli, animals):
    scores = ("-s", "p_cat,p_dog,p_fox", "-l", "animal", "--groups", "id", "--top-label")
    rows = animals.read_text().splitlines()
    path = animals.with_name("with_id.csv")
    path.write_text("\n".join([rows[0] + ",id", *(f"{row},{i // 3}" for i, row in enumerate(rows[1:]))]) + "\n")
    assert cli("evaluate", path, *scores).code == 0


def test_refusals(refused, patients, animals):
    path, _ = patients
    assert "there is no 'patien'" in refused("evaluate", path, "--groups", "patien")
    assert "cannot go together" in refused("evaluate", path, "--groups", "patient", "--by", "patient")
    path.write_text("score,label,patient\n0.1,0,\n0.2,1,a\n0.7,1,b\n")
    assert "--groups 'patient' is missing in 1 rows" in refused("compare", path, "--groups", "patient")
    several = ("-s", "p_cat,p_dog,p_fox", "-l", "animal", "--groups", "animal")
    assert "--top-label" in refused("evaluate", animals, *several)
