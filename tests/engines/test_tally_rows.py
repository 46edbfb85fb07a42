"""Errors are found inside the engine, with the words that arrays get."""

import numpy as np
import pandas as pd
import pytest

from calibrant import Tally, engines
from calibrant.errors import InvalidInputError

nw = pytest.importorskip("narwhals.stable.v2", reason="engines need Narwhals")

from calibrant.engines import tally_table  # noqa: E402 - after the check that Narwhals is there
from calibrant.engines.tally_table import fetch  # noqa: E402

MANY = 6000  # more distinct scores than cells, so that the other path is taken


@pytest.fixture(autouse=True)
def crowded(monkeypatch):
    monkeypatch.setattr(tally_table, "FETCHED", 0)


def frame(few, **changes):
    n = 20 if few else MANY
    scores = np.random.default_rng(0).random(n)
    columns = {"p": np.round(scores, 1) if few else scores, "y": np.arange(n) % 2, "w": 1.0}
    table = pd.DataFrame(columns)
    for name, value in changes.items():
        table[name] = table[name].astype(object if isinstance(value, str) or value is None else float)
        table.loc[n - 3, name] = value
    return table


def count(table, **options):
    return engines.tally(table, score="p", label="y", max_cells=100, **options)


@pytest.fixture(params=[True, False], ids=["few scores", "many scores"])
def few(request):
    return request.param


REFUSED = [
    *(("p", value, "`p` must be finite; got NaN, NULL, inf") for value in (np.nan, np.inf, -np.inf)),
    *(("w", value, "`w` must be finite and not negative; 1 row has NaN") for value in (np.nan, np.inf, -1.0)),
    *(("y", value, "`y` must have two classes; got 3 distinct values") for value in (2, -1)),
    ("y", np.nan, "`y` must have no missing labels"),
]


@pytest.mark.parametrize(("column", "value", "message"), REFUSED)
def test_one_wrong_value_is_refused(few, column, value, message):
    with pytest.raises(InvalidInputError, match=message):
        count(frame(few, **{column: value}), weight="w")


def test_a_third_label_beyond_the_first_rows():
    n = 3000
    table = pd.DataFrame({"p": np.tile([0.1, 0.2], n // 2), "y": [0.0, 1.0] * (n // 2)})
    table.loc[n - 1, "y"] = 7.0
    with pytest.raises(InvalidInputError, match="3 distinct values"):
        count(table)


def test_strings_need_a_positive_label(few):
    table = frame(few)
    table["y"] = np.where(table["y"] == 1, "yes", "no")
    with pytest.raises(InvalidInputError, match="Say which one is the positive class with `pos_label`"):
        count(table)
    assert count(table, pos_label="yes").total_positive == (table["y"] == "yes").sum()
    with pytest.raises(InvalidInputError, match="`pos_label` must be one of the labels"):
        count(table, pos_label="maybe")


@pytest.mark.parametrize("labels", [(-1, 1), (False, True), (0.0, 1.0), (-1.0, 1.0)])
def test_labels_that_speak_for_themselves(few, labels):
    table = frame(few)
    table["y"] = np.array(labels)[table["y"]]
    expected = Tally.from_arrays(table["p"], table["y"])
    assert count(table).total_positive == expected.total_positive


def test_other_numbers_need_a_positive_label(few):
    table = frame(few)
    table["y"] = table["y"] + 1
    with pytest.raises(InvalidInputError, match="must be bool"):
        count(table)
    assert count(table, pos_label=2).base_rate == 0.5


def test_one_class_is_enough(few):
    table = frame(few)
    table["y"] = 0
    assert count(table).total_positive == 0


def test_weights_must_not_all_be_zero(few):
    table = frame(few)
    table["w"] = 0.0
    with pytest.raises(InvalidInputError, match="all weights are zero"):
        count(table, weight="w")


def test_an_empty_table():
    with pytest.raises(InvalidInputError, match="at least one row; the table is empty"):
        count(pd.DataFrame({"p": np.empty(0), "y": np.empty(0, dtype=int)}))


def test_tiny_negative_scores_are_counted():
    table = frame(False)
    table.loc[0, "p"] = -1e-160
    table["p"] = np.where(table["p"] > 0.5, 1 - 1e-10 * table["p"], table["p"])
    assert count(table).total == len(table)


def test_true_and_false_in_a_csv_file(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("p,y,w\n0.1,true,True\n0.2,false,False\n0.9,true,True\n", encoding="utf-8")
    assert engines.tally(path, score="p", label="y") == Tally.from_arrays([0.1, 0.2, 0.9], [1, 0, 1])
    assert engines.tally(path, score="p", label="y", weight="w") == Tally.from_arrays([0.1, 0.9], [1, 1])
    assert engines.tally(path, score="w", label="y") == Tally.from_arrays([1.0, 0.0, 1.0], [1, 0, 1])


def test_missing_scores_that_the_statistics_of_a_file_do_not_show(tmp_path):
    pa = pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet", reason="Parquet needs pyarrow")
    for few in (True, False):
        scores = frame(few)["p"].to_numpy().copy()
        scores[7] = np.nan  # pyarrow writes extremes without it
        table = pa.table({"p": pa.array(scores, from_pandas=False), "y": np.arange(len(scores)) % 2})
        parquet.write_table(table, tmp_path / "t.parquet")
        with pytest.raises(InvalidInputError, match="`p` must be finite"):
            count(tmp_path / "t.parquet")


def test_a_query_gives_doubles_and_python_values():
    table = pd.DataFrame({"by_0": pd.Series([3, None], dtype="Int64"), "n": [1, 2]})
    cells = fetch(nw.from_native(table).lazy())
    assert cells["by_0"].tolist() == [3, None]
    assert cells["n"].dtype == np.float64


def test_segments_of_nan_and_null_are_one():
    duckdb = pytest.importorskip("duckdb", reason="needs DuckDB")
    relation = duckdb.sql("SELECT unnest(['nan'::DOUBLE, NULL, 1.5]) AS g, 0.5::DOUBLE AS p, 1 AS y")
    tallies = engines.tally(relation, score="p", label="y", by="g")
    assert {g: tally.total for g, tally in tallies.items()} == {1.5: 1.0, None: 2.0}
