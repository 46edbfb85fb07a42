"""The arena: its measures on tables computed by hand, its runs resumed, and the slot of CalArena."""

import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from calibrant import PlattScaling, TemperatureScaling, simulate
from calibrant.calibrators import METHODS

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))  # benchmarks are not installed

from benchmarks.arena import heldout, methods, runner, sources, summary, tables  # noqa: E402
from benchmarks.arena.__main__ import main  # noqa: E402
from benchmarks.calarena import slot  # noqa: E402

DATA = ROOT / "tests" / "data"


def rows_of(table, n=100):
    """Rows of {task: {method: loss}}; Brier scores are half of the log-losses."""
    return pd.DataFrame(
        {"task": task, "n": n, "rep": 0, "method": m, "log_loss": x, "brier": x / 2, "seconds": 0.5, "error": None}
        for task, losses in table.items()
        for m, x in losses.items()
    )


HAND = {
    "a": {"ref.raw": 0.4, "peer.x": 0.3, "calibrant.y": 0.2},
    "b": {"ref.raw": 0.1, "peer.x": 0.3, "calibrant.y": 0.2},
}


def test_measures_by_hand():
    found = summary.summarise(rows_of(HAND), "log_loss").loc["calibrant.y"]
    assert found["win", 100] == pytest.approx(0.75)
    assert found["peers", 100] == pytest.approx(0.75)
    assert found["excess", 100] == pytest.approx(1000 * (-0.1 + 0.1) / 2, abs=1e-9)
    assert found["harm", 100] == pytest.approx(np.quantile([-200, 100], 0.95))
    assert found["ms", 100] == pytest.approx(500)


def test_a_missing_result_is_the_worst_and_a_method_without_results_is_left_out():
    table = {task: losses | {"peer.gone": math.nan} for task, losses in HAND.items()}
    table["a"]["peer.x"] = math.nan
    found = summary.summarise(rows_of(table), "log_loss")
    assert "peer.gone" not in found.index
    assert found.loc["peer.x", ("harm", 100)] == pytest.approx(np.quantile([0, 200], 0.95))
    assert found.loc["peer.x", ("win", 100)] == 0.0


def test_the_truth_is_the_measure_of_simulations_but_no_rival():
    table = {"a": HAND["a"] | {"ref.truth": 0.15}, "b": HAND["b"]}
    found = summary.summarise(rows_of(table), "log_loss")
    assert "ref.truth" not in found.index
    assert found.loc["calibrant.y", ("excess", 100)] == pytest.approx(1000 * (0.05 + 0.1) / 2)


def test_other_methods_of_ours_do_not_change_the_wins_over_peers():
    table = {task: losses | {"calibrant.z": 9.0} for task, losses in HAND.items()}
    found = summary.summarise(rows_of(table), "log_loss").loc["calibrant.y"]
    assert found["peers", 100] == pytest.approx(0.75)
    assert found["win", 100] == pytest.approx((3 + 2) / 6)


def test_ranks_and_the_critical_difference_of_the_literature():
    rng = np.random.default_rng(0)
    table = {f"t{i}": dict(zip("abcd", rng.permutation(4) / 10, strict=True)) for i in range(14)}
    result = summary.ranking(rows_of(table), "log_loss", 100)
    # Demšar (2006), section 3.2.2: q = 2.569 for four classifiers, 14 data sets give 1.25.
    assert result.critical_difference == pytest.approx(1.25, abs=0.005)
    assert result.ranks.sum() == pytest.approx(10.0)
    assert result.ranks.is_monotonic_increasing


def test_groups_are_the_longest_runs_within_the_critical_difference():
    ranks = pd.Series([1.0, 1.5, 2.2, 4.0], list("abcd"))
    assert summary.Ranking(ranks, 1.0, 0.0, 10).groups() == [(0, 1), (1, 2)]


def test_expected_losses_of_the_truth_are_the_least():
    truth = simulate.bayes_iso(500, rng=0).probabilities
    best = runner.losses(truth, truth)
    other = runner.losses(truth, np.clip(truth + 0.05, 0, 1))
    assert best[0] < other[0]
    assert other[1] - best[1] == pytest.approx(np.mean((np.clip(truth + 0.05, 0, 1) - truth) ** 2))


def test_losses_of_sure_and_wrong_predictions_are_finite():
    assert runner.losses(np.array([1]), np.array([0.0]), 1e-15) == pytest.approx((-math.log(1e-15), 1.0))


def test_calibration_and_test_rows_are_the_recorded_ones():
    split = sources.permuted(np.arange(9000) / 9000, np.zeros(9000, int), 100, 3)
    order = np.random.default_rng(3).permutation(9000)
    np.testing.assert_array_equal(split.scores, order[:100] / 9000)
    np.testing.assert_array_equal(split.test_scores, order[100:6100] / 9000)


