"""compare, for two classes and for several."""

import json

import numpy as np
import pytest

from calibrant import compare
from calibrant.cli.methods import method_names

SCORES = ("-s", "p_cat,p_dog,p_fox", "-l", "animal")


def test_compare(cli, refused, data):
    text = cli("compare", data, "-m", "platt,isotonic")
    assert text.code == 0
    assert "Recommended: platt: its log-loss" in text.out
    assert "identity" in text.out
    plain = json.loads(cli("compare", data, "-m", "platt", "--folds", "3", "--seed", "1", "--json").out)
    assert plain["cv"] == 3
    assert plain["tied"] == []
    assert {row["name"] for row in plain["results"]} == {"identity", "platt"}
    assert "got 'plat'. Did you mean 'platt'?" in refused("compare", data, "-m", "plat")
    assert "--folds must be" in refused("compare", data, "--folds", "1")


def test_over_time_methods_are_judged_on_what_came_later(cli, refused, tmp_path):
    rng = np.random.default_rng(0)
    scores, day = rng.random(400), rng.permutation(np.arange(400) // 20)
    labels = (rng.random(400) < scores**2).astype(int)
    rows = tmp_path / "d.csv"
    rows.write_text(
        "score,label,day\n" + "\n".join(f"{float(s)!r},{y},{d}" for s, y, d in zip(scores, labels, day, strict=True))
    )
    found = cli("compare", rows, "-s", "score", "-l", "label", "-m", "platt", "--time", "day")
    assert found.code == 0, found.err
    alone = compare(scores, labels, methods=["platt"], time=day)
    assert found.out.startswith(alone.title.split(";")[0])
    assert "5 blocks of time" in found.out
    assert f"{alone['platt'].log_loss.value:.4f}" in found.out
    assert "cannot go together" in refused("compare", rows, "--time", "day", "--groups", "day")
    assert "--time must name a column" in refused("compare", rows, "--time", "d")
    assert "Lower --folds" in refused("compare", rows, "-s", "score", "-l", "label", "--time", "day", "--folds", "20")


def test_weights_that_may_not_be_counts_are_worth_a_warning(cli, refused, tmp_path):
    rows = tmp_path / "d.csv"
    lines = [f"{i / 100},{i % 7 < 3},{1 + i % 3},{(1 + i % 3) / 3}" for i in range(100)]
    rows.write_text("score,label,w,share\n" + "\n".join(lines))
    found = cli("-q", "compare", rows, "-m", "platt", "-w", "w")
    assert found.code == 0
    assert found.err.startswith("warning: Each weight counts as that many rows, so the weights in 'w' must be counts")
    assert cli("-q", "compare", rows, "-m", "platt", "-w", "share").err == ""
    assert "'--seed'" in refused("compare", rows, "-m", "platt", "--seed", "-1")


def test_methods_that_need_probabilities_are_named(cli, tmp_path):
    rows = tmp_path / "d.csv"
    rows.write_text("score,label\n" + "".join(f"{i},{(i * 7) % 10 < i // 10}\n" for i in range(100)))
    text = cli("compare", rows, "-m", "platt,beta,spline", "--space", "decision")
    assert text.code == 0, text.err
    notes = [line for line in text.err.splitlines() if line.startswith("- ")]
    for name in ("beta", "spline"):
        assert f"- {name}: it needs probabilities, and these are decision scores." in notes


def test_several_classes_are_what_the_library_says(cli, refused, animals):
    text = cli("compare", animals, *SCORES, "-m", "temperature,vector_scaling")
    assert text.code == 0, text.err
    assert text.out.startswith("300 rows of 3 classes")
    assert "Recommended: " in text.out
    plain = json.loads(cli("compare", animals, *SCORES, "-m", "temperature", "--json").out)
    lines = [line.split(",") for line in animals.read_text().splitlines()[1:]]
    matrix = [[float(cell) for cell in line[:3]] for line in lines]
    alone = compare(matrix, [line[3] for line in lines], methods=["temperature"])
    assert plain["results"][0]["log_loss"]["value"] == pytest.approx(alone.results[0].log_loss.value, rel=1e-9)
    assert "'platt' takes one score for each row" in refused("compare", animals, *SCORES, "-m", "platt")


def test_by_default_the_methods_that_fit_can_save(cli, animals):
    animals.write_text("\n".join(animals.read_text().splitlines()[:61]) + "\n")
    plain = json.loads(cli("compare", animals, *SCORES, "--folds", "2", "--json").out)
    assert {one["name"] for one in plain["results"]} == {"identity", *method_names("matrix")}


def test_the_highest_score_of_each_row(cli, animals):
    plain = json.loads(cli("compare", animals, *SCORES, "--top-label", "-m", "platt", "--json").out)
    assert plain["n_rows"] == 300
    assert plain["base_rate"] > 0.4
