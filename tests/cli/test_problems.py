"""The rows of a table are those of arrays, whatever their shape and whatever the labels are called."""

import json

import duckdb
import numpy as np
import pytest

from calibrant import SegmentedCalibrator, Tally, VectorScaling, compare, evaluate, metrics
from calibrant.cli.columns import Columns, drop_missing
from calibrant.cli.errors import Refusal
from calibrant.cli.problems import Problem, read_problem
from calibrant.engines.tables import Table

SCORES, LABELS = [0.1, 0.4, 0.4, 0.9], [0, 1, 0, 1]
ONE, BY, PAIR = Columns(("s",), "y"), Columns(("s",), "y", None, ("g",)), Columns(("p_cat", "p_dog"), "y")
PROBABILITIES = ((0.7, 0.3), (0.4, 0.6), (0.5, 0.5))


@pytest.fixture
def read(tmp_path):
    """Rows of a query, read as a problem."""

    def call(sql, columns, **how):
        path = tmp_path / "data.parquet"
        duckdb.sql(sql).write_parquet(str(path))
        return read_problem([str(path)], columns, **how)

    return call


def labelled(*labels):
    rows = [f"({s}, {label}, '{'ab'[i % 2]}')" for i, (s, label) in enumerate(zip(SCORES, labels, strict=True))]
    return f"SELECT s::DOUBLE AS s, y, g FROM (VALUES {', '.join(rows)}) t(s, y, g)"


def classes(labels, names=("p_cat", "p_dog")):
    parts = [
        f"SELECT {a}::DOUBLE AS {names[0]}, {b}::DOUBLE AS {names[1]}, {label} AS y, 'g' AS g"
        for (a, b), label in zip(PROBABILITIES, labels, strict=True)
    ]
    return " UNION ALL ".join(parts)


@pytest.mark.parametrize(
    ("labels", "positive"),
    [
        ((0, 1, 0, 1), None),
        ((-1, 1, -1, 1), None),
        (("false", "true", "false", "true"), None),
        (("true", "false", "true", "false"), "no"),
        (("'no'", "'yes'", "'no'", "'yes'"), None),
        (("'good'", "'bad'", "'good'", "'bad'"), "bad"),
        ((1, 2, 1, 2), "2"),
    ],
)
def test_labels(read, labels, positive):
    assert read(labelled(*labels), ONE, positive=positive).tally == Tally.from_arrays(SCORES, LABELS)


@pytest.mark.parametrize(
    ("labels", "positive", "message"),
    [
        (("'a'", "'b'", "'a'", "'b'"), "c", r"--positive must be a label in 'y' \(a, b\); got 'c'"),
        ((0, 1, 0, 1), "x", "must be a label in 'y' .0, 1.; got 'x'"),
        (("true", "false", "true", "true"), "x", "must be a label in 'y' .False, True.; got"),
    ],
)
def test_wrong_positive_labels(read, labels, positive, message):
    with pytest.raises(Refusal, match=message):
        read(labelled(*labels), ONE, positive=positive)


def test_segments_add_up_to_the_whole(read):
    problem = read(labelled(*LABELS), BY)
    assert problem.shape == "segments"
    assert problem.tally == Tally.from_arrays(SCORES, LABELS)
    assert {name: part.total for name, part in problem.parts.items()} == {"a": 2.0, "b": 2.0}
    plain = read(labelled(*LABELS), ONE)
    assert (plain.shape, plain.tally, plain.parts) == ("score", problem.tally, {})
    with pytest.raises(Refusal, match="choose a column with at most 1"):
        read(labelled(*LABELS), BY, most_segments=1)


@pytest.mark.skipif(duckdb.__version__ < "2", reason="before 2.0 no expression of DuckDB names a column with a quote")
def test_segments_by_a_column_with_an_odd_name(read):
    rows = """SELECT i / 10 AS s, i % 2 AS y, i % 3 AS "gr""oup" FROM range(10) t(i)"""
    assert set(read(rows, Columns(("s",), "y", None, ('gr"oup',))).parts) == {"0", "1", "2"}


@pytest.mark.parametrize(
    ("sql", "columns", "message"),
    [
        ("SELECT 0.5 AS n, 0 AS y UNION ALL SELECT NULL, 1", Columns(("n",), "y"), "^1 of 2 rows has no score. Add"),
        ("SELECT 0.5 AS score, 1 AS y, -1 AS w", Columns(("score",), "y", "w"), "^--weight 'w' must be finite and not"),
        ("SELECT 0.5 AS score, 1 AS label WHERE 1 = 0", Columns(("score",), "label"), "parquet has no rows.$"),
        ("SELECT 0.5 AS score, 3 AS label UNION ALL SELECT 0.6, 4", Columns(("score",), "label"), "got 3 and 4. Say"),
        ("SELECT 0.5 AS s, i AS n FROM range(3) t(i)", Columns(("s",), "n"), "^--label 'n' must .*0, 1, 2.. For"),
        (classes(("'cat'", "NULL", "'dog'")), PAIR, r"1 of 3 rows has no label\. Add --drop-missing to leave them"),
        ("SELECT 1 p_cat, 2 p_dog, 0 y WHERE false", PAIR, "parquet has no rows"),
        ("SELECT NULL::DOUBLE p_cat, 1 p_dog, 0 y", PAIR, r"1 of 1 rows has no score\. Add"),
        (classes(("'cat'", "'cow'", "'cat'")), PAIR, "must be the names of the score columns"),
        (classes((5, 5, 5)), PAIR, "0 … 1 in their order; got 5"),
    ],
)  # fmt: skip
def test_refusals_name_the_option_and_the_column(read, sql, columns, message):
    with pytest.raises(Refusal, match=message):
        read(sql, columns)


