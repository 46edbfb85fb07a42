"""scikit-learn's own estimator checks, on every method for one score and on CalibratedClassifier in every view.

For estimators with the one-dimensional tag scikit-learn itself runs hardly any check. So the checks of an estimator
of tables are taken, and all of those run that hand a one-dimensional estimator one column, as its tag asks.
CALIBRANT_CHECK_ALL=1 checks CalibratedClassifier with every method in every view, which takes ten minutes.
"""

import os
import warnings

import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from calibrant import CalibratedClassifier
from calibrant.calibrators import HistogramBinning, IsotonicCalibration, PlattScaling, TemperatureScaling, registry
from calibrant.errors import InvalidInputError

# These hand over a table of several features whatever the tag says, or index their one column as a table.
NEEDS_A_TABLE = {
    "check_dict_unchanged",
    "check_dont_overwrite_parameters",
    "check_dtype_object",
    "check_estimator_sparse_array",
    "check_estimators_empty_data_messages",
    "check_estimators_nan_inf",
    "check_f_contiguous_array_estimator",
    "check_fit1d",
    "check_fit2d_1feature",
    "check_fit2d_1sample",
    "check_fit2d_predict1d",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_n_features_in",
    "check_n_features_in_after_fitting",
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",  # scikit-learn 1.6
    "check_sample_weights_not_overwritten",
    "check_sample_weights_shape",
}
FEEDS_ANY_REALS = {
    "check_estimators_dtypes",
    "check_estimators_fit_returns_self",
    "check_estimators_overwrite_params",
    "check_estimators_pickle",
    "check_fit_check_is_fitted",
    "check_fit_idempotent",
    "check_pipeline_consistency",
    "check_positive_only_tag_during_fit",
    "check_readonly_memmap_input",
    "check_sample_weights_not_an_array",
    "check_sample_weights_pandas_series",
}

ESTIMATORS = {name: registry.create(name) for name in registry.METHODS["score"]} | {
    "platt, decision": PlattScaling(space="decision"),
    "temperature, decision": TemperatureScaling(space="decision"),
    "histogram, quantile": HistogramBinning(strategy="quantile"),
}


class OfTables(IsotonicCalibration):
    """Only to be asked which checks there are."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = True
        return tags


def name_of(check):
    while hasattr(check, "func"):
        check = check.func
    return check.__name__


CHECKS = [
    check
    for _, check in estimator_checks_generator(OfTables())
    if name_of(check) not in NEEDS_A_TABLE | {"check_array_api_input"}  # which only runs where SCIPY_ARRAY_API is set
]


@pytest.mark.filterwarnings("ignore")  # the checks provoke warnings
@pytest.mark.parametrize("check", CHECKS, ids=name_of)
@pytest.mark.parametrize("name", list(ESTIMATORS))
def test_scikit_learn_check(name, check):
    estimator = clone(ESTIMATORS[name])
    if estimator.space == "probability" and name_of(check) in FEEDS_ANY_REALS:
        # The one expected failure, for the one reason: arbitrary reals were fed to a method for probabilities.
        with pytest.raises((InvalidInputError, AssertionError, ValueError)) as failure:
            check(estimator)
        assert any("needs probabilities" in str(error) for error in chain(failure.value))
    else:
        check(estimator)


def chain(error):
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


@pytest.mark.parametrize("name", list(ESTIMATORS))
def test_tags(name):
    tags = get_tags(ESTIMATORS[name])
    assert tags.input_tags.one_d_array
    assert not tags.input_tags.two_d_array
    assert tags.target_tags.required


# CalibratedClassifier

VIEWS = ({}, {"ensemble": False}, {"multiclass": "top_label"})
CELLS = "repeated rows may be parted between cells of equal mass, where a weighted row is in one"
JUMPS = "the classifier's score differs in its last digit between one row and many, and Venn–Abers jumps at every score"
WEIGHTS = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")
EXCUSED = dict.fromkeys([(name, check) for name in ("bbq", "bayes_iso", "spline") for check in WEIGHTS], CELLS) | (
    dict.fromkeys([("venn_abers", check) for check in (*WEIGHTS, "check_methods_subset_invariance")], JUMPS)
)


def methods_and_views():
    names = [name for name in registry.names() if not registry.get(name).measures_only]
    if "CALIBRANT_CHECK_ALL" in os.environ:
        pairs = [(name, view) for name in names for view in VIEWS]
    else:
        pairs = list(zip(("beta", "isotonic", "platt"), VIEWS, strict=True))
    return [CalibratedClassifier(LogisticRegression(C=1), name, cv=3, **view) for name, view in pairs]


@parametrize_with_checks(methods_and_views())
def test_scikit_learn_check_of_the_classifier(estimator, check):
    reason = EXCUSED.get((estimator.method, check.func.__name__))
    if reason:
        pytest.skip(reason)
    with warnings.catch_warnings():
        # The checks build tiny data whose folds miss a class, on purpose.
        warnings.filterwarnings("ignore", "Number of classes in training fold", RuntimeWarning)
        warnings.filterwarnings("ignore", "No row to calibrate on is of class", RuntimeWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        check(estimator)
