import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrant._numerics import bins

finite = st.floats(allow_nan=False, allow_infinity=False, width=32)  # no two are nearer than rounding errors of doubles


@settings(deadline=None)
@given(st.lists(st.tuples(finite | st.integers(-3, 3).map(float), st.booleans()), min_size=1, max_size=50))
def test_packed_sort_equals_counting_by_hand(rows):
    scores = np.array([score for score, _ in rows])
    positive = np.array([label for _, label in rows])
    found = bins.group_labels(scores, positive)
    distinct = np.unique(scores + 0.0)
    assert np.array_equal(found[0], distinct)
    assert found[1].tolist() == [positive[scores == s].sum() for s in distinct]
    assert found[2].tolist() == [(scores == s).sum() for s in distinct]
    sums = bins.group_sums(scores, positive.astype(float), np.ones(len(scores)))
    assert all(np.array_equal(a, b) for a, b in zip(found, sums, strict=True))


def test_sums_of_weights():
    scores, positives, totals = bins.group_sums(
        np.array([2.0, 1.0, 2.0]), np.array([0.5, 0.0, 0.25]), np.array([0.5, 3.0, 1.0])
    )
    assert scores.tolist() == [1.0, 2.0]
    assert positives.tolist() == [0.0, 0.75]
    assert totals.tolist() == [3.0, 1.5]


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_any_magnitude(scale):
    scores = np.array([3.0, -1.0, 2.0, -1.0]) * scale
    ordered, _, totals = bins.group_labels(scores, np.array([True, False, True, True]))
    assert ordered.tolist() == (np.array([-1.0, 2.0, 3.0]) * scale).tolist()
    assert totals.tolist() == [2.0, 1.0, 1.0]


@pytest.mark.parametrize("parts", [10, 100, 1000])
def test_scores_that_differ_by_rounding_are_one(parts):
    p = np.arange(1, parts) / parts
    scores = np.concatenate((p, 1.0 - (1.0 - p), np.nextafter(p, 1.0), -p, np.nextafter(-p, 0.0)))
    found, _, totals = bins.group_labels(scores, np.zeros(len(scores), dtype=bool))
    assert totals.tolist() == [2.0] * len(p) + [3.0] * len(p)
    assert np.isin(found, scores).all()
    sums = bins.group_sums(scores, np.zeros(len(scores)), np.ones(len(scores)))
    assert np.array_equal(sums[0], found)


@pytest.mark.parametrize(
    "scores",
    [np.arange(2.0**40 - 50, 2.0**40), 0.5 + np.arange(50) * 1e-11, np.sort(1.0 - 2.0 ** -np.arange(20.0, 54.0))],
)
def test_scores_that_somebody_may_have_written_stay_apart(scores):
    assert np.array_equal(bins.group_sums(scores, scores, scores)[0], scores)


@given(st.floats(allow_nan=False), st.floats(allow_nan=False))
def test_ordinals_keep_the_order_and_give_the_doubles_back(a, b):
    x, y = bins.ordinal(np.array([a + 0.0, b + 0.0]))
    assert (x < y) == (a < b)
    assert (x == y) == (a == b)
    assert bins.from_ordinal(np.array([x, y])).tolist() == [a, b]


def test_ordinals_of_neighbours_differ_by_one():
    x = np.array([1.5, -2.25, 0.0])
    assert (bins.ordinal(np.nextafter(x, np.inf)) - bins.ordinal(x)).tolist() == [1, 1, 1]