@pytest.mark.parametrize(
    ("columns", "how", "message"),
    [
        (Columns(("p_cat",), "y"), {"top_label": True}, "--top-label needs the score columns"),
        (PAIR, {"top_label": True, "space": "decision"}, "--top-label takes probabilities"),
        (PAIR, {"positive": "cat"}, "--positive is for one score"),
        (PAIR, {"positive": "cat", "top_label": True}, "--positive is for one score"),
        (Columns(("p_cat", "p_dog"), "y", None, ("g",)), {}, "--by with several classes needs --top-label"),
        (Columns(("p_cat",), "y", None, ("g",), "g"), {}, "cannot go together"),
    ],
)
def test_options_that_say_nothing_about_the_shape_are_refused(read, columns, how, message):
    with pytest.raises(Refusal, match=message):
        read(classes((1, 0, 1)), columns, **how)


def test_what_the_scores_are_is_said_and_not_guessed(read):
    margins = "SELECT 8 * s - 4 AS s, y FROM (" + labelled(*LABELS) + ")"
    with pytest.raises(Refusal, match=r"^'s' goes from about -3.2 to 3.2: it holds no probabilities\..*--space"):
        read(margins, ONE).check_probabilities()
    with pytest.raises(Refusal, match="Divide percentages by 100"):
        read("SELECT 100 * s AS s, y FROM (" + labelled(*LABELS) + ")", ONE).check_probabilities()
    read(margins, ONE, space="decision").check_probabilities()
    assert read(labelled(*LABELS), ONE, space="decision").space == "decision"
    with pytest.raises(ValueError, match="must be one of"):
        read(labelled(*LABELS), ONE, space="logit")


@pytest.mark.parametrize(
    ("names", "labels", "expected"),
    [
        (("p_cat", "p_dog"), ("'cat'", "'dog'", "'cat'"), ("cat", "dog")),
        (("cat", "dog"), ("'cat'", "'dog'", "'cat'"), ("cat", "dog")),
        (("p_cat", "p_dog"), (0, 1, 1), (0, 1)),
        (("p1", "p2"), (1, 2, 2), (1, 2)),
        (("p_cat", "p_car"), ("'cat'", "'car'", "'cat'"), ("cat", "car")),
        (("prob_c0", "prob_c1"), ("'c0'", "'c1'", "'c0'"), ("c0", "c1")),
        (("p10", "p11"), (10, 11, 10), (10, 11)),
        (("p10", "p11"), (0, 1, 0), (0, 1)),
    ],
)
def test_what_the_columns_stand_for(read, names, labels, expected):
    assert read(classes(labels, names), Columns(names, "y")).classes == expected


def test_a_matrix_is_in_the_order_of_the_columns(read):
    problem = read(classes(("'dog'", "'cat'", "'dog'")), Columns(("p_dog", "p_cat"), "y"))
    assert (problem.shape, problem.classes, problem.space) == ("matrix", ("dog", "cat"), "probability")
    np.testing.assert_array_equal(problem.rows.scores, [[0.3, 0.7], [0.6, 0.4], [0.5, 0.5]])
    assert problem.rows.labels.tolist() == [0, 1, 0]
    assert (problem.rows.weights, problem.n_rows) == (None, 3.0)
    weighted = read(classes((1, 0, 1)), Columns(("p_cat", "p_dog"), "y", "p_cat"), space="decision")
    assert weighted.rows.weights.tolist() == [0.7, 0.4, 0.5]
    assert (weighted.rows.labels.tolist(), weighted.space) == ([1, 0, 1], "decision")
    single = read("SELECT 0.25::FLOAT a, 0.75::FLOAT b, 'a' y", Columns(("a", "b"), "y"))
    assert single.rows.scores.dtype == np.float32


def test_probabilities_of_scores_logits_and_maps(read):
    plain = read(classes((1, 0, 1)), PAIR)
    np.testing.assert_array_equal(plain.calibrated(None).rows.scores, PROBABILITIES)
    logits = read(classes((1, 0, 1)), PAIR, space="decision").calibrated(None)
    np.testing.assert_allclose(logits.rows.scores[:, 0], 1.0 / (1.0 + np.exp(-np.array([0.4, -0.2, 0.0]))))
    map_ = VectorScaling().fit(plain.rows.scores, plain.rows.labels).map_
    np.testing.assert_array_equal(plain.calibrated(map_).rows.scores, map_(plain.rows.scores))


