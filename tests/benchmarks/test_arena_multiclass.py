"""The arena of several classes: its measures by hand, its rows, and a run that goes on where it ended."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))  # benchmarks are not installed

from benchmarks.arena import multiclass, multiclass_summary  # noqa: E402

LOSSES = {
    ("a_nb", 200): {"raw": 0.4, "x": 0.3, "calibrant.y": 0.2},
    ("b_nb", 200): {"raw": 0.1, "x": 0.3, "calibrant.y": 0.2},
    ("b_rf", 200): {"raw": 0.5, "x": 0.6, "calibrant.y": 0.4},
}
INDEX = pd.DataFrame({"task": ["a_nb", "b_nb", "b_rf"], "source": "EpistasisLab/pmlb", "K": [3, 30, 30]}).set_index(
    "task"
)


def hand_table():
    return pd.DataFrame(LOSSES).T.rename_axis(index=["task", "N"], columns="method")


def test_measures_by_hand():
    found = multiclass_summary.measures(hand_table()).loc["calibrant.y"]
    assert found["excess", 200] == pytest.approx((-100 + 100 - 100) / 3)
    assert found["win", 200] == pytest.approx((1 + 0.5 + 1) / 3)
    assert found["harm 95 %", 200] == pytest.approx(np.quantile([-200, 100, -100], 0.95))
    assert found["tasks", 200] == 3


def test_groups_by_number_of_classes():
    found = multiclass_summary.by_classes(hand_table(), INDEX)
    assert found.loc["calibrant.y", ("≤ 5", 200)] == pytest.approx(-100)
    assert found.loc["calibrant.y", ("21–100", 200)] == pytest.approx(0.0)


def test_paired_differences_have_errors_clustered_by_data_set():
    found = multiclass_summary.paired(hand_table(), INDEX, "calibrant.y")
    differences = np.array([-100.0, -100.0, -200.0])
    assert found.loc["x", ("difference", 200)] == pytest.approx(differences.mean())
    centred = differences - differences.mean()
    expected = np.sqrt(2.0 * (centred[0] ** 2 + (centred[1] + centred[2]) ** 2)) / 3.0
    assert found.loc["x", ("error", 200)] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("task", "source", "name"),
    [
        ("wine_quality_white_nb", "EpistasisLab/pmlb", "wine_quality_white"),
        ("cifar10h_resnet_110", "GavinKerrigan/conf_matrix_and_calibration", "cifar10"),
        ("crossval_mnist", "cleanlab/label-errors", "crossval_mnist"),
        ("llm_qwen_7b", "colts661/LLM-Uncertainty-Bench", "llm"),
    ],
)
def test_data_sets(task, source, name):
    assert multiclass_summary.data_set(task, source) == name


def test_measure_by_hand():
    found = multiclass.measure(np.array([[0.5, 0.25, 0.25], [0.0, 0.5, 0.5]]), np.array([0, 0]))
    assert found["log_loss"] == pytest.approx(-(np.log(0.5) + np.log(1e-7)) / 2)
    assert found["brier"] == pytest.approx((0.25 + 2 / 16 + 1 + 0.5) / 2)
    assert found["accuracy"] == 0.5


def make_folder(folder):
    rng = np.random.default_rng(0)
    truth = rng.dirichlet(np.ones(3), size=1000)
    y = (truth.cumsum(axis=1) < rng.random((1000, 1))).sum(axis=1)
    np.savez(folder / "made_nb.npz", logp=2.0 * np.log(truth).astype(np.float32), y=y)
    pd.DataFrame({"task": ["made_nb"], "source": ["make"], "K": [3]}).to_csv(folder / "INDEX.csv", index=False)
    peers = {
        "task": "made_nb",
        "K": 3,
        "N": 200,
        "seed": 0,
        "method": ["raw", "x"],
        "log_loss": [1.2, 1.1],
        "brier": 0.7,
    }
    pd.DataFrame(peers).to_csv(folder / "peers.csv", index=False)


def test_runs_go_on_where_they_ended_and_are_summarised(tmp_path, capsys):
    make_folder(tmp_path)
    out = tmp_path / "rows.csv"
    options = ["run", "--data", str(tmp_path), "--out", str(out), "--sizes", "200", "900", "--methods", "*vector*"]
    multiclass.main(options)
    rows = pd.read_csv(out)
    assert rows["N"].tolist() == [200]  # 900 would leave too few rows to judge on
    assert rows["log_loss"][0] < 1.1
    multiclass.main(options)
    assert len(pd.read_csv(out)) == 1
    multiclass.main(["summary", str(out), "--data", str(tmp_path)])
    assert "calibrant.vector_scaling" in capsys.readouterr().out
    picture = tmp_path / "ranks.png"
    multiclass.main(["picture", str(out), "--data", str(tmp_path), "--n", "200", "--out", str(picture)])
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_classes_of_other_packages_take_part_on_tables_without_recorded_peers(tmp_path, capsys):
    make_folder(tmp_path)
    (tmp_path / "peers.csv").unlink()
    out, foreign = tmp_path / "rows.csv", "calibrant.multiclass.scaling:VectorScaling"
    options = ["run", "--data", str(tmp_path), "--out", str(out), "--sizes", "200", "--methods"]
    multiclass.main([*options, foreign, "calibrant.vector_scaling", "raw"])
    losses = pd.read_csv(out).set_index("method")["log_loss"]
    assert losses[foreign] == losses["calibrant.vector_scaling"] < losses["raw"]
    multiclass.main(["summary", str(out), "--data", str(tmp_path)])
    assert foreign in capsys.readouterr().out


@pytest.mark.parametrize("name", ["no_package.here:Method", "calibrant:NoSuchClass", "nosuch.*"])
def test_a_method_that_is_not_there_ends_the_run_before_it_begins(name, tmp_path):
    make_folder(tmp_path)
    with pytest.raises(
        SystemExit, match=r"^(No method fits|The method) .*" + name.partition(":")[0].replace("*", r"\*")
    ):
        multiclass.main(["run", "--data", str(tmp_path), "--out", str(tmp_path / "o.csv"), "--methods", name])
    assert not (tmp_path / "o.csv").exists()


def test_splits_do_not_overlap(tmp_path):
    make_folder(tmp_path)
    (table,) = multiclass.tables(tmp_path, ["made*"])
    ((n, seed, split),) = table.splits((200,), (1,))
    assert (n, seed, len(split.labels), len(split.test_labels)) == (200, 1, 200, 800)
    np.testing.assert_allclose(split.scores.sum(axis=1), 1.0)
    both = np.concatenate((split.scores, split.test_scores))
    assert len(np.unique(both, axis=0)) == len(both)
