"""The matrix of several classes, and which label each column stands for."""

import numpy as np
import pytest

duckdb = pytest.importorskip("duckdb", reason="reading tables needs the extra tables")

from calibrant import VectorScaling  # noqa: E402
from calibrant.cli.classes import are_several, class_of, read_classes  # noqa: E402
from calibrant.cli.columns import Columns  # noqa: E402
from calibrant.cli.errors import Problem  # noqa: E402
from calibrant.engines.tables import Table  # noqa: E402

PAIR = Columns(("p_cat", "p_dog"), "y")


def classes(labels, names=("p_cat", "p_dog")):
    rows = ((0.7, 0.3), (0.4, 0.6), (0.5, 0.5))
    parts = [
        f"SELECT {a} AS {names[0]}, {b} AS {names[1]}, {label} AS y, 'g' AS g"
        for (a, b), label in zip(rows, labels, strict=True)
    ]
    return Table("data", duckdb.sql(" UNION ALL ".join(parts)))


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
    found = class_of(classes(labels, names), Columns(names, "y"))
    assert list(found.values()) == expected


def test_labels_that_fit_no_column():
    with pytest.raises(Problem, match="must be the names of the score columns"):
        class_of(classes(("'cat'", "'cow'", "'cat'")), Columns(("p_cat", "p_dog"), "y"))
    with pytest.raises(Problem, match="0 … 1 in their order; got 5"):
        class_of(classes((5, 5, 5)), Columns(("p_cat", "p_dog"), "y"))


def test_the_matrix_is_in_the_order_of_the_columns():
    rows = read_classes(classes(("'dog'", "'cat'", "'dog'")), Columns(("p_dog", "p_cat"), "y"), False)
    assert (rows.classes, rows.columns, rows.space) == (("dog", "cat"), ("p_dog", "p_cat"), "probability")
    np.testing.assert_array_equal(rows.scores, [[0.3, 0.7], [0.6, 0.4], [0.5, 0.5]])
    assert rows.labels.tolist() == [0, 1, 0]
    assert rows.weights is None
    weighted = read_classes(classes((1, 0, 1)), Columns(("p_cat", "p_dog"), "y", "p_cat"), True)
    assert weighted.weights.tolist() == [0.7, 0.4, 0.5]
    assert (weighted.labels.tolist(), weighted.space) == ([1, 0, 1], "decision")


def test_single_precision_stays():
    rows = read_classes(
        Table("data", duckdb.sql("SELECT 0.25::FLOAT a, 0.75::FLOAT b, 'a' y")), Columns(("a", "b"), "y"), False
    )
    assert rows.scores.dtype == np.float32
    assert rows.probabilities().dtype == np.float64


def test_probabilities_of_scores_logits_and_maps():
    plain = read_classes(classes((1, 0, 1)), PAIR, False)
    np.testing.assert_array_equal(plain.probabilities(), plain.scores)
    logits = read_classes(classes((1, 0, 1)), PAIR, True)
    np.testing.assert_allclose(logits.probabilities()[:, 0], 1.0 / (1.0 + np.exp(-np.array([0.4, -0.2, 0.0]))))
    map_ = VectorScaling().fit(plain.scores, plain.labels).map_
    np.testing.assert_array_equal(plain.probabilities(map_), map_(plain.scores))


def test_what_cannot_be_read():
    with pytest.raises(Problem, match=r"1 of 3 rows has no label\. Add --drop-missing to leave them out"):
        read_classes(classes(("'cat'", "NULL", "'dog'")), PAIR, False)
    empty = Table("data.csv", duckdb.sql("SELECT 1 p_cat, 2 p_dog, 0 y WHERE false"))
    with pytest.raises(Problem, match=r"data\.csv has no rows"):
        read_classes(empty, PAIR, False)
    with pytest.raises(Problem, match=r"1 of 1 rows has no score\. Add"):
        read_classes(Table("data", duckdb.sql("SELECT NULL::DOUBLE p_cat, 1 p_dog, 0 y")), PAIR, False)


def test_when_a_command_works_on_the_matrix():
    assert are_several(PAIR, False, True)
    assert not are_several(PAIR, True, False)
    assert not are_several(Columns(("p",), "y"), False, False)
    with pytest.raises(Problem, match="--logits is for the score columns of several classes"):
        are_several(PAIR, True, True)
