import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrant import ABB, Tally
from calibrant.errors import InvalidInputError, ModelFileError
from calibrant.tally import row_count, to_tally

SCORES = [0.4, 0.1, 0.4, 0.9]
LABELS = [1, 0, 0, 1]

rows = st.lists(
    st.tuples(st.floats(-1e6, 1e6, allow_nan=False).map(lambda x: round(x, 2)), st.booleans(), st.integers(1, 5)),
    min_size=1,
    max_size=60,
)


def tally_of(rows_):
    scores, labels, weights = (list(column) for column in zip(*rows_, strict=True))
    return Tally.from_arrays(scores, labels, weights)


def test_counts_by_hand():
    tally = Tally.from_arrays(SCORES, LABELS)
    assert tally.scores.tolist() == [0.1, 0.4, 0.9]
    assert tally.positives.tolist() == [0, 1, 1]
    assert tally.totals.tolist() == [1, 2, 1]
    assert tally.negatives.tolist() == [1, 1, 0]
    assert (tally.total, tally.total_positive, tally.base_rate, len(tally)) == (4, 2, 0.5, 3)


@pytest.mark.parametrize(
    "column",
    [
        list,
        np.array,
        lambda v: np.array(v, dtype=np.float32).astype(np.float64) if isinstance(v[0], float) else np.array(v),
        lambda v: pd.Series(v, index=[7, 3, 9, 1]),
        pl.Series,
        pa.array,
        lambda v: pa.chunked_array([v[:2], v[2:]]),
        lambda v: np.array(v)[:, None],
        lambda v: pd.DataFrame({"only": v}),
    ],
)
def test_takes_every_kind_of_column(column):
    scores = [0.5, 0.25, 0.5, 0.875]  # exact in float32
    assert Tally.from_arrays(column(scores), column(LABELS)) == Tally.from_arrays(scores, LABELS)


def test_takes_two_columns_of_probabilities():
    two = np.column_stack((1 - np.array(SCORES), SCORES))
    assert Tally.from_arrays(two, LABELS) == Tally.from_arrays(SCORES, LABELS)


def test_float32_is_the_same_as_float64_of_the_same_values():
    rng = np.random.default_rng(0)
    scores = rng.random(500).astype(np.float32)
    labels = rng.random(500) < scores
    assert Tally.from_arrays(scores, labels) == Tally.from_arrays(scores.astype(np.float64), labels)


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint16, np.float16, bool])
def test_integer_and_small_float_scores(dtype):
    scores = np.array([0, 1, 1, 0], dtype=dtype)
    assert Tally.from_arrays(scores, LABELS).scores.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("labels", "pos_label"),
    [
        ([True, False, False, True], None),
        ([1, -1, -1, 1], None),
        ([1.0, 0.0, 0.0, 1.0], None),
        (["yes", "no", "no", "yes"], "yes"),
        (pd.Series(["yes", "no", "no", "yes"], dtype="category"), "yes"),
        ([2, 1, 1, 2], 2),
        ([1, 2, 2, 1], 1),
        (np.array([True, False, False, True], dtype=object), None),
    ],
)
def test_labels_of_every_kind(labels, pos_label):
    assert Tally.from_arrays(SCORES, labels, pos_label=pos_label) == Tally.from_arrays(SCORES, LABELS)


def test_both_zeros_are_one_score():
    assert len(Tally.from_arrays([0.0, -0.0, 1.0], [0, 1, 1])) == 2


def test_negative_and_huge_scores_sort_right():
    scores = np.array([-1e300, 5.0, -3.5, 1e-300, 0.0, 1e300, -1e-300, 7.0])
    tally = Tally.from_arrays(scores, [1, 0] * 4)
    assert tally.scores.tolist() == sorted(scores.tolist())
    by_weights = Tally.from_arrays(scores, [1, 0] * 4, np.ones(8))
    assert tally == by_weights


def test_one_row():
    assert repr(Tally.from_arrays([0.3], [1])) == "Tally(1 cells at 0.3 … 0.3, 1 rows, 1 positive (100 %))"
    assert repr(Tally.empty()) == "Tally(empty)"


def test_rounding_does_not_tell_rows_apart_whichever_part_they_come_in():
    p = np.arange(1, 100) / 100
    parts = [Tally.from_arrays(scores, np.arange(99) % 2) for scores in (p, 1.0 - (1.0 - p), np.nextafter(p, 1.0))]
    x, y, z = parts
    whole = (x + y) + z
    assert whole.totals.tolist() == [3.0] * 99
    assert whole == x + (y + z) == z + y + x


