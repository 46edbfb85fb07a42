import numpy as np

from calibrant.calibrators.segment_basis import CURVE, LINE, WAVES, Basis, Cells, Counts, combine


def test_line_columns_are_one_and_the_standardised_logit():
    pooled, totals = np.array([-1.0, 0.0, 1.0]), np.array([1.0, 2.0, 1.0])
    basis = Basis.learn(np.array([0.1, 0.5, 0.9]), pooled, totals)
    columns = basis.columns(LINE, np.array([0.1, 0.5]), np.array([-1.0, 100.0]))
    np.testing.assert_allclose(columns, [[1.0, -np.sqrt(2.0)], [1.0, 4.0]])  # far logits count as four deviations


def test_waves_run_over_middle_ranks():
    basis = Basis.learn(np.array([0.1, 0.5, 0.9]), np.zeros(3), np.array([1.0, 2.0, 1.0]))
    np.testing.assert_allclose(basis.ranks, [0.125, 0.5, 0.875])
    columns = basis.columns(CURVE, np.array([0.5, 0.0]), np.zeros(2))
    np.testing.assert_allclose(columns[0], np.sqrt(2.0) * np.cos(np.pi * 0.5 * WAVES))
    np.testing.assert_allclose(columns[1], np.sqrt(2.0) * np.cos(np.pi * 0.125 * WAVES))


def test_waves_are_orthogonal_over_the_pooled_rows():
    basis = Basis.learn(np.sort(np.random.default_rng(0).random(2000)), np.zeros(2000), np.ones(2000))
    columns = basis.columns(CURVE, basis.scores, np.zeros(2000))
    np.testing.assert_allclose(columns.T @ columns / 2000, np.eye(len(WAVES)), atol=1e-3)


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


def test_through_plain_values():
    basis = Basis.learn(np.array([0.1, 0.9]), np.array([-1.0, 1.0]), np.ones(2))
    same = Basis.from_dict(basis.to_dict())
    assert (same.centre, same.spread) == (basis.centre, basis.spread)
    np.testing.assert_array_equal(same.ranks, basis.ranks)


def test_very_many_cells_are_made_fewer(monkeypatch):
    monkeypatch.setattr("calibrant.calibrators.segment_basis.MANY_CELLS", 1000)
    rng = np.random.default_rng(1)
    scores, codes = np.sort(rng.random(3000)), rng.integers(0, 50, (3000, 1))
    cells, coarse, _ = Cells.of(Counts(scores, np.zeros(3000), np.ones(3000), codes), scores, np.ones(3000))
    assert len(coarse) == 16
    assert len(cells.scores) <= 16 * 50
    assert cells.totals.sum() == 3000.0
