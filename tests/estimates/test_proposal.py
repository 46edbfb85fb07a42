import numpy as np
import pytest

from calibrant import SplineCalibration, simulate
from calibrant.errors import InvalidInputError
from calibrant.estimates import count_scores, which_to_label
from calibrant.estimates.proposal import _choose, _remove_at_random


def test_the_variance_removed_is_that_of_the_normal_posterior():
    """Labels as noisy measurements: the greedy updates equal conditioning on all of them at once."""
    rng = np.random.default_rng(0)
    root = rng.standard_normal((6, 6))
    joint = root @ root.T
    noise, totals = np.full(5, 0.2), np.full(5, 3.0)
    chosen, removed = _choose(joint, noise, totals, 7)
    assert chosen.sum() == 7
    design = np.repeat(np.eye(5), chosen, axis=0)
    inner, answer = joint[:5, :5], joint[5, :5]
    measured = design @ inner @ design.T + 0.2 * np.eye(7)
    left = joint[5, 5] - answer @ design.T @ np.linalg.solve(measured, design @ answer)
    assert removed == pytest.approx(1 - left / joint[5, 5], rel=1e-4)


def test_no_cell_gives_more_rows_than_it_has():
    joint = np.eye(3) + 0.5
    chosen, _ = _choose(joint, np.array([0.1, 0.1]), np.array([1.0, 2.0]), 50)
    assert chosen.tolist() == [1, 2]


def test_one_choice_is_the_best_of_all():
    rng = np.random.default_rng(1)
    root = rng.standard_normal((9, 9))
    joint = root @ root.T
    chosen, removed = _choose(joint, np.full(8, 0.3), np.full(8, 9.0), 1)
    each = joint[-1, :-1] ** 2 / (joint.diagonal()[:-1] + 0.3) / joint[-1, -1]
    assert chosen.argmax() == each.argmax()
    assert removed == pytest.approx(each.max(), rel=1e-4)


@pytest.fixture(scope="module")
def fitted():
    data = simulate.bayes_iso(1500, rng=0)
    return SplineCalibration().fit(data.scores[:60], data.labels[:60]), data


@pytest.mark.parametrize("what", ["mean", "accuracy", "auc"])
def test_chosen_rows_promise_more_than_random_ones(fitted, what):
    spline, data = fitted
    plan = which_to_label(spline, data.scores[60:], budget=60, what=what)
    assert len(set(plan.rows.tolist())) == plan.counts.sum() == 60
    assert 1 > plan.removed > plan.removed_at_random > 0


def test_labels_of_chosen_rows_narrow_the_interval_more(fitted):
    spline, data = fitted
    rest, labels = data.scores[60:], data.labels[60:]
    plan = which_to_label(spline, rest, budget=100, what="accuracy", threshold=0.7)
    widths = {"chosen": [], "random": []}
    for seed in range(4):
        rows = {"chosen": plan.rows, "random": np.random.default_rng(seed).permutation(len(rest))[:100]}
        for name, own in rows.items():
            again = SplineCalibration().fit(
                np.append(data.scores[:60], rest[own]), np.append(data.labels[:60], labels[own])
            )
            widths[name].append(again.estimate(rest, "accuracy", threshold=0.7, finite=False).width)
    assert np.mean(widths["chosen"]) < 1.05 * np.mean(widths["random"])


def test_of_a_tally_scores_are_proposed(fitted):
    spline, data = fitted
    plan = which_to_label(spline, count_scores(data.scores), budget=30)
    assert len(plan.rows) == 0
    assert plan.counts.sum() == 30
    assert (np.diff(plan.scores) > 0).all()


def test_a_budget_beyond_the_rows_takes_them_all(fitted):
    spline, _ = fitted
    assert len(which_to_label(spline, [0.2, 0.5, 0.8], budget=10).rows) == 3


def test_random_rows_remove_nothing_without_variance():
    assert _remove_at_random(np.zeros((3, 3)), np.array([0.1, 0.1]), np.ones(2), 5) == 0.0


def test_a_budget_of_nothing_is_refused(fitted):
    with pytest.raises(InvalidInputError, match="`budget`"):
        which_to_label(fitted[0], [0.2, 0.5], budget=0)
