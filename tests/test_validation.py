import numpy as np
import pytest
from scipy import sparse

import calibrant
from calibrant import Tally, _validation
from calibrant.errors import InvalidInputError


def test_finite_numbers_whose_sum_overflows_are_fine():
    _validation.check_finite(np.array([1e308, 1e308, 1e308]), "scores")


def test_sparse_matrices_are_refused():
    with pytest.raises(InvalidInputError, match="dense"):
        _validation.check_scores(sparse.csr_matrix([[0.5], [0.2]]))


def test_a_scalar_weight_stands_for_all_rows():
    assert _validation.check_weights(2.0, 3).tolist() == [2.0, 2.0, 2.0]
    assert _validation.check_weights(None, 3) is None
    assert _validation.check_weights([[1], [2]], 2).tolist() == [1.0, 2.0]
    with pytest.raises(InvalidInputError, match="1D"):
        _validation.check_weights(np.ones((2, 2)), 2)


@pytest.mark.parametrize(
    ("labels", "pos_label", "classes"),
    [
        ([0, 1], None, (0, 1)),
        ([-1, 1], None, (-1, 1)),
        ([False, True], None, (False, True)),
        (["no", "yes"], "no", ("yes", "no")),
        ([3, 3], 3, (None, 3)),
    ],
)
def test_encode_labels_names_both_classes(labels, pos_label, classes):
    positive, found = _validation.encode_labels(labels, pos_label)
    assert found == classes
    assert positive.dtype == bool


def test_one_class_is_known_by_its_value():
    assert _validation.encode_labels([0, 0])[0].tolist() == [False, False]
    assert _validation.encode_labels([1.0, 1.0])[0].tolist() == [True, True]
    assert _validation.encode_labels([-1, -1])[0].tolist() == [False, False]


def test_dates_are_not_labels():
    with pytest.raises(InvalidInputError, match="numbers, booleans or strings"):
        _validation.encode_labels(np.array(["2020-01-01", "2020-01-02"], dtype="datetime64[D]"))


def test_generators_from_all_kinds_of_seeds():
    generator = _validation.generator
    assert generator(3).random() == generator(np.random.default_rng(3)).random()
    assert generator(np.random.RandomState(3)).random() == generator(np.random.RandomState(3)).random()


@pytest.mark.parametrize("level", [0, 1, -0.1, 1.5, "high", True, np.nan])
def test_levels_lie_between_zero_and_one(level):
    with pytest.raises(InvalidInputError, match="`level` must lie strictly between 0 and 1"):
        _validation.check_level(level)


@pytest.mark.parametrize("count", [0, 1.5, True, "many"])
def test_counts_are_whole_numbers(count):
    with pytest.raises(InvalidInputError, match="`n_draws` must be an integer of at least 1"):
        _validation.check_count("n_draws", count)


@pytest.mark.parametrize("value", ["sideways", 1, 1.0, ["up"], np.array(["up", "down"]), np.str_("left")])
def test_choices_are_listed(value):
    with pytest.raises(InvalidInputError, match=r"`way` must be one of up, down, None; got ") as caught:
        _validation.check_choice("way", value, ("up", "down", None))
    assert "np.str_" not in str(caught.value)


@pytest.mark.parametrize(("value", "expected"), [("up", "up"), (np.str_("up"), "up"), (None, None), (np.True_, True)])
def test_choices_come_back_as_plain_values(value, expected):
    chosen = _validation.check_choice("way", value, ("up", None, True))
    assert chosen is expected or (chosen == expected and type(chosen) is str)


OUT_OF_RANGE = {
    "positive": (0.0, -1.0, np.inf, np.nan, "1", True, None),
    "not_negative": (-0.1, np.inf, np.nan, "1"),
    "level": (0.0, 1.0, 90, np.nan),
    "rate": (0.0, 1.0, -1),
    "share": (0.0, 1.1, np.nan),
}


@pytest.mark.parametrize(
    ("kind", "value"), [(kind, value) for kind, values in OUT_OF_RANGE.items() for value in values]
)
def test_numbers_out_of_range_are_refused(kind, value):
    words = _validation.RANGES[kind][0]
    with pytest.raises(InvalidInputError, match=f"`option` must {words}; got "):
        _validation.check_number("option", value, kind)


def test_every_range_has_its_refusals_and_takes_a_half():
    assert set(OUT_OF_RANGE) == set(_validation.RANGES)
    assert {_validation.check_number("option", np.float32(0.5), kind) for kind in _validation.RANGES} == {0.5}
    assert _validation.check_number("option", 3, "positive") == 3.0


def test_messages_show_plain_values():
    with pytest.raises(InvalidInputError, match=r"must lie in \[0, 1\]; got 1\.5 at index 1"):
        _validation.check_unit_interval(np.array([0.5, 1.5]), "scores")
    with pytest.raises(InvalidInputError, match=r"must not be negative; got -1\.0 at index 0"):
        _validation.check_weights([-1.0, 1.0], 2)
    with pytest.raises(InvalidInputError, match="'no' or 'yes'; got 'maybe'"):
        _validation.encode_labels(np.array(["no", "yes"]), np.str_("maybe"))
    with pytest.raises(InvalidInputError, match="at least 1; got 0"):
        _validation.check_count("n_draws", np.int64(0))


