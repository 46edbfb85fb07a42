"""scikit-learn's estimator checks of CalibratedClassifier, for every method and view."""

import warnings

from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from calibrant import CalibratedClassifier
from calibrant.calibrators import registry

VIEWS = ({}, {"ensemble": False}, {"multiclass": "top_label"})
JUMPS = (
    "the classifier's score differs in its last digit between one row and many, "
    "and Venn–Abers jumps at every score of the fit"
)


def every_method_and_view():
    model = LogisticRegression(C=1)
    return [CalibratedClassifier(model, name, cv=3, **view) for name in registry.names() for view in VIEWS]


def excused(estimator):
    names = ("check_methods_subset_invariance", "check_sample_weight_equivalence_on_sparse_data")
    return dict.fromkeys(names, JUMPS) if estimator.method == "venn_abers" else {}


@parametrize_with_checks(every_method_and_view(), expected_failed_checks=excused)
def test_scikit_learn_checks(estimator, check):
    with warnings.catch_warnings():
        # The checks build tiny data whose folds miss a class, on purpose.
        warnings.filterwarnings("ignore", "Number of classes in training fold", RuntimeWarning)
        warnings.filterwarnings("ignore", "No row to calibrate on is of class", RuntimeWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        check(estimator)
