import numpy as np

from calibrant.segments.search import Cells, Counts, combine


def test_cells_keep_the_sums_of_every_segment():
    rng = np.random.default_rng(1)
    scores, codes = rng.random(3000), rng.integers(0, 4, (3000, 2))
    positives = (rng.random(3000) < scores).astype(float)
    order = np.argsort(scores)
    cells, coarse, totals = Cells.of(Counts(scores, positives, np.ones(3000), codes), scores[order], np.ones(3000))
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
    cells, coarse, _ = Cells.of(Counts(scores, np.zeros(3000), np.ones(3000), codes), scores, np.ones(3000))
    assert len(coarse) == 16
    assert len(cells.scores) <= 16 * 50
    assert cells.totals.sum() == 3000.0
