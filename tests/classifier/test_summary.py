import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.naive_bayes import GaussianNB

from calibrant import CalibratedClassifier


def test_summary_says_what_was_done():
    X, y = make_classification(200, random_state=3)
    text = CalibratedClassifier(GaussianNB(), cv=2).fit(X, np.where(y, "stay", "churn")).summary()
    assert text.startswith("GaussianNB of 2 classes (churn, stay), trained 2 times, on different rows, calibrated by")
    assert "The positive class is stay" in text
    assert "Model 2: " in text
    frozen = CalibratedClassifier(FrozenEstimator(GaussianNB().fit(X, y)), "isotonic").fit(X, y)
    assert "trained once, calibrated by IsotonicCalibration" in frozen.summary()
    with pytest.raises(NotFittedError):
        CalibratedClassifier(GaussianNB()).summary()
    X, y = make_classification(300, n_classes=3, n_informative=5, random_state=0)
    several = CalibratedClassifier(GaussianNB(), cv=2, multiclass="one_vs_rest").fit(X, y)
    assert several.summary().count("All models, class ") == 3
