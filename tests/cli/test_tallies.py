"""Tallies of tables are those of arrays, whatever the labels are called."""

import duckdb
import numpy as np
import pytest

from calibrant import Tally
from calibrant.cli.columns import Columns
from calibrant.cli.errors import Problem
from calibrant.cli.tallies import (
    binary,
    count,
    count_by,
    is_decision,
    warn_of_few,
)
from calibrant.engines.tables import Table

SCORES, LABELS = [0.1, 0.4, 0.4, 0.9], [0, 1, 0, 1]


def table(*labels):
    rows = [f"({s}, {label}, '{'ab'[i % 2]}')" for i, (s, label) in enumerate(zip(SCORES, labels, strict=True))]
    return query(f"SELECT * FROM (VALUES {', '.join(rows)}) t(s, y, g)")


def query(sql):
    relation = duckdb.connect().sql(sql)
    return Table("data", relation)


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
def test_labels(labels, positive):
    found = count(table(*labels), Columns(("s",), "y"), positive)
    assert found == Tally.from_arrays(SCORES, LABELS)


@pytest.mark.parametrize(
    ("labels", "positive", "message"),
    [
        (("'a'", "'b'", "'a'", "'b'"), "c", r"--positive must be a label in 'y' \(a, b\); got 'c'"),
        ((0, 1, 0, 1), "x", "must be a number"),
        (("true", "false", "true", "true"), "x", "must be true or false"),
    ],
)
def test_wrong_positive_labels(labels, positive, message):
    with pytest.raises(Problem, match=message):
        count(table(*labels), Columns(("s",), "y"), positive)


def test_segments_add_up_to_the_whole():
    whole, parts = count_by(table(*LABELS), Columns(("s",), "y", None, ("g",)))
    assert whole == Tally.from_arrays(SCORES, LABELS)
    assert {name: part.total for name, part in parts.items()} == {"a": 2.0, "b": 2.0}
    assert count_by(table(*LABELS), Columns(("s",), "y")) == (whole, {})


def test_too_many_segments():
    rows = query("SELECT i / 1000 AS s, i % 2 AS y, i AS g FROM range(1000) t(i)")
    with pytest.raises(Problem, match="choose a column with at most 200"):
        count_by(rows, Columns(("s",), "y", None, ("g",)))


def test_views_and_spaces():
    rows = table(*LABELS)
    assert binary(rows, Columns(("s",), "y"), False, "fit")[0] is rows
    with pytest.raises(Problem, match="compare takes one score column"):
        binary(rows, Columns(("s", "t"), "y"), False, "compare")
    with pytest.raises(Problem, match="--top-label needs the score columns"):
        binary(rows, Columns(("s",), "y"), True, "fit")
    assert not is_decision(Tally.from_arrays(SCORES, LABELS))
    assert is_decision(Tally.from_arrays(np.array(SCORES) * 5, LABELS))


@pytest.mark.parametrize(
    ("sql", "columns", "message"),
    [
        ("SELECT 0.5 AS n, 0 AS y UNION ALL SELECT NULL, 1", Columns(("n",), "y"), "^1 of 2 rows has no score. Add"),
        ("SELECT 0.5 AS score, 1 AS y, -1 AS w", Columns(("score",), "y", "w"), "^--weight 'w' must be finite and not"),
        ("SELECT 0.5 AS score, 1 AS label WHERE 1 = 0", Columns(("score",), "label"), "^data has no rows.$"),
        ("SELECT 0.5 AS score, 3 AS label UNION ALL SELECT 0.6, 4", Columns(("score",), "label"), "got 3 and 4. Say"),
        ("SELECT 0.5 AS s, i AS n FROM range(3) t(i)", Columns(("s",), "n"), "^--label 'n' must .*0, 1, 2.. For"),
    ],
)  # fmt: skip
def test_refusals_name_the_option_and_the_column(sql, columns, message):
    with pytest.raises(Problem, match=message):
        count(query(sql), columns)


@pytest.mark.skipif(duckdb.__version__ < "2", reason="before 2.0 no expression of DuckDB names a column with a quote")
def test_segments_by_a_column_with_an_odd_name():
    rows = query("""SELECT i / 10 AS s, i % 2 AS y, i % 3 AS "gr""oup" FROM range(10) t(i)""")
    assert set(count_by(rows, Columns(("s",), "y", None, ('gr"oup',)))[1]) == {"0", "1", "2"}


def test_few_rows_are_worth_a_warning(capsys):
    warn_of_few(Tally.from_arrays(SCORES, LABELS))
    assert "rows, 2 of the rarer class, are very few" in capsys.readouterr().err
    warn_of_few(Tally.from_arrays(SCORES * 20, LABELS * 20))
    assert capsys.readouterr().err == ""


def test_rows_of_one_class_are_worth_a_warning(capsys):
    warn_of_few(Tally.from_arrays(SCORES, [True] * 4))
    assert capsys.readouterr().err.startswith("warning: All 4 rows are positive, so there is little to learn")
    warn_of_few(Tally.from_arrays(SCORES, [False] * 4), "cat")
    assert "All 4 rows for cat are negative" in capsys.readouterr().err


def classes(*labels):
    rows = ((0.7, 0.3), (0.4, 0.6), (0.5, 0.5))
    parts = [f"SELECT {a} p_cat, {b} p_dog, {y} AS y, 'g' AS g" for (a, b), y in zip(rows, labels, strict=True)]
    return query(" UNION ALL ".join(parts))


def test_the_highest_score_of_each_row():
    rows, columns = classes("'cat'", "'cat'", "'cat'"), Columns(("p_cat", "p_dog"), "y", None, ("g",))
    view, new = binary(rows, columns, True, "fit")
    assert new == Columns(("confidence",), "hit", None, ("g",))
    # Of equal scores the first column is the prediction, as with argmax.
    seen = [(float(s), hit) for s, hit, _ in view.values("SELECT * FROM rows")]
    assert seen == [(0.7, True), (0.6, False), (0.5, True)]