@pytest.mark.parametrize("task", list(sources.simulations()), ids=lambda task: task.name)
def test_every_simulation_gives_the_truth_of_the_rows_to_calibrate_on(task):
    split = task.open()(3000, 1)
    assert split.truth_known
    assert len(split.scores) == len(split.labels) == 3000
    order = np.argsort(split.test_scores)
    truth = np.interp(split.scores, split.test_scores[order], split.expected[order])
    assert np.abs((split.labels - truth).mean()) < 4 * np.sqrt((truth * (1 - truth)).mean() / 3000) + 1e-3
    assert np.mean((split.labels - truth) ** 2) < np.mean(truth * (1 - truth)) + 0.03
    assert 0.0 <= split.expected.min() < split.expected.max() <= 1.0


@pytest.mark.parametrize("learner", ["nb", "svm"])
def test_scores_of_learners_are_probabilities_of_rows_not_trained_on(learner):
    task = next(task for task in sources.sklearn_sets() if task.name == f"sklearn.breast_cancer_{learner}")
    split = task.open()(100, 0)
    assert len(split.scores) == 100
    assert len(split.test_scores) == 469
    assert 0.0 <= split.scores.min() < split.scores.max() <= 1.0


def test_the_protocol_lists_each_table_once_with_a_rule_that_can_be_read():
    listed = heldout.sources()
    assert listed.index.is_unique
    assert not listed.duplicated(["package", "item"]).any()
    assert listed["positive"].str.fullmatch(r"> (median|\d+)|= .+").all()
    assert len(list(sources.heldout_tables())) == len(listed) * len(heldout.LEARNERS)


def test_rules_say_which_rows_are_positive():
    numbers = pd.Series([1.0, 2.0, 2.0, 5.0])
    np.testing.assert_array_equal(heldout.is_positive(numbers, "> median"), [0, 0, 0, 1])
    np.testing.assert_array_equal(heldout.is_positive(numbers, "> 1"), [0, 1, 1, 1])
    np.testing.assert_array_equal(heldout.is_positive(pd.Series([" yes", "no"]), "= yes"), [1, 0])


def test_columns_of_held_out_tables_are_filled_and_spread():
    table = pd.DataFrame({"x": [1.0, 3.0, np.nan, 9.0], "flag": [True, False, True, True]})
    table["kind"] = ["a", None, "b", "a"]
    table["name"] = [f"{i}" for i in range(4)]
    expected = [[1, 1, 1, 0, 0], [3, 0, 0, 0, 1], [2, 1, 0, 1, 0], [9, 1, 1, 0, 0]]  # 2 is the median of the first two
    np.testing.assert_array_equal(heldout.encoded(table.drop(columns="name"), 2), expected)
    long = pd.DataFrame({"x": np.arange(40.0), "name": [f"{i}" for i in range(40)]})
    assert heldout.encoded(long, 10).shape == (40, 1)


def test_a_held_out_table_trains_on_a_third_and_leaves_500_rows_to_judge(monkeypatch):
    rng = np.random.default_rng(0)
    x = rng.normal(size=1800)
    made = pd.DataFrame({"rownames": np.arange(1800), "x": x, "z": rng.normal(size=1800), "leak": x})
    made["y"] = np.where(rng.random(1800) < 1 / (1 + np.exp(-2 * x)), "yes", "no")
    made.loc[:2, "y"] = None
    monkeypatch.setattr(heldout, "opened", lambda *_: made)
    source = pd.Series({"package": "made", "item": "up", "target": "y", "positive": "= yes", "without": "leak"})
    X, y, n_train = heldout.prepared(*source)
    assert (X.shape, n_train) == ((1797, 2), 599)
    scores, labels = heldout.scored_rows(source, "lr")
    assert len(scores) == 1198
    np.testing.assert_array_equal(labels, y[599:])
    # The model knows x alone: its logit is a line in it, near the truth's slope of 2.
    slope = np.polyfit(X[599:, 0], np.log(scores / (1 - scores)), 1)[0]
    assert slope == pytest.approx(2.0, abs=0.5)
    split = sources._open_heldout(source, "lr")
    assert len(split(698, 0).test_scores) == 500
    with pytest.raises(ValueError, match="too few"):
        split(699, 0)


def test_learners_on_one_held_out_table_are_one_source():
    found = {summary.source(task.name) for task in sources.heldout_tables()}
    assert found == {f"heldout_{name}" for name in heldout.sources().index}