@settings(deadline=None)
@given(rows, rows, rows)
def test_sums_are_associative_commutative_and_have_a_neutral_element(a, b, c):
    x, y, z = tally_of(a), tally_of(b), tally_of(c)
    assert (x + y) + z == x + (y + z) == tally_of(a + b + c)
    assert x + y == y + x
    assert x + Tally.empty() == Tally.empty() + x == x


@settings(deadline=None)
@given(rows)
def test_weights_are_repetitions(data):
    repeated = [(score, label, 1) for score, label, weight in data for _ in range(weight)]
    scores, labels, _ = zip(*repeated, strict=True)
    assert tally_of(data) == Tally.from_arrays(list(scores), list(labels))


@settings(deadline=None)
@given(rows, st.integers(1, 20))
def test_coarsening_keeps_sums_order_and_ties(data, max_cells):
    tally = tally_of(data)
    coarse = tally.coarsen(max_cells)
    assert len(coarse) <= max_cells
    assert (coarse.total, coarse.total_positive) == (tally.total, tally.total_positive)
    assert (np.diff(coarse.scores) > 0).all()
    mean = (tally.scores * tally.totals).sum() / tally.total
    assert (coarse.scores * coarse.totals).sum() / coarse.total == pytest.approx(mean, abs=1e-6)
    if len(tally) <= max_cells:
        assert coarse is tally


def test_coarse_cells_have_nearly_equal_mass():
    tally = Tally.from_arrays(np.arange(1000), np.arange(1000) % 2).coarsen(10)
    assert tally.totals.tolist() == [100.0] * 10


@settings(deadline=None)
@given(rows)
def test_round_trip_through_plain_lists(data):
    tally = tally_of(data)
    assert Tally.from_dict(tally.to_dict()) == tally


def test_is_immutable():
    tally = Tally.from_arrays(SCORES, LABELS)
    with pytest.raises(ValueError, match="read-only"):
        tally.scores[0] = 5.0
    with pytest.raises(AttributeError):
        tally.scores = np.zeros(3)


def test_does_not_freeze_or_change_the_callers_array():
    scores, labels = np.array(SCORES), np.array(LABELS)
    Tally.from_arrays(scores, labels)
    scores[0] = 0.7
    assert labels.tolist() == LABELS


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.1, np.nan], [0, 1]), r"`scores` must be finite; got NaN at index 1"),
        (([np.inf, 0.1], [0, 1]), r"`scores` must be finite; got inf at index 0"),
        (([0.1, 0.2], [0, np.nan]), r"`y` must be finite; got NaN at index 1"),
        (([0.1, 0.2], [0, None]), r"`y` must have no missing labels; got None at index 1"),
        (([0.1, 0.2], [0, 1], [1, np.inf]), r"`sample_weight` must be finite; got inf at index 1"),
        (([0.1, 0.2], [0, 1], [1, -1]), r"`sample_weight` must not be negative; got .*-1.0.* at index 1"),
        (([0.1, 0.2], [0, 1], [0, 0]), r"all weights are zero"),
        (([0.1, 0.2], [0, 1], [1, 1, 1]), r"`sample_weight` must have as many rows as the scores; got 3 and 2"),
        (([], []), r"at least one row"),
        (([0.1, 0.2, 0.3], [0, 1]), r"`y` must have as many rows as the scores; got 2 and 3"),
        (([0.1, 0.2, 0.3], [0, 1, 2]), r"`y` must have two classes; got 3 distinct values \(0, 1, 2\)"),
        (([0.1, 0.2], ["a", "b"]), r"Say which one is the positive class with `pos_label`"),
        (([0.1, 0.2], [1, 2]), r"Say which one is the positive class with `pos_label`"),
        (([0.1, 0.2], [0, 1], None, 7), r"`pos_label` must be one of the labels"),
        ((["a", "b"], [0, 1]), r"`scores` must be numbers"),
        (([[0.1, 0.2, 0.3]], [1]), r"`scores` must have shape \(n,\), \(n, 1\) or \(n, 2\); got shape \(1, 3\)"),
        (([[0.2, 0.2], [0.5, 0.5]], [0, 1]), r"rows sum to 1; row 0 sums to 0.4"),
        (([1 + 2j, 0], [0, 1]), r"Complex data not supported"),
        (([[0.1], [0.2, 0.3]], [0, 1]), r"rectangular"),
        ((np.ma.array([0.1, 0.2], mask=[0, 1]), [0, 1]), r"masked"),
        (([0.1, 0.2], np.array(["a", 1], dtype=object)), r"one type"),
        (([0.1, 0.2], [[0, 1], [1, 0]]), r"`y` must have shape \(n,\)"),
        (([0.1, 0.2], [0, 1], None, None, 0), r"`max_cells` must be an integer of at least 1; got 0"),
    ],
)
def test_bad_input_gets_one_clear_error(arguments, message):
    with pytest.raises(InvalidInputError, match=message):
        Tally.from_arrays(*arguments)


