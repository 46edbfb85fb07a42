"""Cells of crowded scores, held to what all rows say: runs of sorted scores of similar mass, the same everywhere."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

nw = pytest.importorskip("narwhals.stable.v2", reason="engines need Narwhals")
duckdb = pytest.importorskip("duckdb", reason="engines need DuckDB")
pa = pytest.importorskip("pyarrow", reason="engines need pyarrow")

from calibrant import Tally, engines  # noqa: E402 - after the checks that the packages are there
from calibrant.engines import tally_table  # noqa: E402
from calibrant.engines.tally_table import round_bits, whole_number  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:.*use to_arrow_table:DeprecationWarning")

N, CELLS = 40_000, 500


def with_outliers(scores, *outliers):
    scores[: len(outliers)] = outliers
    return scores


SHAPES = {
    "uniform": lambda rng: rng.random(N),
    "near zero": lambda rng: rng.beta(0.05, 5.0, N),
    "near one": lambda rng: 1 - 10.0 ** rng.uniform(-12, 0, N),
    "both ends": lambda rng: rng.beta(0.1, 0.1, N),
    "logits": lambda rng: rng.normal(0, 3, N),
    "points": lambda rng: rng.normal(600, 50, N),
    "far from zero": lambda rng: 1e6 + rng.random(N),
    "all negative": lambda rng: -1e6 - rng.random(N),
    "tiny": lambda rng: rng.random(N) * 1e-250,
    "of all sizes": lambda rng: with_outliers(10.0 ** rng.uniform(-200, -20, N), 1.0),
    "outliers on both sides": lambda rng: with_outliers(rng.uniform(-5, 5, N), -1e6, 1e6),
    "one in the middle": lambda rng: np.where(rng.random(N) < 0.5, 0.3, rng.random(N)),
    "one in a crowd": lambda rng: np.where(rng.random(N) < 0.5, 0.3, 0.3 + 1e-5 * rng.normal(size=N)),
    "ties at the ends": lambda rng: np.clip(rng.normal(0.5, 0.5, N), 0, 1),
    "narrow peak": lambda rng: np.where(rng.random(N) < 0.9, 0.37 + 1e-6 * rng.random(N), rng.random(N)),
    "half within 1e-9": lambda rng: np.where(rng.random(N) < 0.5, 0.7 + 1e-9 * rng.random(N), rng.random(N)),
    "a hundred peaks": lambda rng: rng.integers(1, 100, N) / 100 + 1e-7 * rng.random(N),
}


def draw(name):
    return SHAPES[name](np.random.default_rng(0))


@pytest.fixture
def labels():
    return (np.random.default_rng(1).random(N) < 0.3).astype(int)


@pytest.fixture(autouse=True)
def crowded(monkeypatch):
    """Scores that do not fit into the cells are crowded, however few they are."""
    monkeypatch.setattr(tally_table, "FETCHED", 0)


@pytest.fixture
def scans(monkeypatch):
    """Every pass over the data but that of the extremes, as the number of rows that came back."""
    passes, fetch = [], tally_table.fetch

    def run(frame):
        cells = fetch(frame)
        if "lowest_label" not in cells:
            passes.append(len(next(iter(cells.values()))))
        return cells

    monkeypatch.setattr(tally_table, "fetch", run)
    return passes


def count(scores, y, max_cells=CELLS, **options):
    return engines.tally(pd.DataFrame({"s": scores, "y": y}), score="s", label="y", max_cells=max_cells, **options)


def check_by_rows(tally, scores, y, max_cells=CELLS):
    """Compare a tally with the sorted rows: sizes of cells say where they begin, and all else follows."""
    order = np.argsort(scores)
    ordered, positive = scores[order], y[order]
    starts = np.concatenate(([0], np.cumsum(tally.totals)[:-1])).astype(int)
    first, last = ordered[starts], ordered[np.append(starts[1:], len(scores)) - 1]
    assert len(tally) <= max_cells
    assert tally.total == len(scores)
    assert (first[1:] > last[:-1]).all(), "a tie is split"
    assert np.array_equal(np.add.reduceat(positive, starts), tally.positives)
    assert ((first <= tally.scores) & (tally.scores <= last)).all(), "a score outside its cell"
    heaviest_tie = Tally.from_arrays(scores, y).totals.max()
    assert tally.totals.max() <= heaviest_tie + 4.0 * len(scores) / max_cells


@pytest.mark.parametrize("name", SHAPES)
def test_cells_are_runs_of_scores_of_similar_mass(name, labels):
    scores = draw(name)
    tally = count(scores, labels)
    check_by_rows(tally, scores, labels)
    assert len(tally) >= 0.5 * len(Tally.from_arrays(scores, labels, max_cells=CELLS))


@settings(max_examples=30, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(["uniform", "logits", "peaks"]),
    st.floats(-1e6, 1e6),
    st.floats(1e-6, 1e6),
    st.integers(1, 200),
)
def test_any_scores(seed, kind, shift, scale, max_cells):
    rng, n = np.random.default_rng(seed), 3000
    scores = {
        "uniform": rng.random(n),
        "logits": rng.normal(size=n),
        "peaks": rng.integers(0, 20, n) + 1e-5 * rng.random(n),
    }[kind]
    scores, y = shift + scale * scores, rng.integers(0, 2, n)
    tally = count(scores, y, max_cells)
    if 3 * n / max_cells > tally_table.FEW_ROWS:
        check_by_rows(tally, scores, y, max_cells)


def test_few_rows_of_a_cell_stay_together():
    scores = np.linspace(0.3, 0.3 + 1e-9, 30)
    tally = count(np.append(scores, 0.9), np.ones(31), max_cells=20)
    assert tally.totals.tolist() == [30.0, 1.0]
    assert tally.scores.tolist() == [scores[0] + 0.5 * (scores[-1] - scores[0]), 0.9]


def test_the_order_of_rows_does_not_matter(labels):
    order = np.random.default_rng(2).permutation(N)
    a = count(draw("narrow peak"), labels)
    assert a == count(draw("narrow peak")[order], labels[order])


def test_segments_have_cells_of_their_own(labels):
    segment = np.random.default_rng(2).integers(0, 3, N)
    scores = np.select([segment == 0, segment == 1], [draw("narrow peak"), draw("near one")], draw("logits"))
    table = pd.DataFrame({"s": scores, "y": labels, "g": np.array(["a", "b", None], object)[segment]})
    tallies = engines.tally(table, score="s", label="y", by="g", max_cells=200)
    assert list(tallies) == ["a", "b", None]
    for i, tally in enumerate(tallies.values()):
        check_by_rows(tally, scores[segment == i], labels[segment == i], 200)


@pytest.mark.parametrize("score", [0.0, 5e-324, 1e290])
def test_segments_of_one_score(score):
    table = pd.DataFrame({"s": score, "y": 1, "g": np.arange(20) % 10})
    tallies = engines.tally(table, score="s", label="y", by="g", max_cells=5)
    assert set(map(str, tallies.values())) == {str(Tally.from_arrays([score, score], [1, 1]))}


def test_weights_decide_what_is_heavy(labels):
    scores = draw("uniform")
    weights = np.where((scores > 0.3) & (scores < 0.301), 100.0, 1.0)
    table = pd.DataFrame({"s": scores, "y": labels, "w": weights})
    tally = engines.tally(table, score="s", label="y", weight="w", max_cells=50)
    assert tally.total == weights.sum()
    assert tally.total_positive == weights[labels == 1].sum()
    assert tally.totals.max() <= 4 * weights.sum() / 50


def test_one_scan_and_only_cells_come_back(scans, labels):
    count(draw("uniform"), labels)
    peek, cells = scans  # the first needs a thousand rows
    assert peek == 1
    assert cells < 6000
    scans.clear()
    count(np.round(draw("uniform"), 2), labels)
    assert scans == [1, 101]  # the distinct scores of the first rows, and the counts


@pytest.mark.parametrize("name", ["near one", "logits", "ties at the ends", "of all sizes"])
def test_one_scan_is_enough_for_usual_scores(scans, labels, name):
    count(draw(name), labels)
    assert len(scans) == 2


@pytest.mark.parametrize("name", ["narrow peak", "half within 1e-9", "a hundred peaks", "one in a crowd"])
def test_more_scans_where_cells_are_too_heavy(scans, labels, name):
    count(draw(name), labels)
    assert 3 <= len(scans) <= 6
    assert max(scans) < 30_000


def test_scores_that_differ_by_rounding_need_no_finest_cells(scans, labels):
    scores = draw("uniform")
    scores[::4], scores[1::4] = 0.1 + 0.2, 0.3
    tally = count(scores, labels)
    assert len(scans) <= 4  # 8 down to the last bit
    assert tally.totals.max() >= N / 2


def test_scores_that_only_seem_to_fit(scans):
    scores = np.concatenate((np.full(1000, 0.5), np.random.default_rng(2).random(5000)))
    tally = count(scores, np.arange(6000) % 2, max_cells=50)
    check_by_rows(tally, scores, np.arange(6000) % 2, 50)
    assert scans[:2] == [1, 51]  # Python never receives more than cells
    table = pd.DataFrame({"s": scores, "y": 1, "g": 3})
    assert engines.tally(table, score="s", label="y", by="g", max_cells=50)[3].total == 6000


def test_rounding_to_bits_by_hand():
    assert round_bits(1.0, 3) == 1.0
    assert round_bits(1.3, 3) == 1.25  # 3 bits: 1, 1.25, 1.5, 1.75
    assert round_bits(-13.0, 3) == -12.0  # a tie goes to the even digit
    assert round_bits(0.3, 53) == 0.3


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=50), st.integers(4, 40))
def test_rounding_keeps_the_order(values, bits):
    values = np.sort(np.array(values))
    out = round_bits(values, bits)
    assert (np.diff(out) >= 0).all()
    assert (np.abs(out - values) <= 2.0 ** -(bits - 1) * np.abs(values)).all()


def in_duckdb(table):
    return duckdb.from_arrow(table)  # of the connection that stays: before DuckDB 1.5 a relation did not hold its own


def in_ibis(table):
    connection = pytest.importorskip("ibis", reason="Ibis is not installed").duckdb.connect()
    connection.con.register("t", table)
    return connection.table("t")


BACKENDS = {"duckdb": in_duckdb, "ibis": in_ibis, "pandas": lambda table: table.to_pandas()}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("bits", [12, 28, 52])
def test_engines_agree_with_numpy_to_the_last_bit(backend, bits):
    places = np.concatenate(([0.0, 0.5, 1.0, 1e-300], 2.0 ** -np.arange(60.0), np.random.default_rng(0).random(99)))
    places = np.concatenate((places, -places))
    frame = nw.from_native(BACKENDS[backend](pa.table({"s": places, "i": np.arange(len(places))}))).lazy()
    cell = round_bits(nw.col("s"), bits)
    number = whole_number(cell).cast(nw.Int64)
    out = frame.select("i", cell=cell, number=number).collect().sort("i")
    np.testing.assert_array_equal(out["cell"].to_numpy(), round_bits(places, bits))
    np.testing.assert_array_equal(out["number"].to_numpy(), whole_number(round_bits(places, bits)))
    wanted = np.unique(whole_number(round_bits(places, bits)))[::3].astype(int).tolist()
    found = frame.filter(number.is_in(wanted)).select("i").collect()["i"].to_list()
    assert sorted(found) == np.flatnonzero(np.isin(whole_number(round_bits(places, bits)), wanted)).tolist()
