import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

nw = pytest.importorskip("narwhals.stable.v2", reason="engines need Narwhals")
duckdb = pytest.importorskip("duckdb", reason="engines need DuckDB")
pa = pytest.importorskip("pyarrow", reason="engines need pyarrow")

from calibrant.engines import score_grid  # noqa: E402 - after the checks that Narwhals is there

pytestmark = pytest.mark.filterwarnings("ignore:.*use to_arrow_table:DeprecationWarning")


def in_duckdb(table):
    return duckdb.from_arrow(table)  # of the connection that stays: before DuckDB 1.5 a relation did not hold its own


def in_ibis(table):
    connection = pytest.importorskip("ibis", reason="Ibis is not installed").duckdb.connect()
    connection.con.register("t", table)
    return connection.table("t")


BACKENDS = {"duckdb": in_duckdb, "ibis": in_ibis, "pandas": lambda table: table.to_pandas()}


def compute(scores, *expressions, backend="duckdb"):
    """The expressions of `nw.col("s")`, computed by an engine."""
    frame = nw.from_native(BACKENDS[backend](pa.table({"s": scores, "i": np.arange(len(scores))}))).lazy()
    names = [f"x{k}" for k in range(len(expressions))]
    out = frame.select("i", **dict(zip(names, expressions, strict=True))).collect().sort("i")
    return [out[name].to_numpy() for name in names]


def cells_of(grid, scores):
    return compute(scores, *grid.cell(nw.col("s")))


def hard_scores():
    ends = [0.0, 0.5, 1.0, np.nextafter(0.5, 1), 1e-300]
    return np.concatenate((ends, 1 - 10.0 ** np.arange(-16.0, -0.3), np.random.default_rng(0).random(99)))


def test_rounding_to_bits_by_hand():
    c = score_grid.constant(3)
    assert score_grid.round_bits(1.0, c) == 1.0
    assert score_grid.round_bits(1.3, c) == 1.25  # 3 bits: 1, 1.25, 1.5, 1.75
    assert score_grid.round_bits(-13.0, c) == -12.0  # a tie goes to the even digit
    assert score_grid.round_bits(0.3, score_grid.constant(53)) == 0.3


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=50), st.integers(4, 40))
def test_rounding_keeps_the_order(values, bits):
    values = np.sort(np.array(values))
    out = score_grid.round_bits(values, score_grid.constant(bits))
    assert (np.diff(out) >= 0).all()
    assert (np.abs(out - values) <= 2.0 ** -(bits - 1) * np.abs(values)).all()


@pytest.mark.parametrize("backend", BACKENDS)
def test_numbers_reach_the_engine_unchanged(backend):
    rng = np.random.default_rng(0)
    values = [*(rng.random(50) * 10.0 ** rng.integers(-300, 300, 50)), *rng.normal(size=50), 0.0, 1 / 3, -2.0, 5e-324]
    out = compute(np.zeros(1), *(nw.col("s") + score_grid.number(v) for v in values), backend=backend)
    assert [x[0] for x in out] == values


GRIDS = {
    "first": score_grid.first_grid(0.0, 1.0, 4096),
    "few cells": score_grid.first_grid(0.0, 1.0, 8),
    "not folded at one": score_grid.Grid(0.0, 1.0, 0.0, (10,), 40),
    "runs": score_grid.Grid(0.0, 1.0, 0.0, (10, 20, 8), 40, (-np.inf, -0.1, 0.3)),
    "spread": score_grid.first_grid(-3.0, 8.0, 4096),
}


@pytest.mark.parametrize("name", GRIDS)
def test_a_cell_and_its_offset_give_the_score_back(name):
    grid = GRIDS[name]
    scores = hard_scores() if name != "spread" else hard_scores() * 11 - 3
    key, offset = cells_of(grid, scores)
    width = grid.width * 2.0 ** -min(grid.bits)
    assert (np.abs(offset) <= width).all()
    np.testing.assert_allclose(grid.scores(key, offset), scores, rtol=0, atol=grid.width * 2.0**-grid.sum_bits)
    ends = grid.scores(*cells_of(grid, np.array([grid.low, grid.low + grid.width])))
    assert ends.tolist() == [grid.low, grid.low + grid.width]
    order = np.argsort(scores)
    places = grid.scores(key, np.zeros(len(key)))[order]
    assert (np.diff(places) >= -1e-15 * grid.width).all()


@pytest.mark.parametrize("name", GRIDS)
def test_engines_agree_to_the_last_bit(name):
    expressions = GRIDS[name].cell(nw.col("s"))
    reference = compute(hard_scores(), *expressions)
    for backend in ("ibis", "pandas"):
        for mine, theirs in zip(compute(hard_scores(), *expressions, backend=backend), reference, strict=True):
            np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("refined", [False, True])
def test_sums_of_offsets_do_not_depend_on_the_order(refined):
    rng = np.random.default_rng(0)
    scores = np.concatenate((0.3 + 1e-4 * rng.random(2**14), rng.random(2**12) ** 9, 1 - rng.random(2**12) ** 9))
    grid = score_grid.first_grid(0.0, 1.0, 8)
    if refined:
        keys, totals = np.unique(cells_of(grid, scores)[0], return_counts=True)
        grid = score_grid.finer(grid, [(keys, totals)], 8)
    cell, offset = cells_of(grid, scores)
    for key in np.unique(cell):
        part = offset[cell == key]
        sums = {np.add.reduce(rng.permutation(part)) for _ in range(5)} | {float(np.cumsum(part)[-1])}
        assert len(sums) == 1
        mean = scores[cell == key].mean()
        assert grid.scores(np.array([key]), sums.pop() / len(part))[0] == pytest.approx(mean, rel=1e-10)  # at 35 bits


@pytest.mark.parametrize("side", ["near zero", "near one"])
def test_finer_cells_where_the_mass_is(side):
    # A hundred cells of the first grid; one of them holds nearly everything.
    first = score_grid.first_grid(0.0, 1.0, 1000)
    cells = np.linspace(0.01, 0.49, 100) * (1 if side == "near zero" else -1)
    totals = np.full(100, 1.0)
    totals[40] = 1e5
    grid = score_grid.finer(first, [(np.sort(cells), totals[np.argsort(cells)])], 1000)
    place = int(np.searchsorted(grid.starts, cells[40], side="right")) - 1
    width = 2.0 ** (np.ceil(np.log2(abs(cells[40]))) - grid.bits[place])  # of a cell, below the next power of two
    before = 2.0 ** (np.ceil(np.log2(abs(cells[40]))) - first.bits[0])
    assert 300 <= before / width <= 4000
    assert len(grid.bits) <= score_grid.MOST_RUNS
