"""Leaders of public boards for several classes, each behind `fit` and `predict_proba` of a score matrix.

A package is imported when its champion is made; where it is not installed, that is the reason of the failure.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np

__all__ = ["CHAMPIONS", "MatrixCatBoost", "OneVsRest", "OrderPreserving", "PlainMatrix", "logs"]

FLOOR = 1e-12  # what smaller probabilities are read as where logarithms are taken
FOLDS = 5


class MatrixCatBoost:
    """Trees on the logarithms of a row, five folds that stop each other early, set as in probmetrics 1.3.0."""

    def fit(self, p: np.ndarray, y: np.ndarray) -> Self:
        """Learn from probabilities (n, K) and labels 0 … K − 1."""
        from catboost import CatBoostClassifier
        from sklearn.model_selection import StratifiedKFold

        x, self.n_classes = logs(p), p.shape[1]
        self.models = []
        for train, rest in StratifiedKFold(FOLDS, shuffle=True, random_state=42).split(x, y):
            model = CatBoostClassifier(
                depth=3,
                loss_function="MultiClass",
                iterations=1000,
                early_stopping_rounds=50,
                verbose=False,
                allow_writing_files=False,
                thread_count=1,
            )
            # A label that the other folds do not have cannot stop them.
            known = np.isin(y[rest], y[train])
            self.models.append(model.fit(x[train], y[train], eval_set=(x[rest][known], y[rest][known])))
        return self

    def predict_proba(self, p: np.ndarray) -> np.ndarray:
        """Calibrated probabilities, (n, K)."""
        out = np.zeros(p.shape)
        for model in self.models:
            out[:, np.asarray(model.classes_, dtype=int)] += model.predict_proba(logs(p)) / len(self.models)
        return out


class PlainMatrix:
    """Matrix scaling as published: softmax(W log p + b) of maximum likelihood, by scikit-learn."""

    def fit(self, p: np.ndarray, y: np.ndarray) -> Self:
        """Learn from probabilities (n, K) and labels 0 … K − 1."""
        from sklearn.linear_model import LogisticRegression

        self.model = LogisticRegression(C=np.inf, max_iter=1000).fit(logs(p), y)
        return self

    def predict_proba(self, p: np.ndarray) -> np.ndarray:
        """Calibrated probabilities, (n, K)."""
        out = np.zeros(p.shape)
        out[:, self.model.classes_] = self.model.predict_proba(logs(p))
        return out


class OrderPreserving:
    """Functions that keep the order within a row (Rahimi et al. 2020), set as in probmetrics 1.3.0, from seed 0."""

    def fit(self, p: np.ndarray, y: np.ndarray) -> Self:
        """Learn from probabilities (n, K) and labels 0 … K − 1."""
        import torch
        from probmetrics.calibrators.orderpreserving import IntraOrderPreservingCalibrator

        torch.set_num_threads(1)
        torch.manual_seed(0)
        self.model = IntraOrderPreservingCalibrator().fit(p, y)
        return self

    def predict_proba(self, p: np.ndarray) -> np.ndarray:
        """Calibrated probabilities, (n, K)."""
        return self.model.predict_proba(p).astype(np.float64)


class OneVsRest:
    """A calibrator of one score for each class, and rows divided by their sum; a class without rows stays as it is."""

    def __init__(self, fit_one: Callable[[np.ndarray, np.ndarray], Callable[[np.ndarray], np.ndarray]]) -> None:
        self.fit_one = fit_one

    def fit(self, p: np.ndarray, y: np.ndarray) -> Self:
        """Learn from probabilities (n, K) and labels 0 … K − 1."""
        found = [(column, (y == k).astype(int)) for k, column in enumerate(p.T)]
        self.maps = [self.fit_one(column, own) if own.any() else lambda x: x for column, own in found]
        return self

    def predict_proba(self, p: np.ndarray) -> np.ndarray:
        """Calibrated probabilities, (n, K)."""
        out = np.column_stack([one(column) for one, column in zip(self.maps, p.T, strict=True)])
        total = out.sum(axis=1, keepdims=True)
        return np.where(total > 0.0, out / np.where(total > 0.0, total, 1.0), 1.0 / out.shape[1])


def _spline(p: np.ndarray, y: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    from splinecalib import SplineCalib

    model = SplineCalib()
    model.fit(p, y)
    return model.calibrate


def _venn_abers(p: np.ndarray, y: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    from venn_abers import VennAbers

    model = VennAbers()
    model.fit(np.column_stack((1.0 - p, p)), y)
    return lambda x: model.predict_proba(np.column_stack((1.0 - x, x)))[0][:, 1]


def logs(p: np.ndarray) -> np.ndarray:
    """Logarithms of probabilities, of which some may be zero."""
    return np.log(np.maximum(p, FLOOR))


CHAMPIONS: dict[str, Callable[[], Any]] = {
    "catboost.matrix": MatrixCatBoost,
    "matrix.plain": PlainMatrix,
    "order_preserving.probmetrics": OrderPreserving,
    "spline_ovr.splinecalib": lambda: OneVsRest(_spline),
    "venn_abers_ovr.venn_abers": lambda: OneVsRest(_venn_abers),
}
