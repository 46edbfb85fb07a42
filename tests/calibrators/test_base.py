import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.exceptions import NotFittedError as SklearnNotFittedError
from sklearn.utils.validation import check_is_fitted

from calibrant import Blend, CalibrationMap, Tally, evaluate
from calibrant.calibrators.base import BayesianCalibrator, Calibrator
from calibrant.errors import InvalidInputError
from calibrant.maps.functions import Linear, Sigmoid, Step


class BaseRate(Calibrator):
    """The smallest method there can be."""

    reference = "test"

    def fit_map(self, tally):
        return CalibrationMap(Step([], [tally.base_rate]), method="BaseRate")


class NeedsBoth(BaseRate):
    accepts_single_class = False


def test_one_function_makes_a_calibrator(tmp_path):
    calibrator = BaseRate().fit([3.0, 1.0, 2.0, 5.0], [0, 1, 0, 0])
    assert calibrator.predict([7.0, 8.0]).tolist() == [0.25, 0.25]
    assert calibrator.predict_proba([7.0]).tolist() == [[0.75, 0.25]]
    assert calibrator.n_features_in_ == 1
    calibrator.save(tmp_path / "map.json")
    assert (tmp_path / "map.json").exists()


def test_scikit_learn_sees_whether_it_is_fitted():
    with pytest.raises(SklearnNotFittedError):
        check_is_fitted(BaseRate())
    check_is_fitted(BaseRate().fit([1.0], [1]))


@pytest.mark.parametrize("label", [0, 1])
def test_one_class_is_refused_where_it_must(label):
    share = "all" if label else "none"
    with pytest.raises(InvalidInputError, match=f"NeedsBoth needs rows of both classes; got 1 class, {share} of the 2"):
        NeedsBoth().fit([0.1, 0.2], [label, label])
    assert NeedsBoth().fit([0.1, 0.2], [0, 1]).predict([0.1]).tolist() == [0.5]


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        ([0, 1, 1], [0, 1]),
        ([-1, 1, 1], [-1, 1]),
        ([-1, 0, 0], [-1, 0]),
        ([1, 2, 2], [1, 2]),
        ([0.0, 0.5, 0.5], [0.0, 0.5]),
        ([False, True, True], [False, True]),
        (np.array([3, 7, 7], dtype=object), [3, 7]),
        (np.array([False, True, True], dtype=object), [False, True]),
        (np.array([[0], [1], [1]]), [0, 1]),
        (pd.Series([1, 2, 2], dtype="Int64"), [1, 2]),
    ],
    ids=str,
)
def test_the_larger_number_is_positive(labels, classes):
    fitted = BaseRate().fit([1.0, 2.0, 3.0], labels)
    assert fitted.predict([0.0])[0] == pytest.approx(2 / 3)
    assert fitted.classes_.tolist() == classes


@pytest.mark.parametrize(
    "labels",
    [
        ["churn", "stay", "stay"],
        np.array(["churn", "stay", "stay"], dtype=object),
        pd.Series(["churn", "stay", "stay"]),
        pd.Series(["churn", "stay", "stay"], dtype="category"),
        pl.Series(["churn", "stay", "stay"]),
        pa.array(["churn", "stay", "stay"]),
    ],
    ids=str,
)
def test_the_positive_class_of_text_labels_has_to_be_named(labels):
    with pytest.raises(InvalidInputError, match=r"got 'churn' and 'stay'. Say which one is the positive class"):
        BaseRate().fit([1.0, 2.0, 3.0], labels)
    for positive, share in (("churn", 1 / 3), ("stay", 2 / 3)):
        fitted = BaseRate().fit([1.0, 2.0, 3.0], labels, pos_label=positive)
        assert fitted.predict([0.0])[0] == pytest.approx(share)
        assert fitted.classes_[1] == positive


def test_classes_of_a_tally_are_0_and_1():
    assert BaseRate().fit_tally(Tally.from_arrays([1.0, 2.0], [0, 1])).classes_.tolist() == [0, 1]


def test_swapped_classes_are_warned_of():
    rng = np.random.default_rng(0)
    scores = rng.random(300)
    labels = np.where(rng.random(300) < scores, "churn", "stay")
    with pytest.warns(UserWarning, match="Were the classes swapped?") as caught:
        BaseRate().fit(scores, labels, pos_label="stay")
    assert caught[0].filename == __file__


def test_a_calibrator_without_its_functions_cannot_be_made():
    with pytest.raises(TypeError, match=r"abstract.*fit_map"):
        Calibrator()

    class OnlyAMean(BayesianCalibrator):
        def fit_map(self, tally):
            return CalibrationMap(Step([], [tally.base_rate]))

    assert OnlyAMean.bayesian
    with pytest.raises(TypeError, match=r"abstract.*draw_maps.*interval_ends"):
        OnlyAMean()


def test_facts_that_are_not_stated_are_those_of_the_class_and_not_of_its_base():
    assert (BaseRate.name, BaseRate.title) == ("BaseRate", "BaseRate")
    assert BaseRate.description == "The smallest method there can be"
    assert (NeedsBoth.title, NeedsBoth.description, NeedsBoth.reference) == ("NeedsBoth", "", "test")


def test_a_tally_does_not_guess_what_minus_one_and_zero_mean():
    with pytest.raises(InvalidInputError, match="Say which one is the positive class with `pos_label`"):
        Tally.from_arrays([1.0, 2.0], [-1, 0])


class Wrong(Calibrator):
    """A method that returns what it was given."""

    def __init__(self, fitted=None):
        self.fitted = fitted

    def fit_map(self, tally):  # noqa: ARG002 - whatever the rows are
        return self.fitted


def test_what_is_no_map_and_a_map_that_falls_unasked_are_refused():
    with pytest.raises(InvalidInputError, match="`fit_map` of Wrong must return a MapFunction or a CalibrationMap"):
        Wrong(np.sqrt).fit([0.1, 0.5, 0.9], [0, 1, 1])
    assert "may fall" in repr(CalibrationMap(Step([0.5], [0.8, 0.2]), "probability"))
    for function in (Step([0.5], [0.8, 0.2]), Linear([0.0, 1.0], [1.0, 0.0]), Sigmoid(-2.0, 0.5, "identity")):
        with pytest.raises(InvalidInputError, match="falls, though `monotone` says that it never does"):
            Wrong(CalibrationMap(function, "probability", True)).fit([0.1, 0.5, 0.9], [0, 1, 1])
    for function in (Step([0.5], [0.2, 1.4]), Linear([0.0, 1.0], [np.nan, 1.0])):
        with pytest.raises(InvalidInputError, match=r"The map of Wrong is a function that does not go into \[0, 1\]"):
            Wrong(CalibrationMap(function, "probability")).fit([0.1, 0.5, 0.9], [0, 1, 1])


def test_a_score_outside_is_named_by_its_row():
    with pytest.raises(InvalidInputError, match=r"1\.2 at index 1\."):
        Blend().fit([0.5, 1.2, 0.3, 0.2], [0, 1, 0, 1])
    with pytest.raises(InvalidInputError, match=r"1\.2 at index 1\."):
        evaluate([0, 1, 0, 1], [0.5, 1.2, 0.3, 0.2], groups=[0, 0, 1, 1])


def test_an_option_of_log_probability_minus_infinity_gets_a_tiny_one():
    logs = np.log(np.random.default_rng(0).dirichlet([1, 1, 1], 60))
    logs[3, 2] = -np.inf
    found = Blend(space="decision").fit(logs, np.arange(60) % 3).predict_proba(logs)
    assert np.isfinite(found).all()
    assert found[3].argmin() == 2
