"""gate: from which score rows can be accepted."""

import json

import numpy as np
import pytest

from calibrant.decisions import acceptance


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    scores, segment = rng.beta(4, 1.2, 1200), rng.choice(["de", "en"], 1200)
    return (rng.random(1200) < scores).astype(int), scores, segment


@pytest.fixture
def table(rows, tmp_path):
    lines = [f"{s!r},{y},{g}" for y, s, g in zip(*(column.tolist() for column in rows), strict=True)]
    (tmp_path / "data.csv").write_text("\n".join(["score,label,language", *lines]) + "\n")
    return tmp_path / "data.csv"


def test_it_prints_what_the_library_finds(cli, table, rows):
    found = acceptance(rows[0], rows[1], precision=0.85)
    answer = json.loads(cli("gate", table, "--precision", "0.85", "--json").out)
    assert answer["threshold"] == found.threshold
    assert answer["share"] == found.share
    text = cli("gate", table, "--precision", "0.85")
    assert text.code == 0
    assert f"Accept from a score of {found.threshold:.6g} (a calibrated probability of 0." in text.out
    more = json.loads(cli("gate", table, "--precision", "0.85", "--guarantee", "posterior", "--json").out)
    assert more["threshold"] < found.threshold


def test_a_budget_and_unlabelled_rows(cli, table, rows, tmp_path):
    (tmp_path / "new.csv").write_text("\n".join(["score", *(str(s) for s in rows[1][:500])]))
    answer = json.loads(cli("gate", table, "--budget", "0.25", "--unlabelled", tmp_path / "new.csv", "--json").out)
    assert answer["n_rows"] == 500
    assert answer["unlabelled"]
    text = cli("gate", table, "--precision", "0.85", "--unlabelled", tmp_path / "new.csv").out
    assert "% of the 500 rows without labels, at least 85 % of them right" in text
    assert "% of rows, at least 85 % of them right" in cli("gate", table, "--precision", "0.85").out
    assert answer["share"] == 0.75


def test_a_gate_for_each_segment(cli, table, rows):
    found = acceptance(*rows[:2], segment=rows[2], precision=0.8)
    answer = json.loads(cli("gate", table, "--precision", "0.8", "--by", "language", "--json").out)
    assert {gate["segment"]: gate["threshold"] for gate in answer["gates"]} == {
        name: gate.threshold for name, gate in found.gates.items()
    }
    assert "of every segment" in cli("gate", table, "--precision", "0.8", "--by", "language").out
    refused = cli("gate", table, "--budget", "0.1", "--by", "language")
    assert refused.code == 2
    assert "needs --precision" in refused.err


def test_several_classes_by_their_top_one(cli, tmp_path):
    rng = np.random.default_rng(1)
    matrix = rng.dirichlet([0.2] * 3, 600).round(6)
    matrix[:, 2] = 1.0 - matrix[:, 0] - matrix[:, 1]
    labels = [int(rng.choice(3, p=np.maximum(row, 0) / np.maximum(row, 0).sum())) for row in matrix]
    names = ["a", "b", "c"]
    lines = [",".join([*map(str, np.abs(row).round(6)), names[y]]) for row, y in zip(matrix, labels, strict=True)]
    (tmp_path / "classes.csv").write_text("\n".join(["a,b,c,label", *lines]) + "\n")
    answer = json.loads(cli("gate", tmp_path / "classes.csv", "--score", "a,b,c", "-p", "0.8", "--json").out)
    assert answer["threshold"] > 0.34


def test_neither_precision_nor_budget_is_refused(cli, table):
    refused = cli("gate", table)
    assert refused.code == 2
    assert "precision" in refused.err