def test_how_far_others_are_behind_and_on_how_many_sources_they_are_ahead():
    blend = {"calibrant.blend": 0.2}
    tables = {"a_nb": {"peer.x": 0.3}, "a_rf": {"peer.x": 0.1}, "b_nb": {"peer.x": 0.15}, "c_nb": {"peer.x": 0.25}}
    found = summary.behind(rows_of({task: blend | own for task, own in tables.items()}), "log_loss", 100).loc["peer.x"]
    assert found["behind"] == pytest.approx(0.0, abs=1e-9)
    assert found[["tasks", "sources"]].tolist() == [4, 3]
    assert found["ahead"] == pytest.approx(1 / 3)  # on b; on a the two learners cancel


def test_a_table_of_gaps_has_errors_by_source_and_a_dash_without_result():
    found = rows_of({task: {"calibrant.blend": 0.2, "peer.x": x} for task, x in {"a_nb": 0.3, "b_nb": 0.34}.items()})
    more = found[found["method"] == "calibrant.blend"].assign(n=1000)
    more = pd.concat([more, more.assign(method="peer.z", log_loss=0.1, brier=0.3)])
    lines = tables.gaps(pd.concat([found, more])).splitlines()
    assert lines[2:] == [
        "| peer.z | – / −100.00 ± 0.00 | – / 1.00 | – / 200.00 ± 0.00 | – / 0.00 |",
        "| peer.x | 120 ± 20 / – | 0.00 / – | 60 ± 10 / – | 0.00 / – |",
    ]


def test_tables_by_learner_have_the_learners_that_ran():
    found = rows_of({"heldout_a_nb": {"calibrant.blend": 0.2, "peer.x": 0.3, "ref.raw": 0.1}})
    assert tables.gaps_by_learner(found).splitlines()[0] == "| method | `nb` |"
    assert tables.wins(found).splitlines()[-1] == "| `nb` | 0.50 | 1.00 ref.raw | 0.50 | 1.00 ref.raw |"


def test_the_page_of_held_out_tables_says_what_the_recorded_rows_say():
    rows = summary.read([str(heldout.LIST.with_name("heldout_rows.csv.gz"))])
    page = (ROOT / "docs" / "arena.md").read_text(encoding="utf-8")
    for table in (tables.gaps(rows), tables.gaps_by_learner(rows), tables.wins(rows)):
        assert table in page


@pytest.fixture
def folder(tmp_path):
    data = simulate.bayes_iso(600, rng=0)
    tables = tmp_path / "tables"
    tables.mkdir()
    pd.DataFrame({"score": data.scores, "label": data.labels}).to_csv(tables / "one.csv", index=False)
    margins = np.log(data.scores / (1 - data.scores))
    pd.DataFrame({"score": margins, "label": data.labels}).to_csv(tables / "two.csv", index=False)
    (tables / "INDEX.csv").write_text("task,space\none,probability\ntwo,decision\n")
    return tables


def run(folder, out, *more):
    main(["run", "--data", str(folder), "--out", str(out), "--sizes", "100", "1000", *more])
    return pd.read_csv(out)


def test_a_run_is_resumed_and_skips_say_why(folder, tmp_path, capsys):
    out = tmp_path / "rows.csv"
    first = run(folder, out, "--methods", "ref.raw", "calibrant.platt")
    assert list(first.columns) == list(runner.COLUMNS)
    assert len(first) == 8
    raw = first[(first.method == "ref.raw") & (first.n == 100)].set_index("task")
    assert raw.log_loss["one"] == pytest.approx(raw.log_loss["two"])  # the logistic function undoes the logit
    assert set(first[first.n == 1000].error) == {"skipped: 600 rows are too few for n = 1000"}
    with out.open("a") as file:
        file.write("one,100,0,calibrant.isot")  # torn by an interrupt
    second = run(folder, out, "--methods", "ref.raw", "calibrant.*platt", "calibrant.isotonic")
    assert len(second) == 12
    pd.testing.assert_frame_equal(second.iloc[:8], first)
    main(["summary", str(out), "--markdown"])
    assert "| calibrant.platt |" in capsys.readouterr().out


def test_a_class_of_another_package_takes_part(folder, tmp_path):
    out = tmp_path / "rows.csv"
    names = ["calibrant.calibrators.platt:PlattScaling", "calibrant.platt"]
    main(["run", "--data", str(folder), "--sizes", "100", "--methods", *names, "--out", str(out)])
    foreign, own = (pd.read_csv(out).query("method == @name")["log_loss"].to_numpy() for name in names)
    assert len(foreign) > 0
    np.testing.assert_allclose(foreign, own)


