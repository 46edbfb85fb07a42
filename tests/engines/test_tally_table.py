import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrant import Tally, engines
from calibrant.errors import InvalidInputError

pytest.importorskip("narwhals", reason="engines need Narwhals")

from calibrant.engines import tally_table

N = 40_000
SHAPES = {
    "uniform": lambda rng: rng.random(N),
    "near zero": lambda rng: rng.beta(0.05, 5.0, N),
    "near one": lambda rng: 1 - 10.0 ** rng.uniform(-12, 0, N),
    "both ends": lambda rng: rng.beta(0.1, 0.1, N),
    "logits": lambda rng: rng.normal(0, 3, N),
    "far from zero": lambda rng: 1e6 + rng.random(N),
    "tiny": lambda rng: rng.random(N) * 1e-250,
    "one in the middle": lambda rng: np.where(rng.random(N) < 0.5, 0.3, rng.random(N)),
    "narrow peak": lambda rng: np.where(rng.random(N) < 0.9, 0.37 + 1e-6 * rng.random(N), rng.random(N)),
}


def draw(name):
    return SHAPES[name](np.random.default_rng(0))


@pytest.fixture
def labels():
    return (np.random.default_rng(1).random(N) < 0.3).astype(int)


def count(scores, y, **options):
    return engines.tally(pd.DataFrame({"s": scores, "y": y}), score="s", label="y", **options)


@pytest.mark.parametrize("name", SHAPES)
def test_cells_of_nearly_equal_mass_with_exact_sums(name, labels):
    scores, max_cells = draw(name), 500
    tally = count(scores, labels, max_cells=max_cells)
    assert tally.total == N
    assert tally.total_positive == labels.sum()
    assert len(tally) <= max_cells
    if name != "narrow peak":  # inside a range of two per cent, mass is taken to be spread evenly
        assert len(tally) >= 0.6 * len(Tally.from_arrays(scores, labels, max_cells=max_cells))
        heaviest_tie = Tally.from_arrays(scores, labels).totals.max()
        assert tally.totals.max() <= heaviest_tie + 4.0 * N / max_cells
    # Cells are runs of sorted scores: their ends, means and positives follow from their sizes.
    order = np.argsort(scores)
    starts = np.concatenate(([0], np.cumsum(tally.totals)[:-1])).astype(int)
    first, last = scores[order][starts], scores[order][np.append(starts[1:], N) - 1]
    assert (first[1:] > last[:-1]).all()  # no tie is split
    means = np.add.reduceat(scores[order], starts) / tally.totals
    is_unit = scores.min() >= 0 and scores.max() <= 1  # other scores are exact relative to their range
    np.testing.assert_allclose(tally.scores, means, rtol=1e-11, atol=0 if is_unit else 1e-12 * np.ptp(scores))
    assert np.array_equal(np.add.reduceat(labels[order], starts), tally.positives)


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
    for name in "bc":  # few distinct scores, and few rows: exact
        part = table[table["g"] == name]
        assert tallies[name] == Tally.from_arrays(part["s"], part["y"])
    assert tallies["a"].total == (segment == "a").sum()
    assert tallies["a"].total_positive == labels[segment == "a"].sum()
    assert 100 <= len(tallies["a"]) <= 200


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


def test_the_order_of_rows_does_not_matter(labels):
    order = np.random.default_rng(2).permutation(N)
    a = count(draw("uniform"), labels, max_cells=300)
    assert a == count(draw("uniform")[order], labels[order], max_cells=300)


@pytest.fixture
def scans(monkeypatch):
    """Every pass over the data but that of the extremes, as the number of rows that came back."""
    passes, fetch = [], tally_table.fetch

    def run(frame):
        cells = fetch(frame)
        if "low" not in cells:
            passes.append(len(cells["segment"]))
        return cells

    monkeypatch.setattr(tally_table, "fetch", run)
    return passes


def test_one_scan_and_only_cells_come_back(scans, labels):
    count(draw("uniform"), labels, max_cells=500)
    peek, cells = scans  # the first needs a few thousand rows
    assert peek == 1
    assert cells < 3000
    scans.clear()
    count(np.round(draw("uniform"), 2), labels, max_cells=500)
    assert scans == [1, 1, 101]  # the distinct scores of the first rows, of all, and the cells


def test_one_scan_more_where_cells_are_too_heavy(scans, labels):
    count(draw("narrow peak"), labels, max_cells=500)
    assert len(scans) == 3
    assert scans[-1] < 20_000


def test_a_tie_at_either_end_needs_no_finer_cells(scans, labels):
    scores = draw("uniform").copy()
    scores[::4], scores[1::4] = 0.0, 1.0
    tally = count(scores, labels, max_cells=500)
    assert len(scans) == 2
    assert (tally.scores[0], tally.scores[-1]) == (0.0, 1.0)
    assert (tally.totals[0], tally.totals[-1]) == (N / 4, N / 4)


def test_probabilities_beyond_the_finest_cells(scans, labels):
    scores = 10.0 ** np.random.default_rng(2).uniform(-200, -20, N)
    scores[0] = 1.0
    tally = count(scores, labels, max_cells=500)
    assert len(tally) > 300
    assert tally.totals.max() < 4 * N / 500
    assert len(scans) == 3


def test_scores_that_only_seem_to_fit(scans, monkeypatch):
    monkeypatch.setattr(tally_table, "PEEK_CELLS", 1)
    scores = np.concatenate((np.full(1000, 0.5), np.random.default_rng(2).random(5000)))
    tally = count(scores, np.arange(6000) % 2, max_cells=50)
    assert tally.total == 6000
    assert 30 <= len(tally) <= 50
    assert scans[:2] == [1, 1]  # Python never receives more than a number before cells are made
    table = pd.DataFrame({"s": scores, "y": 1, "g": 3})
    assert engines.tally(table, score="s", label="y", by="g", max_cells=50)[3].total == 6000


def test_segments_that_begin_after_the_first_rows(monkeypatch):
    monkeypatch.setattr(tally_table, "PEEK_CELLS", 1)
    rng = np.random.default_rng(2)
    table = pd.DataFrame({"s": rng.random(3000), "y": 1, "g": np.repeat(["a", "b", "c"], 1000)})
    table.loc[table["g"] == "c", "s"] = 0.25
    tallies = engines.tally(table, score="s", label="y", by="g", max_cells=50)
    assert tallies["c"] == Tally.from_arrays(np.full(1000, 0.25), np.ones(1000))
    assert [30 <= len(tallies[g]) <= 50 for g in "ab"] == [True, True]


@pytest.mark.parametrize("max_cells", [0, -1, 1.5, True])
def test_max_cells_must_be_a_positive_integer(max_cells):
    with pytest.raises(InvalidInputError, match="`max_cells` must be an integer of at least 1"):
        count([0.1], [1], max_cells=max_cells)
