"""A classifier whose decision function is its one feature, to give scikit-learn's calibration scores to work on.

Where a library asks for probabilities, the feature is that of the second class.
"""

from __future__ import annotations

from typing import Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

__all__ = ["Passing"]


class Passing(ClassifierMixin, BaseEstimator):
    """Return the feature as it is."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:  # noqa: ARG002 - nothing to learn from X
        """Remember the classes."""
        self.classes_ = np.array([0, 1])
        self.n_features_in_ = 1
        return self

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        """The one feature."""
        return np.asarray(X)[:, 0]

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """What is left to one, and the one feature."""
        p = self.decision_function(X)
        return np.column_stack((1.0 - p, p))

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Never asked; scikit-learn wants a classifier to have it."""
        return (self.decision_function(X) > 0.0).astype(int)
