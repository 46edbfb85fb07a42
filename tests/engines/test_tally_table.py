import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrant import Tally, engines
from calibrant.engines import tallying
from calibrant.engines.relations import Relation
from calibrant.errors import InvalidInputError

pytest.importorskip("ibis", reason="engines need ibis")

N = 40_000
RNG = np.random.default_rng(0)
SHAPES = {
    "uniform": RNG.random(N),
    "near zero": RNG.beta(0.05, 5.0, N),
    "near one": 1 - 10.0 ** RNG.uniform(-12, 0, N),
    "both ends": RNG.beta(0.1, 0.1, N),
    "logits": RNG.normal(0, 3, N),
    "far from zero": 1e6 + RNG.random(N),
    "tiny": RNG.random(N) * 1e-250,
    "one in the middle": np.where(RNG.random(N) < 0.5, 0.3, RNG.random(N)),
    "narrow peak": np.where(RNG.random(N) < 0.9, 0.37 + 1e-6 * RNG.random(N), RNG.random(N)),
}
LABELS = (RNG.random(N) < 0.3).astype(int)


def count(scores, y, **options):
    return engines.tally(pd.DataFrame({"s": scores, "y": y}), score="s", label="y", **options)


@pytest.mark.parametrize("name", SHAPES)
def test_cells_of_nearly_equal_mass_with_exact_sums(name):
    scores, max_cells = SHAPES[name], 500
    found = count(scores, LABELS, max_cells=max_cells)
    assert found.total == N
    assert found.total_positive == LABELS.sum()
    assert len(found) <= max_cells
    if name != "narrow peak":  # inside a range of two per cent, mass is taken to be spread evenly
        assert len(found) >= 0.6 * len(Tally.from_arrays(scores, LABELS, max_cells=max_cells))
        heaviest_tie = np.unique(scores, return_counts=True)[1].max()
        assert found.totals.max() <= heaviest_tie + 4.0 * N / max_cells
    # Cells are runs of sorted scores: their ends, means and positives follow from their sizes.
    order = np.argsort(scores)
    starts = np.concatenate(([0], np.cumsum(found.totals)[:-1])).astype(int)
    first, last = scores[order][starts], scores[order][np.append(starts[1:], N) - 1]
    assert (first[1:] > last[:-1]).all()  # no tie is split
    means = np.add.reduceat(scores[order], starts) / found.totals
    is_unit = scores.min() >= 0 and scores.max() <= 1  # other scores are exact relative to their range
    np.testing.assert_allclose(found.scores, means, rtol=1e-11, atol=0 if is_unit else 1e-12 * np.ptp(scores))
    assert np.array_equal(np.add.reduceat(LABELS[order], starts), found.positives)


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
        found = engines.tally(table, score="s", label="y", weight="w", max_cells=41)
        assert found == Tally.from_arrays(scores, y, weights)


def test_both_zeros_are_one_score():
    assert count(np.array([0.0, -0.0, 1.0]), np.array([0, 1, 1])) == Tally.from_arrays([0.0, -0.0, 1.0], [0, 1, 1])


def test_weights_in_cells():
    weights = RNG.integers(0, 4, N) / 2
    table = pd.DataFrame({"s": SHAPES["both ends"], "y": LABELS, "w": weights})
    found = engines.tally(table, score="s", label="y", weight="w", max_cells=100)
    assert found.total == weights.sum()
    assert found.total_positive == weights[LABELS == 1].sum()
    mean = np.average(table["s"], weights=weights)
    assert np.average(found.scores, weights=found.totals) == pytest.approx(mean, rel=1e-12)


def test_one_tally_for_each_segment():
    segment = RNG.choice(["a", "b", "c"], N, p=[0.5, 0.499, 0.001])
    scores = np.where(segment == "b", np.round(SHAPES["uniform"], 1), SHAPES["near one"])
    table = pd.DataFrame({"s": scores, "y": LABELS, "g": segment})
    found = engines.tally(table, score="s", label="y", by="g", max_cells=200)
    assert list(found) == ["a", "b", "c"]
    for name in "bc":  # few distinct scores, and few rows: exact
        part = table[table["g"] == name]
        assert found[name] == Tally.from_arrays(part["s"], part["y"])
    assert found["a"].total == (segment == "a").sum()
    assert found["a"].total_positive == LABELS[segment == "a"].sum()
    assert 100 <= len(found["a"]) <= 200


def test_a_missing_segment_is_a_segment():
    table = pd.DataFrame({"s": [0.1, 0.2, 0.3], "y": [0, 1, 1], "g": [1.0, np.nan, 1.0]})
    found = engines.tally(table, score="s", label="y", by="g")
    assert list(found) == [1.0, None]
    assert found[None] == Tally.from_arrays([0.2], [1])


def test_the_order_of_rows_does_not_matter():
    order = RNG.permutation(N)
    a = count(SHAPES["uniform"], LABELS, max_cells=300)
    assert a == count(SHAPES["uniform"][order], LABELS[order], max_cells=300)


@pytest.fixture
def scans(monkeypatch):
    """Every pass over the data, as the number of rows that came back."""
    passes = []
    original = Relation.collect

    def run(relation):
        result = original(relation)
        passes.append(len(next(iter(result.values()))))
        return result

    monkeypatch.setattr(Relation, "collect", run)
    return passes


def test_one_scan_and_only_cells_come_back(scans):
    count(SHAPES["uniform"], LABELS, max_cells=500)
    extremes, peek, cells = scans  # the first is known to many engines, the second needs a few thousand rows
    assert (extremes, peek) == (1, 1)
    assert cells < 3000
    scans.clear()
    count(np.round(SHAPES["uniform"], 2), LABELS, max_cells=500)
    assert scans == [1, 1, 101]  # the distinct scores fit


def test_one_scan_more_where_cells_are_too_heavy(scans):
    count(SHAPES["narrow peak"], LABELS, max_cells=500)
    assert len(scans) == 4
    assert scans[-1] < 20_000


def test_a_tie_at_either_end_needs_no_finer_cells(scans):
    scores = SHAPES["uniform"].copy()
    scores[::4], scores[1::4] = 0.0, 1.0
    found = count(scores, LABELS, max_cells=500)
    assert len(scans) == 3
    assert (found.scores[0], found.scores[-1]) == (0.0, 1.0)
    assert (found.totals[0], found.totals[-1]) == (N / 4, N / 4)


def test_probabilities_beyond_the_finest_cells(scans):
    scores = 10.0 ** RNG.uniform(-200, -20, N)
    scores[0] = 1.0
    found = count(scores, LABELS, max_cells=500)
    assert len(found) > 300
    assert found.totals.max() < 4 * N / 500
    assert len(scans) == 4


def test_scores_that_only_seem_to_fit(scans, monkeypatch):
    monkeypatch.setattr(tallying, "PEEK_CELLS", 1)
    scores = np.concatenate((np.full(1000, 0.5), RNG.random(5000)))
    found = count(scores, np.arange(6000) % 2, max_cells=50)
    assert found.total == 6000
    assert 30 <= len(found) <= 50
    assert scans[2] == 51  # the driver never receives more than one cell too many
    table = pd.DataFrame({"s": scores, "y": 1, "g": 3})
    assert engines.tally(table, score="s", label="y", by="g", max_cells=50)[3].total == 6000


@pytest.mark.parametrize("max_cells", [0, -1, 1.5, True])
def test_max_cells_must_be_a_positive_integer(max_cells):
    with pytest.raises(InvalidInputError, match="`max_cells` must be a positive integer"):
        count([0.1], [1], max_cells=max_cells)