@pytest.mark.parametrize(
    "data",
    [
        {},
        None,
        {"scores": [1, 0], "positives": [0, 0], "totals": [1, 1]},
        {"scores": [0, 1], "positives": [2, 0], "totals": [1, 1]},
        {"scores": [0, 1], "positives": [0, 0], "totals": [1]},
        {"scores": [0, 1], "positives": [0, 0], "totals": [0, 1]},
    ],
)
def test_damaged_lists_are_refused(data):
    with pytest.raises(ModelFileError):
        Tally.from_dict(data)


def test_empty_tally_has_no_base_rate():
    with pytest.raises(InvalidInputError, match="no base rate"):
        _ = Tally.empty().base_rate


def test_rescored_merges_equal_scores():
    tally = Tally.from_arrays([1, 2, 3], [0, 1, 1]).rescored([0.5, 0.9, 0.5])
    assert tally.to_dict() == {"scores": [0.5, 0.9], "positives": [1.0, 1.0], "totals": [2.0, 1.0]}
    with pytest.raises(InvalidInputError):
        tally.rescored([0.1])


def test_rows_are_counted_in_all_their_digits():
    assert "12345678 rows, 2 positive" in repr(Tally(np.array([0.5]), np.array([2.0]), np.array([12_345_678.0])))
    assert row_count(1e9) == "1000000000"
    assert row_count(1 / 3) == "0.333333"


def test_a_data_frame_has_a_row_for_each_cell():
    tally = Tally.from_arrays([0.8, 0.2, 0.8], [0, 0, 1])
    want = pd.DataFrame({"score": [0.2, 0.8], "positives": [0.0, 1.0], "total": [1.0, 2.0]})
    pd.testing.assert_frame_equal(tally.to_frame(), want)


def test_scores_and_labels_or_a_tally_in_place_of_them():
    tally = Tally.from_arrays([0.2, 0.8], [0, 1])
    assert to_tally([0.2, 0.8], [1, 2]) == tally  # the larger number is positive, as in `fit`
    assert to_tally([0.2, 0.8], ["no", "yes"], pos_label="yes") == tally
    assert to_tally([0.2, 0.8], [0, 1], [2.0, 2.0]) == tally.scaled(2.0)
    assert to_tally(tally, None) is tally
    with pytest.raises(InvalidInputError, match="pass it alone"):
        to_tally(tally, [0, 1])
    with pytest.raises(InvalidInputError, match="`y` must be given"):
        to_tally([0.2, 0.8], None)


def test_grades_are_parts_of_positive_rows():
    tally = Tally.from_arrays([0.2, 0.8, 0.8], [0.5, 0.25, 1.0], graded=True)
    assert tally.positives.tolist() == [0.5, 1.25]
    weighted = Tally.from_arrays([0.2, 0.8, 0.8], [0.5, 0.25, 1.0], [2, 4, 0], graded=True)
    assert (weighted.positives.tolist(), weighted.totals.tolist()) == ([1.0, 1.0], [2.0, 4.0])
    same = Tally.from_arrays([0.2, 0.8, 0.8], [0, 1, 1], graded=True)
    assert same.positives.tolist() == Tally.from_arrays([0.2, 0.8, 0.8], [0, 1, 1]).positives.tolist()


@pytest.mark.parametrize("grades", [[0.5, 1.5, 0.0], [0.5, np.nan, 0.0], [[0.5], [0.2], [0.1]]])
def test_what_is_no_grade_is_refused(grades):
    with pytest.raises(InvalidInputError):
        Tally.from_arrays([0.2, 0.8, 0.9], grades, graded=True)


def test_intervals_of_grades_hold_their_mean():
    scores, held = np.linspace(0.1, 0.9, 9), []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        s = rng.choice(scores, 400)
        grades = rng.beta(2.0 * s**2, 2.0 * (1.0 - s**2))
        low, high = ABB().fit_tally(Tally.from_arrays(s, grades, graded=True)).predict_interval(scores)
        held.append((low <= scores**2) & (scores**2 <= high))
    assert np.mean(held) > 0.9
