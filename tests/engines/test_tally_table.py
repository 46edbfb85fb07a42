import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrant import Tally, engines
from calibrant.errors import InvalidInputError

pytest.importorskip("narwhals", reason="engines need Narwhals")

N = 40_000


def draw(name):
    rng = np.random.default_rng(0)
    return {"uniform": rng.random(N), "near one": 1 - 10.0 ** rng.uniform(-12, 0, N)}[name]


@pytest.fixture
def labels():
    return (np.random.default_rng(1).random(N) < 0.3).astype(int)


def count(scores, y, **options):
    return engines.tally(pd.DataFrame({"s": scores, "y": y}), score="s", label="y", **options)


@pytest.mark.parametrize("max_cells", [1, 500, 4096])
def test_not_too_many_distinct_scores_are_counted_as_by_arrays(labels, max_cells):
    tally = count(draw("near one"), labels, max_cells=max_cells)
    assert tally == Tally.from_arrays(draw("near one"), labels, max_cells=max_cells)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.integers(-20, 20), st.booleans(), st.integers(0, 3)), min_size=1, max_size=60),
    st.sampled_from([0.05, 1.0, 1e-9, 1e9]),
)
def test_scores_that_fit_are_counted_as_by_arrays(rows, scale):
    scores, y, weights = (np.array(column) for column in zip(*rows, strict=True))
    scores = scores * scale
    assert count(scores, y, max_cells=41) == Tally.from_arrays(scores, y)
    if weights.any():
        table = pd.DataFrame({"s": scores, "y": y, "w": weights})
        tally = engines.tally(table, score="s", label="y", weight="w", max_cells=41)
        assert tally == Tally.from_arrays(scores, y, weights)


def test_both_zeros_are_one_score():
    assert count(np.array([0.0, -0.0, 1.0]), np.array([0, 1, 1])) == Tally.from_arrays([0.0, -0.0, 1.0], [0, 1, 1])


def test_one_tally_for_each_segment(labels):
    segment = np.random.default_rng(2).choice(["a", "b", "c"], N, p=[0.5, 0.499, 0.001])
    scores = np.where(segment == "b", np.round(draw("uniform"), 1), draw("near one"))
    table = pd.DataFrame({"s": scores, "y": labels, "g": segment})
    tallies = engines.tally(table, score="s", label="y", by="g", max_cells=200)
    assert list(tallies) == ["a", "b", "c"]
    for name, tally in tallies.items():
        part = table[table["g"] == name]
        assert tally == Tally.from_arrays(part["s"], part["y"], max_cells=200)


def test_a_missing_segment_is_a_segment():
    table = pd.DataFrame({"s": [0.1, 0.2, 0.3], "y": [0, 1, 1], "g": [1.0, np.nan, 1.0]})
    tallies = engines.tally(table, score="s", label="y", by="g")
    assert list(tallies) == [1.0, None]
    assert tallies[None] == Tally.from_arrays([0.2], [1])


def test_a_list_of_columns_gives_tuples():
    table = pd.DataFrame({"s": [0.1, 0.2, 0.3], "y": [0, 1, 1], "g": ["", "b", ""], "h": [1, 1, 2]})
    assert list(engines.tally(table, score="s", label="y", by="g")) == ["", "b"]
    assert list(engines.tally(table, score="s", label="y", by=["g"])) == [("",), ("b",)]
    assert list(engines.tally(table, score="s", label="y", by=["g", "h"])) == [("", 1), ("", 2), ("b", 1)]
    with pytest.raises(InvalidInputError, match="`by` must name at least one column"):
        engines.tally(table, score="s", label="y", by=[])
    with pytest.raises(InvalidInputError, match="`by` must name a column of the table; there is no 'k'"):
        engines.tally(table, score="s", label="y", by=["g", "k"])


@pytest.mark.parametrize("max_cells", [0, -1, 1.5, True])
def test_max_cells_must_be_a_positive_integer(max_cells):
    with pytest.raises(InvalidInputError, match="`max_cells` must be an integer of at least 1"):
        count([0.1], [1], max_cells=max_cells)
