import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrant.engines import relations, score_grid, sources

ibis = pytest.importorskip("ibis", reason="engines need ibis")
duckdb = pytest.importorskip("duckdb", reason="engines need DuckDB")
pa = pytest.importorskip("pyarrow", reason="engines need pyarrow")

pytestmark = pytest.mark.filterwarnings("ignore:.*use to_arrow_table:DeprecationWarning")
RNG = np.random.default_rng(0)


def in_ibis(scores, make):
    """The columns that `make` computes from the scores and a maker of numbers, by the DuckDB of Ibis."""
    connection = ibis.duckdb.connect()
    connection.con.register("t", pa.table({"s": scores, "i": np.arange(len(scores))}))
    table = connection.table("t")
    made = {f"x{k}": column for k, column in enumerate(make(table.s, sources.ibis_number))}
    out = table.mutate(**made).order_by("i").to_pyarrow()
    return [out.column(name).to_numpy(zero_copy_only=False) for name in made]


def in_duckdb(scores, make):
    """The same by DuckDB alone; both must agree to the last bit."""
    with duckdb.connect() as connection:
        table = relations.Relation(connection.from_arrow(pa.table({"s": scores, "i": np.arange(len(scores))})))
        made = {f"x{k}": column for k, column in enumerate(make(table.s, relations.number))}
        found = table.mutate(**made).collect()
    out = [found[name][np.argsort(found["i"])] for name in made]
    for mine, theirs in zip(out, in_ibis(scores, make), strict=True):
        assert mine.dtype == theirs.dtype
        np.testing.assert_array_equal(mine, theirs)
    return out


def test_rounding_to_bits_by_hand():
    c = score_grid.constant(3)
    assert score_grid.rounded(1.0, c) == 1.0
    assert score_grid.rounded(1.3, c) == 1.25  # 3 bits: 1, 1.25, 1.5, 1.75
    assert score_grid.rounded(-13.0, c) == -12.0  # a tie goes to the even digit
    assert score_grid.rounded(0.3, score_grid.constant(53)) == 0.3


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=50), st.integers(4, 40))
def test_rounding_keeps_the_order(values, bits):
    values = np.sort(np.array(values))
    out = score_grid.rounded(values, score_grid.constant(bits))
    assert (np.diff(out) >= 0).all()
    assert (np.abs(out - values) <= 2.0 ** -(bits - 1) * np.abs(values)).all()


def test_numbers_reach_the_engine_unchanged():
    values = (RNG.random(50) * 10.0 ** RNG.integers(-300, 300, 50)).tolist()
    out = in_duckdb(np.zeros(1), lambda s, number: [s + number(v) for v in values])
    assert [x[0] for x in out] == values


HARD = np.concatenate(
    ([0.0, 0.5, 1.0, np.nextafter(0.5, 1), 1e-300], 1 - 10.0 ** np.arange(-16.0, -0.3), RNG.random(99))
)
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
    scores = HARD if name != "spread" else HARD * 11 - 3
    key, offset = in_duckdb(scores, grid.cell)
    width = grid.width * 2.0 ** -min(grid.bits)
    assert (np.abs(offset) <= width).all()
    np.testing.assert_allclose(grid.scores(key, offset), scores, rtol=0, atol=grid.width * 2.0**-grid.sum_bits)
    ends = grid.scores(*in_duckdb(np.array([grid.low, grid.low + grid.width]), grid.cell))
    assert ends.tolist() == [grid.low, grid.low + grid.width]
    order = np.argsort(scores)
    places = grid.scores(key, np.zeros(len(key)))[order]
    assert (np.diff(places) >= -1e-15 * grid.width).all()


@pytest.mark.parametrize("engine", ["duckdb", "pyspark"])
def test_packed_cells_are_unpacked(engine):
    grid = GRIDS["first"]

    def make(score, number):
        key = grid.cell(score, number)[0]
        return [key, score_grid.packed(key, engine, number)]

    key, whole = (in_duckdb if engine == "duckdb" else in_ibis)(HARD, make)
    assert whole.dtype == np.int64
    assert np.array_equal(score_grid.unpacked(whole, engine), key)


def test_what_is_no_number_is_packed_as_missing():
    scores = pa.array([0.5, None, np.nan, np.inf], pa.float64(), from_pandas=False)
    (whole,) = in_duckdb(
        scores, lambda s, number: [score_grid.packed(GRIDS["first"].cell(s, number)[0], "duckdb", number)]
    )
    assert np.isnan(score_grid.unpacked(whole, "duckdb")).tolist() == [False, True, True, True]


def test_the_last_bits_of_packed_cells_differ():
    make = lambda s, number: [score_grid.packed(GRIDS["first"].cell(s, number)[0], "pyspark", number)]  # noqa: E731
    (whole,) = in_ibis(RNG.random(20_000), make)
    assert len(np.unique(whole % 2**17)) > 0.9 * len(np.unique(whole))


@pytest.mark.parametrize("refined", [False, True])
def test_sums_of_offsets_do_not_depend_on_the_order(refined):
    scores = np.concatenate((0.3 + 1e-4 * RNG.random(2**14), RNG.random(2**12) ** 9, 1 - RNG.random(2**12) ** 9))
    grid = score_grid.first_grid(0.0, 1.0, 8)
    if refined:
        found, totals = np.unique(in_duckdb(scores, grid.cell)[0], return_counts=True)
        grid = score_grid.finer(grid, [(found, totals)], 8)
    cell, offset = in_duckdb(scores, grid.cell)
    for key in np.unique(cell):
        part = offset[cell == key]
        sums = {np.add.reduce(RNG.permutation(part)) for _ in range(5)} | {float(np.cumsum(part)[-1])}
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
