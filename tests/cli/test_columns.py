"""Columns as told, or guessed and said."""

import duckdb
import pytest

from calibrant.cli.columns import Columns, choose_columns, choose_scores, split, split_names
from calibrant.engines.tables import Table
from calibrant.errors import InvalidInputError


def table(sql):
    return Table("data.csv", duckdb.sql(sql))


def choose(rows, scores, label, weight=None, by=()):
    return choose_columns(rows, Columns(tuple(scores), label or "", weight, tuple(by)))


ROWS = "SELECT 0.2 AS {}, 1 AS {} UNION ALL SELECT 0.4, 0 UNION ALL SELECT 0.9, 1"


@pytest.mark.parametrize(
    "names", [("score", "label"), ("P", "Y"), ("conf", "churn"), ("label", "score"), ("a", "target"), ("prob", "b")]
)
def test_two_columns_need_no_names(names, capsys):
    found = choose(table(ROWS.format(*names)), [], None)
    expected = names if names != ("label", "score") else ("score", "label")
    assert (found.score, found.label) == expected
    assert f"'{found.score}'" in capsys.readouterr().err


def test_known_names_among_many_in_order_of_trust():
    many = table("SELECT 1 AS id, 0.5 AS probability, 0.4 AS score, 0.3 AS truth, 1 AS label")
    assert choose(many, [], None) == Columns(("score",), "label")
    assert choose(many, ["probability"], None).score == "probability"
    answers = table(ROWS.format("score", "correct")).select({"score": "score", "correct": "correct", "id": "7"})
    assert choose(answers, [], None) == Columns(("score",), "correct")


ANIMALS = " UNION ALL ".join(
    f"SELECT 0.2 AS {{0}}cat, 0.3 AS {{0}}dog, 0.5 AS {{0}}fox, 7 AS id, '{label}' AS y"
    for label in ("cat", "dog", "fox")
)


@pytest.mark.parametrize("start", ["", "p_", "score_"])
def test_columns_named_after_the_labels_need_no_names(start, capsys):
    names = tuple(start + label for label in ("cat", "dog", "fox"))
    assert choose(table(ANIMALS.format(start)), [], None).scores == names
    assert f"from columns '{names[0]}', '{names[1]}', '{names[2]}', labels" in capsys.readouterr().err


def test_a_class_without_rows_keeps_its_column_and_two_labels_are_no_classes():
    numbered = " UNION ALL ".join(f"SELECT 0.1 AS p0, 0.2 AS p1, 0.3 AS p2, 0.4 AS p3, {k} AS y" for k in (0, 2, 3))
    assert choose(table(numbered), [], None).scores == ("p0", "p1", "p2", "p3")
    with pytest.raises(InvalidInputError, match="holds the scores, with --score"):
        choose(table("SELECT 0.1 AS p0, 0.2 AS p1, 1 AS y UNION ALL SELECT 0.3, 0.7, 0"), [], None)


@pytest.mark.parametrize(
    ("sql", "scores", "label", "message"),
    [
        ("SELECT 0.1 AS a, 0.2 AS b, 0 AS c", [], None, "Say which column of data.csv holds the labels"),
        ("SELECT 0.1 AS a, 0.2 AS b, 0 AS y", [], None, "it has 'a', 'b', 'y'"),
        ("SELECT 0.1 AS alone", [], None, "only the column 'alone'"),
        ("SELECT 0.1 AS score, 0 AS label", ["scroe"], None, "no 'scroe'. Did you mean 'score'"),
        ("SELECT 0.1 AS score, 0 AS label", ["score"], "zzz", "Its columns are 'score', 'label'"),
        ("SELECT 'abc' AS score, 0 AS y", [], None, "column of numbers; 'score' holds text, such as 'abc'"),
        ("SELECT 'abc' AS score, 0 AS label WHERE 1 = 0", [], None, "has no rows below its header"),
        ("SELECT '0,5' AS score, 0 AS y", [], None, "such as '0,5'. Write decimals with a point"),
        ("SELECT '50 %' AS score, 0 AS y", [], None, "such as '50 %'. Write shares"),
        ("SELECT 0.1 AS p, 0 AS y", ["p"], "p", "must name different columns; both name 'p'"),
        ("SELECT 0.1 AS p, 0 AS y", ["p,p"], None, "names 'p' 2 times"),
        ("SELECT DATE '2020-01-01' AS score, 0 AS label", [], None, "values of type date"),
    ],
)  # fmt: skip
def test_refusals(sql, scores, label, message):
    with pytest.raises(InvalidInputError, match=message):
        choose(table(sql), scores, label)


def test_options_that_must_exist_or_be_numbers():
    rows = table("SELECT 0.1 AS score, 0 AS label, 'a' AS word, 2 AS n")
    assert choose(rows, ["score"], "label", "n", ["word"]) == Columns(("score",), "label", "n", ("word",))
    with pytest.raises(InvalidInputError, match="--weight must be a column of numbers"):
        choose(rows, ["score"], "label", "word")
    with pytest.raises(InvalidInputError, match="--by must name a column"):
        choose(rows, ["score"], "label", None, ["nothing"])


def test_columns_of_segments():
    rows = table("SELECT 0.1 AS score, 'a' AS word, 2 AS n, 3 AS \"a,b\"")
    assert choose(rows, ["score"], "word", None, ["n", "a,b"]).by == ("n", "a,b")
    assert split_names(rows, ["word,n"], "--by") == ("word", "n")
    with pytest.raises(InvalidInputError, match="--by must name each column once"):
        split_names(rows, ["n", "n"], "--by")


def test_scores_alone():
    assert choose_scores(table("SELECT 0.1 AS a"), []) == ("a",)
    assert choose_scores(table(ROWS.format("x", "label")), []) == ("x",)
    assert choose_scores(table(ROWS.format("x", "z")), ["x", "z"]) == ("x", "z")
    assert split(["a,b", " c "]) == ("a", "b", "c")


def test_a_name_with_a_comma_is_one_column():
    rows = table(ROWS.format('"score, raw"', "label"))
    assert choose(rows, ["score, raw"], None).scores == ("score, raw",)
    assert choose_scores(rows, ["score, raw"]) == ("score, raw",)
    with pytest.raises(InvalidInputError, match="there is no 'a'"):
        choose_scores(rows, ["score, raw", "a,b"])


def test_long_lists_are_cut(capsys):
    wide = table("SELECT " + ", ".join(f"{i} AS c{i}" for i in range(30)))
    with pytest.raises(InvalidInputError, match="and 18 more"):
        choose(wide, [], None)
    choose(wide, [f"c{i}" for i in range(20)], "c29")
    assert capsys.readouterr().err == ""
    named = " UNION ALL ".join(f"SELECT {', '.join(f'0.1 AS p{i}' for i in range(20))}, {k} AS y" for k in range(20))
    choose(table(named), [], None)
    assert "'p11' and 8 more, labels from column 'y'" in capsys.readouterr().err


def test_names_for_the_terminal_are_escaped_and_cut(capsys):
    rows = table(ROWS.format('"p\x1b[31m"', f'"{"y" * 500}"'))
    choose(rows, ["p\x1b[31m"], None)
    shown = capsys.readouterr().err
    assert "\x1b" not in shown
    assert "'p\\x1b[31m'" in shown
    assert len(shown) < 250
