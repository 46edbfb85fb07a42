import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrant.engines import keys

ibis = pytest.importorskip("ibis", reason="engines need ibis")
pa = pytest.importorskip("pyarrow", reason="engines need pyarrow")

pytestmark = pytest.mark.filterwarnings("ignore:.*use to_arrow_table:DeprecationWarning")


def in_duckdb(scores, *expressions):
    connection = ibis.duckdb.connect()
    connection.con.register("t", pa.table({"s": scores, "i": np.arange(len(scores))}))
    table = connection.table("t")
    out = table.mutate(**{f"x{k}": make(table.s) for k, make in enumerate(expressions)}).order_by("i").to_pyarrow()
    return [out.column(f"x{k}").to_numpy() for k in range(len(expressions))]


def test_rounding_to_bits_by_hand():
    c = keys.constant(3)
    assert keys.rounded(1.0, c) == 1.0
    assert keys.rounded(1.3, c) == 1.25  # 3 bits: 1, 1.25, 1.5, 1.75
    assert keys.rounded(-13.0, c) == -12.0  # a tie goes to the even digit
    assert keys.rounded(0.3, keys.constant(53)) == 0.3


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=50), st.integers(4, 40))
def test_rounding_keeps_the_order(values, bits):
    values = np.sort(np.array(values))
    out = keys.rounded(values, keys.constant(bits))
    assert (np.diff(out) >= 0).all()
    assert (np.abs(out - values) <= 2.0 ** -(bits - 1) * np.abs(values)).all()


def test_numbers_reach_the_engine_unchanged():
    rng = np.random.default_rng(0)
    values = rng.random(50) * 10.0 ** rng.integers(-300, 300, 50)
    out = in_duckdb(np.zeros(1), *[lambda s, v=v: s + keys.number(v) for v in values.tolist()])
    assert [x[0] for x in out] == values.tolist()


def test_folding_is_undone():
    scores = np.concatenate(([0.0, 0.5, 1.0, 2.0, -3.0, 1e-300], 1 - 10.0 ** np.arange(-16.0, -0.3)))
    resolution = keys.Resolution((0.0,), (10,), 40, folds=True)
    (folded,) = in_duckdb(scores, keys.folded)
    assert np.array_equal(folded, keys.folded_values(scores))
    assert np.array_equal(resolution.restored(folded, np.zeros(len(scores))), scores)


def test_sums_of_offsets_do_not_depend_on_the_order():
    rng = np.random.default_rng(0)
    scores = 0.3 + 1e-4 * rng.random(2**16)
    resolution = keys.plan(np.array([0.3]), np.array([0.3001]), np.array([1.0]), 2.0**16, 8)
    cell, offset = in_duckdb(scores, *[lambda s, k=k: keys.fine_key(s, resolution)[k] for k in range(2)])
    for key in np.unique(cell):
        part = offset[cell == key]
        sums = {np.add.reduce(rng.permutation(part)) for _ in range(20)} | {float(np.cumsum(part)[-1])}
        assert len(sums) == 1
        assert key + sums.pop() / len(part) == pytest.approx(scores[cell == key].mean(), rel=1e-12)


@pytest.mark.parametrize("folded", [True, False])
def test_the_plan_gives_bits_where_the_mass_is(folded):
    # A hundred coarse cells; one of them holds nearly everything.
    lows = np.linspace(0.01, 0.49, 100) + 0.5 * folded
    highs = lows + 0.003
    shares = np.full(100, 1e-5)
    shares[40] = 1.0 - 99e-5
    plan = keys.plan(lows, highs, shares, 1e6, 1000)
    place = int(np.searchsorted(plan.starts, lows[40], side="right")) - 1
    size = 1.0 - lows[40] if plan.folds and folded else lows[40]
    width = 2.0 ** (np.ceil(np.log2(size)) - plan.bits[place])  # of a cell, below the next power of two
    assert 500 <= 0.003 / width <= 4000
    assert len(plan.bits) <= keys.MOST_RUNS