def test_tallies_of_segments_are_those_of_the_rows():
    rng = np.random.default_rng(0)
    scores, labels, segment = rng.uniform(0.1, 0.9, 300), rng.random(300) < 0.5, rng.choice(["a", "b"], 300)
    parts = {(name,): Tally.from_arrays(scores[segment == name], labels[segment == name]) for name in "ab"}
    map_ = SegmentedCalibrator("platt").fit_tallies(parts, ["g"]).map_
    problem = Problem("segments", BY, sum(parts.values(), Tally.empty()), parts)
    assert metrics.log_loss(problem.tally) == pytest.approx(metrics.log_loss(labels, scores), abs=1e-12)
    expected = metrics.log_loss(labels, map_(scores, segment))
    assert metrics.log_loss(problem.calibrated(map_).tally) == pytest.approx(expected, abs=1e-12)


def test_the_highest_score_of_each_row(read):
    problem = read(classes(("'cat'", "'cat'", "'cat'")), PAIR, top_label=True)
    # Of equal scores the first column is the prediction, as with argmax.
    assert problem.tally == Tally.from_arrays([0.7, 0.6, 0.5], [1, 0, 1])
    assert (problem.shape, problem.columns) == ("score", PAIR)


def test_missing_values_are_counted_and_left_out(capsys):
    rows = "VALUES (0.1, 1), (NULL, 0), ('nan'::DOUBLE, NULL), (0.7, NULL), ('inf'::DOUBLE, 1), (0.4, 0)"
    table = Table("rows", duckdb.connect().sql(f"SELECT col0::DOUBLE AS s, col1 AS y FROM ({rows})"))
    assert table.describe_missing(ONE.scores, ONE.label) == "3 of 6 rows have no score and 2 of 6 rows have no label."
    kept = drop_missing(table, ONE)
    assert kept.values("SELECT * FROM rows") == [(0.1, 1), (0.4, 0)]
    assert "Such rows are left out." in capsys.readouterr().err
    assert kept.describe_missing(ONE.scores, ONE.label) is None


def test_commands_say_how_many_are_missing_and_leave_them_out(cli, refused, data, tmp_path):
    holes, model = tmp_path / "holes.csv", tmp_path / "model.json"
    lines = data.read_text().splitlines()
    for i in (3, 7):
        lines[i] = "," + lines[i].split(",")[1]
    holes.write_text("\n".join(lines) + "\n")
    assert "2 of 400 rows have no score. Add --drop-missing" in refused("fit", holes, "-o", model)
    for command in (["fit", "-m", "platt", "-o", model], ["evaluate"], ["compare", "-m", "platt"]):
        result = cli(*command, holes, "--drop-missing")
        assert result.code == 0, result.err
        assert "Such rows are left out" in result.err


@pytest.fixture
def patients(tmp_path):
    """Scores, labels and groups of 480 rows of 60 patients; a matrix of three classes with the same groups."""
    rng = np.random.default_rng(0)
    matrix = np.repeat(rng.dirichlet((1, 1, 1), 60), 8, axis=0).round(6)
    matrix[:, 2] = 1.0 - matrix[:, 0] - matrix[:, 1]
    labels = (matrix.cumsum(axis=1) < rng.random((480, 1))).sum(axis=1)
    groups = [f"p{i // 8}" for i in range(480)]
    path = tmp_path / "patients.csv"
    lines = (
        f"{a!r},{b!r},{c!r},{y},{int(y == 2)},{g}"
        for (a, b, c), y, g in zip(matrix.tolist(), labels, groups, strict=True)
    )
    path.write_text("p0,p1,p2,class,last,patient\n" + "\n".join(lines) + "\n")
    return path, matrix, labels, groups


SHAPES = {"score": ["-s", "p2", "-l", "last"], "matrix": ["-s", "p0,p1,p2", "-l", "class"]}


@pytest.mark.parametrize("shape", SHAPES)
def test_groups_are_those_of_the_library(cli, patients, shape):
    path, matrix, labels, groups = patients
    scores, y = (matrix, labels) if shape == "matrix" else (matrix[:, 2], labels == 2)
    method = "temperature"
    found = json.loads(cli("evaluate", path, *SHAPES[shape], "--groups", "patient", "--json").out)
    assert found["models"] == evaluate(y, scores, groups=groups).to_dict()["models"]
    found = json.loads(cli("compare", path, *SHAPES[shape], "--groups", "patient", "-m", method, "--json").out)
    expected = compare(scores, y, methods=[method], groups=groups)[method].log_loss_difference
    result = next(result for result in found["results"] if result["name"] == method)
    assert result["log_loss_difference"] == expected.to_dict()


def test_groups_of_the_predicted_class_and_missing_ones(cli, refused, patients):
    path, *_ = patients
    assert cli("evaluate", path, *SHAPES["matrix"], "--groups", "patient", "--top-label").code == 0
    assert "there is no 'patien'" in refused("evaluate", path, *SHAPES["score"], "--groups", "patien")
    path.write_text("score,label,patient\n0.1,0,\n0.2,1,a\n0.7,1,b\n")
    assert "--groups 'patient' is missing in 1 rows" in refused("compare", path, "--groups", "patient")
