from functools import partial

import numpy as np
import pytest
from scipy import stats

from calibrant import Tally, metrics
from calibrant._numerics import links
from calibrant.errors import InvalidInputError
from calibrant.metrics.samples import (
    Groups,
    ScoreSample,
    number_groups,
    read_classes,
    read_problem,
    read_sample,
)


@pytest.mark.parametrize(
    "groups",
    [["b", "a", "b", "c"], [7, 3, 7, 9], np.array(["2024-01-02", "2024-01-01", "2024-01-02", "2024-01-05"], "M8[D]")],
    ids=["names", "numbers", "dates"],
)
def test_numbers_groups_of_any_type(groups):
    numbered = number_groups(groups, 4)
    assert numbered.codes.tolist() == [1, 0, 1, 2]
    assert numbered.number == 3


def test_deals_whole_groups_evenly():
    groups = number_groups(np.arange(60) // 5, 60)
    fold = groups.deal(4, rng=0)
    assert np.bincount(fold).tolist() == [15, 15, 15, 15]
    assert all(len(set(fold[groups.codes == group])) == 1 for group in range(12))
    assert (groups.deal(4, rng=0) == fold).all()


def test_draws_as_many_groups_as_there_are():
    draws = number_groups([0, 0, 1, 2], 4).draw(2000, np.random.default_rng(0))
    assert (draws.sum(axis=1) == 3).all()
    assert draws.mean(axis=0) == pytest.approx([1, 1, 1], abs=0.06)


def test_few_groups_widen_an_interval_as_student_does():
    ratio = stats.t.ppf(0.95, 3) / stats.norm.ppf(0.95)
    assert Groups(np.arange(4), 4).expansion(0.9) == pytest.approx(ratio * np.sqrt(4 / 3))
    assert Groups(np.arange(5000), 5000).expansion(0.9) == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([1, 1, 1, 1], "at least two groups"),
        ([1, 2, 3], "as many rows"),
        ([[1], [2], [3], [4]], "shape"),
        ([1.0, np.nan, 2.0, 2.0], "missing at index 1"),
        (["a", None, "b", "b"], "missing at index 1"),
        (np.array(["2024-01-02", "NaT", "2024-01-02", "2024-01-05"], "M8[D]"), "missing at index 1"),
    ],
)
def test_refuses_groups_that_are_none(groups, message):
    with pytest.raises(InvalidInputError, match=message):
        number_groups(groups, 4)


def test_refuses_more_folds_than_groups():
    with pytest.raises(InvalidInputError, match="at most the number of groups"):
        number_groups([0, 0, 1, 1], 4).deal(3)


Y, P = [0, 1, 0, 1], [0.1, 0.4, 0.4, 0.8]


def test_keeps_rows_weights_and_groups():
    rows = read_sample(Y, P, [1, 2, 3, 4], None, ["b", "a", "b", "c"]).rows
    assert rows.groups.codes.tolist() == [1, 0, 1, 2]
    assert rows.tally() == Tally.from_arrays(P, Y, [1, 2, 3, 4])


