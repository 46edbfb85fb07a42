import numpy as np

from calibrant import Tally
from calibrant.maps.keys import SegmentCounts, SegmentKeys, combine
from calibrant.segments.search import join_cells


def join(scores, positives, codes):
    """Rows of weight 1 with these numbers of their segments, joined to cells."""
    columns = {str(k): column for k, column in enumerate(codes.T)}
    keys, _ = SegmentKeys.learn(columns, len(scores), "error")
    rows = np.ones(len(scores))
    return join_cells(SegmentCounts(keys, scores, positives, rows, codes), Tally.from_arrays(scores, positives))


def test_cells_keep_the_sums_of_every_segment():
    rng = np.random.default_rng(1)
    scores, codes = rng.random(3000), rng.integers(0, 4, (3000, 2))
    positives = (rng.random(3000) < scores).astype(float)
    cells, coarse, totals = join(scores, positives, codes)
    assert len(coarse) == 256
    assert totals.sum() == cells.totals.sum() == 3000.0
    for k in range(2):
        for column, sums in ((positives, cells.positives), (np.ones(3000), cells.totals)):
            np.testing.assert_allclose(np.bincount(cells.codes[:, k], sums), np.bincount(codes[:, k], column))


def test_combine_numbers_distinct_rows_in_their_order():
    assert combine(np.array([[1, 0], [0, 5], [1, 0], [0, 2]])).tolist() == [2, 1, 2, 0]


def test_very_many_cells_are_made_fewer(monkeypatch):
    monkeypatch.setattr("calibrant.segments.search.MANY_CELLS", 1000)
    rng = np.random.default_rng(1)
    scores, codes = np.sort(rng.random(3000)), rng.integers(0, 50, (3000, 1))
    cells, coarse, _ = join(scores, np.zeros(3000), codes)
    assert len(coarse) == 16
    assert len(cells.scores) <= 16 * 50
    assert cells.totals.sum() == 3000.0