@pytest.mark.parametrize(
    "call",
    [
        lambda y: calibrant.PlattScaling().fit([0.1, 0.9], y),
        lambda y: calibrant.PlattScaling().fit([0.1, 0.9], y, pos_label="ham"),
        lambda y: calibrant.Tally.from_arrays([0.1, 0.9], y, pos_label=np.str_("ham")),
        lambda y: calibrant.evaluate(y, [0.1, 0.9], pos_label="ham"),
        lambda y: calibrant.compare([0.1, 0.9], y, methods=["platt"], pos_label="ham"),
    ],
)
def test_labels_of_numpy_are_shown_as_words(call):
    with pytest.raises(InvalidInputError, match="'eggs'") as caught:
        call(np.array(["spam", "eggs"]))
    assert "np." not in str(caught.value)


def test_probabilities_are_what_lies_in_the_unit_interval():
    assert _validation.are_probabilities(np.array([0.0, 0.3, 1.0]))
    assert _validation.are_probabilities(np.empty(0))
    assert not _validation.are_probabilities(np.array([0.3, 1.0 + 1e-12]))
    assert not _validation.are_probabilities(np.array([-0.1, 0.5]))


class OnAnotherDevice:
    """An array that must not be copied unasked, as those of CuPy."""

    def __init__(self, n):
        self.shape, self.ndim, self.dtype = (n,), 1, np.dtype(float)

    def __len__(self):
        return self.shape[0]

    def __array__(self, dtype=None, copy=None):
        raise TypeError("Implicit conversion to a NumPy array is not allowed.")


@pytest.mark.parametrize("place", range(3))
def test_an_array_that_refuses_conversion_is_named(place):
    columns = [np.array([0.1, 0.4, 0.9]), np.array([0, 1, 1]), np.ones(3)]
    columns[place] = OnAnotherDevice(3)
    with pytest.raises(InvalidInputError, match=r"OnAnotherDevice refuses .*Convert it to one first"):
        Tally.from_arrays(*columns)


def test_a_missing_label_of_pandas_is_named():
    pandas = pytest.importorskip("pandas")
    for labels in (pandas.array([True, False, pandas.NA], dtype="boolean"), np.array([1, 0, pandas.NA], dtype=object)):
        with pytest.raises(InvalidInputError, match="missing labels; got <NA> at index 2"):
            _validation.encode_labels(labels)
    assert _validation.encode_labels(pandas.array([True, False], dtype="boolean"))[0].tolist() == [True, False]


def test_percentages_and_logits_are_told_what_to_do():
    with pytest.raises(InvalidInputError, match="divide percentages by 100"):
        _validation.check_unit_interval(np.array([12.0, 99.0]), "scores")
    with pytest.raises(InvalidInputError, match=r"Blend\(space='decision'\)") as refusal:
        _validation.check_unit_interval(np.array([-3.0, 2.0]), "scores")
    assert "percentages" not in str(refusal.value)


def test_scores_in_place_of_labels_are_recognised():
    scores = np.random.default_rng(0).random(50)
    with pytest.raises(InvalidInputError, match="were scores and labels swapped"):
        _validation.encode_labels(scores)
    with pytest.raises(InvalidInputError, match="For several classes pass a column for each class"):
        _validation.encode_labels(np.arange(50))


def test_a_matrix_of_several_classes_is_told_where_to_go():
    with pytest.raises(InvalidInputError, match="such as Blend, `evaluate` and `compare`"):
        _validation.check_scores(np.ones((4, 3)) / 3)


@pytest.mark.parametrize(
    ("value", "expected"), [(0.3, True), (np.float32(1), True), (np.array(1.0), True), ([1], False)]
)
def test_single_numbers_are_known(value, expected):
    assert _validation.is_number(value) is expected


@pytest.mark.parametrize(
    ("scores", "text"),
    [
        ([0.2, 0.3], r"got shape \(2,\)\. For one score in each row use a method for two classes, such as Blend\."),
        ([[0.2, 0.3, 0.46]], r"the sum 0\.96\. Divide each row by its sum, or pass log-probabilities with"),
        ([[0.2, 0.3, 0.5], [0.2, np.nan, 0.5]], r"got NaN in row 1, column 1"),
        ([[20.0, 30.0, 50.0]], r"the sum 100\. Divide percentages by 100\."),
        ([[-2.0, 0.5, 101.5]], r"the sum 100\. If they are logits or log-probabilities, pass space=.decision.\."),
    ],
)
def test_matrices_of_something_else_are_named(scores, text):
    with pytest.raises(InvalidInputError, match=text):
        _validation.check_class_matrix(scores, probabilities=True)
