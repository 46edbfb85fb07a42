"""scikit-learn's estimator checks of CalibratedClassifier, in every view.

CALIBRANT_CHECK_ALL=1 checks every method in every view, which takes ten minutes.
"""

import os
import warnings

import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from calibrant import CalibratedClassifier
from calibrant.calibrators import registry

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
def test_scikit_learn_checks(estimator, check):
    reason = EXCUSED.get((estimator.method, check.func.__name__))
    if reason:
        pytest.skip(reason)
    with warnings.catch_warnings():
        # The checks build tiny data whose folds miss a class, on purpose.
        warnings.filterwarnings("ignore", "Number of classes in training fold", RuntimeWarning)
        warnings.filterwarnings("ignore", "No row to calibrate on is of class", RuntimeWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        check(estimator)
