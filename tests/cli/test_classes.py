"""Columns of several classes and their two-outcome views."""

import duckdb
import pytest

from calibrant.cli.classes import class_of, highest_of, literal, one_against_rest, predicted_class, top_label
from calibrant.cli.columns import Columns
from calibrant.cli.problems import Problem
from calibrant.cli.tables import Table


def table(labels, names=("p_cat", "p_dog")):
    connection = duckdb.connect()
    rows = ((0.7, 0.3), (0.4, 0.6), (0.5, 0.5))
    parts = [
        f"SELECT {a} AS {names[0]}, {b} AS {names[1]}, {label} AS y, 'g' AS g"
        for (a, b), label in zip(rows, labels, strict=True)
    ]
    return Table("data", connection, connection.sql(" UNION ALL ".join(parts)))


@pytest.mark.parametrize(
    ("names", "labels", "expected"),
    [
        (("p_cat", "p_dog"), ("'cat'", "'dog'", "'cat'"), ["cat", "dog"]),
        (("cat", "dog"), ("'cat'", "'dog'", "'cat'"), ["cat", "dog"]),
        (("p_cat", "p_dog"), (0, 1, 1), [0, 1]),
        (("p1", "p2"), (1, 2, 2), [1, 2]),
        (("p_cat", "p_car"), ("'cat'", "'car'", "'cat'"), ["cat", "car"]),
        (("prob_c0", "prob_c1"), ("'c0'", "'c1'", "'c0'"), ["c0", "c1"]),
        (("p10", "p11"), (10, 11, 10), [10, 11]),
        (("p10", "p11"), (0, 1, 0), [0, 1]),
    ],
)
def test_what_the_columns_stand_for(names, labels, expected):
    found = class_of(table(labels, names), Columns(names, "y"))
    assert list(found.values()) == expected


def test_labels_that_fit_no_column():
    with pytest.raises(Problem, match="must be the names of the score columns"):
        class_of(table(("'cat'", "'cow'", "'cat'")), Columns(("p_cat", "p_dog"), "y"))
    with pytest.raises(Problem, match="0 … 1 in their order; got 5"):
        class_of(table((5, 5, 5)), Columns(("p_cat", "p_dog"), "y"))


def test_views():
    rows, columns = table(("'cat'", "'cat'", "'cat'")), Columns(("p_cat", "p_dog"), "y", None, "g")
    view, found = top_label(rows, columns)
    assert found == Columns(("confidence",), "hit", None, "g")
    # Of equal scores the first column is the prediction, as with argmax.
    assert [(float(s), hit) for s, hit, _ in view.values("SELECT * FROM rows")] == [
        (0.7, True),
        (0.6, False),
        (0.5, True),
    ]
    view, found = one_against_rest(rows, columns, "p_dog", "dog")
    assert (found.score, found.label) == ("p_dog", "is_p_dog")
    assert [hit for _, hit, _ in view.values("SELECT * FROM rows")] == [False, False, False]


def test_segments_are_the_predicted_classes():
    rows, columns = table((0, 1, 1)), Columns(("p_cat", "p_dog"), "y")
    view, found = predicted_class(rows, columns)
    assert found.by in view.columns
    shown = [(float(score), hit, name) for score, hit, name in view.values("SELECT * FROM rows")]
    assert shown == [(0.7, True, "0"), (0.6, True, "1"), (0.5, False, "0")]


def test_literals():
    assert literal("it's") == "'it''s'"
    assert literal(3) == "3"
    assert highest_of(("a", "b")) == 'greatest("a", "b")'
