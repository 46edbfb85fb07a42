"""compare, for two classes and for several."""

import json
from dataclasses import replace

import pytest

from calibrant import Tally, compare, simulate
from calibrant.cli.compare import best_for_all

SCORES = ("-s", "p_cat,p_dog,p_fox", "-l", "animal")


def test_compare(cli, refused, data):
    text = cli("compare", data, "-m", "platt,isotonic")
    assert text.code == 0
    assert "Recommended: platt: its log-loss" in text.out
    assert "identity" in text.out
    plain = json.loads(cli("compare", data, "-m", "platt", "--folds", "3", "--seed", "1", "--json").out)
    assert plain["n_folds"] == 3
    assert plain["tied"] == []
    assert {row["name"] for row in plain["results"]} == {"identity", "platt"}
    assert "There is no method 'plat'. Did you mean 'platt'" in refused("compare", data, "-m", "plat")
    assert "--folds must be" in refused("compare", data, "--folds", "1")


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
    text = cli("compare", rows, "-m", "platt,beta,spline")
    assert text.code == 0, text.err
    notes = [line for line in text.err.splitlines() if line.startswith("- ")]
    for name in ("beta", "spline"):
        assert f"- {name}: it needs probabilities; some of these scores lie outside [0, 1]." in notes


def test_every_class_against_the_rest(cli, animals):
    text = cli("compare", animals, *SCORES, "-m", "platt,isotonic")
    assert text.code == 0, text.err
    assert "--top-label uses the highest score" in text.err
    title, heads, *rows, last = text.out.splitlines()
    assert title.startswith("300 rows, 3 classes, each against the rest; 5-fold cross-validation")
    assert heads.split()[0] == "class"
    assert [row.split()[0] for row in rows] == ["p_cat", "p_dog", "p_fox"]
    assert sum(int(row.split()[1]) for row in rows) == 300
    assert last.startswith("Recommended for all classes: ")


def test_every_class_as_json_is_what_the_library_says(cli, animals):
    plain = json.loads(cli("compare", animals, *SCORES, "-m", "platt", "--json").out)
    assert list(plain["classes"]) == ["p_cat", "p_dog", "p_fox"]
    lines = [line.split(",") for line in animals.read_text().splitlines()[1:]]
    alone = compare([float(line[1]) for line in lines], [line[3] == "dog" for line in lines], methods=["platt"])
    assert plain["classes"]["p_dog"]["results"][0]["log_loss"]["value"] == alone.results[0].log_loss.value
    assert plain["recommended"] in ("identity", "platt")


def test_the_highest_score_of_each_row(cli, animals):
    plain = json.loads(cli("compare", animals, *SCORES, "--top-label", "-m", "platt", "--json").out)
    assert plain["n_rows"] == 300
    assert plain["base_rate"] > 0.4


def test_a_class_with_too_few_rows_is_left_out_with_a_reason(cli, refused, animals):
    rows = animals.read_text().replace(",fox,", ",cat,")
    animals.write_text(rows)
    text = cli("compare", animals, *SCORES, "-m", "platt")
    assert text.code == 0
    assert "- p_fox: A comparison needs at least 2 rows of each class" in text.err
    animals.write_text(rows.replace(",dog,", ",cat,"))
    assert "No class can be compared against the rest" in refused("compare", animals, *SCORES, "-m", "platt")


@pytest.fixture(scope="module")
def two():
    found = {}
    for name, seed in (("a", 0), ("b", 1)):
        rows = simulate.from_truth("underconfident", 1000, rng=seed)
        found[name] = compare(Tally.from_arrays(rows.scores, rows.labels), methods=["platt", "isotonic"])
    return found


def test_one_method_for_all_classes(two):
    best, reason = best_for_all(two)
    assert best == "platt"
    mean = sum(one["platt"].log_loss.value for one in two.values()) / 2
    assert reason.startswith(f"platt: averaged over the classes, its log-loss is the lowest ({mean:.4f}; raw")
    calm = {name: replace(one, recommended="identity") for name, one in two.items()}
    assert best_for_all(calm)[1].startswith("do nothing: for no class")
    # A method that failed for one class cannot serve all.
    failed = replace(two["a"], results=tuple(r for r in two["a"].results if r.name != "platt"))
    assert best_for_all({**two, "a": failed})[0] == "isotonic"