def test_a_missing_peer_and_a_failing_method_are_rows_with_reasons(monkeypatch, folder, tmp_path):
    def missing(p, y, test):
        import no_such_peer  # noqa: F401

    def failing(p, y, test):
        raise ZeroDivisionError("of course")

    monkeypatch.setitem(methods.METHODS, "peer.missing", missing)
    monkeypatch.setitem(methods.METHODS, "peer.failing", failing)
    found = run(folder, tmp_path / "rows.csv", "--methods", "peer.*").query("n == 100").set_index("method").error
    assert set(found["peer.missing"]) == {"skipped: No module named 'no_such_peer'"}
    assert set(found["peer.failing"]) == {"ZeroDivisionError: of course"}


def test_a_slow_method_is_not_tried_at_larger_sizes(tmp_path):
    out = tmp_path / "rows.csv"
    arguments = ["--tasks", "sim.bayes_iso", "--methods", "calibrant.spline", "--sizes", "50", "60", "--limit", "0"]
    main(["run", "--out", str(out), *arguments])
    found = pd.read_csv(out).query("method == 'calibrant.spline'").set_index("n")
    assert found.log_loss.notna().tolist() == [True, False]
    assert "the limit is 0 s" in found.error[60]
    assert (pd.read_csv(out).method == "ref.truth").sum() == 2


def test_the_picture_is_drawn(folder, tmp_path):
    out = tmp_path / "rows.csv"
    run(folder, out, "--methods", "ref.raw", "calibrant.platt", "calibrant.isotonic")
    main(["picture", str(out), "--n", "100", "--out", str(tmp_path / "cd.png")])
    assert (tmp_path / "cd.png").read_bytes().startswith(b"\x89PNG")


def test_peers_are_imported_by_their_adapters_only():
    code = "import sys, benchmarks.arena.__main__; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    peers = {"betacal", "venn_abers", "probmetrics", "netcal", "splinecalib", "probcal"}
    assert not peers & set(loaded.split())


def test_the_slot_answers_with_a_column_for_each_class():
    data = simulate.bayes_iso(300, rng=0)
    positive = PlattScaling().fit(data.scores, data.labels).predict(data.scores)
    expected = np.column_stack((1 - positive, positive))
    two = np.column_stack((1 - data.scores, data.scores))
    for p in (data.scores, data.scores[:, None], two, two.astype(np.float32)):
        found = slot.CalArenaSlot("platt").fit(p, data.labels).predict_proba(p)
        np.testing.assert_allclose(found, expected, atol=1e-6)


def probabilities_of_classes(data):
    p = np.exp(data.scores - data.scores.max(axis=1, keepdims=True))
    return (p / p.sum(axis=1, keepdims=True)).astype(np.float32)


@pytest.mark.parametrize("method", ["platt", "temperature", "blend"])
@pytest.mark.parametrize("absent", [False, True])
def test_the_slot_calibrates_several_classes(method, absent):
    data = simulate.temperature_logits(300, rng=0)
    p = probabilities_of_classes(data)
    keep = data.labels > 0 if absent else np.ones(300, bool)
    found = slot.CalArenaSlot(method).fit(p[keep], data.labels[keep]).predict_proba(p)
    assert found.shape == p.shape
    np.testing.assert_allclose(found.sum(axis=1), 1.0)


def test_the_slot_leaves_the_whole_matrix_to_a_method_that_takes_it():
    data = simulate.temperature_logits(300, rng=0)
    p = probabilities_of_classes(data)
    expected = TemperatureScaling().fit(p, data.labels).predict_proba(p)
    np.testing.assert_allclose(slot.CalArenaSlot("temperature").fit(p, data.labels).predict_proba(p), expected)


def test_every_method_has_its_slot():
    assert len(slot.CUSTOM_CALIBRATORS) == len(METHODS["score"]) + len(METHODS["matrix"])
    assert slot.CUSTOM_CALIBRATORS["calibrant-Blend"]().method == "blend"
    matrix_blend = slot.CUSTOM_CALIBRATORS["calibrant-MatrixBlend"]()
    assert (matrix_blend.method, matrix_blend.shape) == ("blend", "matrix")


def test_recorded_peers_are_reproduced():
    """(Log-loss, Brier score) of the arena's recorded run on one table of a language model's stated confidence."""
    recorded = {
        "ref.raw": (0.595814, 0.144090),
        "sklearn.CCV-sigmoid(p)": (0.438554, 0.138221),
        "sklearn.CCV-sigmoid(logit)": (0.499669, 0.153086),
    }
    task = next(task for task in sources.folder(DATA) if task.name == "llm_deepseek_v3")
    plan = runner.Plan(list(recorded), [1000], [0])
    rows = {row["method"]: row for row in runner.run_task(task, plan.keys(task.name), plan)}
    for method, (log_loss, brier) in recorded.items():
        assert float(rows[method]["log_loss"]) == pytest.approx(log_loss, abs=2e-5)
        assert float(rows[method]["brier"]) == pytest.approx(brier, abs=2e-5)