def test_the_cell_of_a_row_is_that_of_coarsen():
    rng = np.random.default_rng(0)
    p = rng.random(3000)
    rows = read_sample(rng.random(3000) < p, p, None, None, np.arange(3000) // 3).rows
    cells = rows.tally().coarsen(50)
    found = rows.cell_of_rows(rows.tally(), 50)
    np.testing.assert_allclose(np.bincount(found), cells.totals)
    np.testing.assert_allclose(np.bincount(found, p) / cells.totals, cells.scores)


def test_refuses_a_tally_and_names_the_column_as_its_caller_does():
    with pytest.raises(InvalidInputError, match="no longer knows"):
        read_sample(Tally.from_arrays(P, Y), None, None, None, [1, 2, 3, 4])
    with pytest.raises(InvalidInputError, match="`scores`"):
        read_sample(Y, [0.1, np.nan, 0.4, 0.8], None, None, [1, 2, 3, 4], names=("y", "scores"))
    with pytest.raises(InvalidInputError, match="`groups`"):
        read_sample(Y, P, None, None, [1, 2, 3])


def mean_gap(tally):
    """Mean of y − p: calibration in the large."""
    return float((tally.positives - tally.scores * tally.totals).sum() / tally.total)


def clustered(n_groups, size, spread, seed):
    """Rows of a group share an effect on the log-odds that the model does not know."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_groups), size)
    p = links.expit(rng.normal(0, 1, n_groups * size))
    y = rng.random(len(p)) < links.expit(links.logit(p) + rng.normal(0, spread, n_groups)[groups])
    return y, p, groups


def test_covers_where_rows_depend_on_each_other_and_the_plain_interval_does_not():
    truth = mean_gap(Tally.from_arrays(*clustered(20_000, 20, 1.2, 10_000)[1::-1]))
    covered = {"grouped": 0, "plain": 0}
    runs = 200
    for seed in range(runs):
        y, p, groups = clustered(40, 12, 1.2, seed)
        options = {"n_resamples": 100, "bounds": (-np.inf, np.inf), "method": "basic"}
        grouped = metrics.bootstrap_interval(mean_gap, y, p, groups=groups, **options)
        plain = metrics.bootstrap_interval(mean_gap, y, p, **options)
        covered["grouped"] += grouped.low <= truth <= grouped.high
        covered["plain"] += plain.low <= truth <= plain.high
    # Three standard deviations of 200 coin throws of 0.9 are 6 points; benchmarks/accuracy/honest.py measures more.
    assert 0.84 * runs <= covered["grouped"] <= 0.96 * runs
    assert covered["plain"] < 0.80 * runs


def test_groups_of_one_row_are_a_plain_bootstrap():
    y, p, _ = clustered(400, 1, 1.0, 0)
    grouped = metrics.bootstrap_interval(metrics.brier_score, y, p, groups=np.arange(400), n_resamples=2000)
    plain = metrics.bootstrap_interval(metrics.brier_score, y, p, n_resamples=2000)
    assert (grouped.low, grouped.high) == pytest.approx((plain.low, plain.high), abs=0.003)
    assert grouped.value == plain.value


def test_replicates_hold_whole_groups():
    sample = read_sample([0, 1, 0, 1, 1, 0], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], groups=[0, 0, 1, 1, 2, 2])
    for drawn in sample.replicates(50, 0):
        counts = dict(zip(drawn.scores.round(1).tolist(), drawn.totals.tolist(), strict=True))
        assert counts.get(0.1, 0) == counts.get(0.2, 0)
        assert counts.get(0.3, 0) == counts.get(0.4, 0)
        assert sum(counts.values()) == 6


def test_many_scores_are_joined_as_coarsen_does():
    y, p, groups = clustered(100, 20, 0.5, 0)
    drawn = next(read_sample(y, p, groups=groups).replicates(1, 0))
    assert len(drawn) <= 512
    assert set(drawn.scores) <= set(Tally.from_arrays(p, y).coarsen(512).scores)


def test_replicates_keep_both_classes_and_weights_count():
    weights, groups = [1, 0, 2, 3], [0, 1, 2, 3]
    sample = read_sample([0, 0, 0, 1], [0.1, 0.2, 0.3, 0.4], weights, groups=groups)
    for drawn in sample.replicates(100, 0):
        assert 0 < drawn.total_positive < drawn.total
        assert 0.2 not in drawn.scores


def test_the_same_seed_gives_the_same_interval_of_groups():
    y, p, groups = clustered(30, 5, 1.0, 0)
    interval = partial(metrics.bootstrap_interval, metrics.brier_score, y, p, groups=groups, n_resamples=50)
    assert interval(rng=1) == interval(rng=1)
    assert interval(rng=1) != interval(rng=2)


def test_replicates_have_the_rows_and_moments_of_a_bootstrap():
    tally = Tally.from_arrays([0.1, 0.1, 0.4, 0.9, 0.9, 0.9], [0, 1, 0, 1, 1, 0], sample_weight=np.full(6, 10))
    totals = np.zeros((4000, 2))
    for i, sample in enumerate(ScoreSample(tally).replicates(4000, 0)):
        assert sample.total == 60.0
        totals[i] = sample.total_positive, sample.totals[sample.scores == 0.9].sum()
    assert totals.mean(axis=0) == pytest.approx([30.0, 30.0], abs=0.3)
    assert totals.var(axis=0) == pytest.approx([15.0, 15.0], abs=1.5)


def test_replicates_keep_both_classes():
    tally = Tally.from_arrays([0.1, 0.2, 0.3, 0.4], [0, 0, 0, 1])
    assert all(0 < sample.total_positive < 4 for sample in ScoreSample(tally).replicates(200, 0))


def test_a_sample_without_groups_is_a_tally():
    tally = Tally.from_arrays([0.1, 0.4, 0.9], [0, 1, 1])
    sample = read_sample(tally)
    assert sample.rows is None
    assert [one.total for one in sample.replicates(2, 0)] == [3, 3]
    assert sample.widen(np.array([1.0, 2.0]), 1.5, 0.9).tolist() == [1.0, 2.0]
    with pytest.raises(InvalidInputError, match="no longer knows"):
        read_sample(tally, groups=[0, 1, 2])


def test_few_groups_widen_what_was_drawn():
    sample = read_sample([0, 1, 0, 1], [0.1, 0.4, 0.4, 0.8], groups=[0, 1, 2, 3])
    factor = stats.t.ppf(0.95, 3) / stats.norm.ppf(0.95) * np.sqrt(4 / 3)
    assert sample.widen(np.array([1.0, 3.0]), 2.0, 0.9) == pytest.approx([2 - factor, 2 + factor])


def test_replicates_of_a_matrix_draw_rows_or_whole_groups():
    p = np.full((6, 3), 1 / 3)
    plain = read_classes([0, 1, 2] * 2, p)
    grouped = read_classes([0, 1, 2] * 2, p, [1, 1, 2, 2, 1, 1], [0, 0, 1, 1, 2, 2])
    for drawn in plain.replicates(20, 0):
        assert drawn.weights.sum() == 6
    for drawn in grouped.replicates(20, 0):
        assert drawn.weights[0] == drawn.weights[1]
        assert (drawn.weights / grouped.weights).reshape(3, 2)[:, 0].sum() == 3


def test_the_shape_is_read_from_the_columns_and_a_positive_class_is_refused_for_several():
    assert read_problem([0, 1], [[0.3, 0.7], [0.2, 0.8]]).shape == "score"
    assert read_problem([0, 1, 2], np.full((3, 3), 1 / 3)).shape == "matrix"
    with pytest.raises(InvalidInputError, match="`pos_label` is for scores of two classes"):
        read_problem([0, 1, 2], np.full((3, 3), 1 / 3), pos_label=2)
