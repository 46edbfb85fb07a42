"""calibrant in the slot of CalArena, the public benchmark of calibrators (arXiv 2605.30188).

How to enter it: clone https://github.com/probkit/CalArena, put its data files where its README says, install
calibrant into its environment, copy this file beside ``custom_calibrators.py``, and write there

    from slot import CUSTOM_CALIBRATORS

Then every method of calibrant is a calibrator of the benchmark, under the name of its class:

    python run_benchmark.py --benchmark tabrepo-binary --calibrator calibrant-Blend
    python run_benchmark.py --benchmark tabrepo-multiclass --calibrator calibrant-MatrixBlend

The slot calls ``fit(p, y)`` and ``predict_proba(p)``. In the binary benchmarks p is (n,), the probability of the
positive class, or (n, 2); in the others it is (n, k). The answer has a column for each class, which is what its
measures take. A method for two classes calibrates each of several classes against the rest, and normalises.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Self

import numpy as np

from calibrant.calibrators import registry
from calibrant.calibrators.base import Calibrator

__all__ = ["CUSTOM_CALIBRATORS", "CalArenaSlot"]


class CalArenaSlot:
    """One method of calibrant behind ``fit(p, y)`` and ``predict_proba(p)``.

    Parameters
    ----------
    method : str
        Its name in the registry.
    shape : {"score", "matrix"}
        Whether the method of that name is for one score or for a column for each class.

    Examples
    --------
    >>> slot = CalArenaSlot("platt").fit([0.1, 0.4, 0.6, 0.9], [0, 1, 0, 1])
    >>> slot.predict_proba([0.5, 0.7]).shape
    (2, 2)
    """

    def __init__(self, method: str = registry.DEFAULT_METHOD, shape: str = "score") -> None:
        self.method, self.shape = method, shape

    def fit(self, p: np.ndarray, y: np.ndarray) -> Self:
        """Learn from probabilities (n,) or (n, k) and labels 0 … k − 1."""
        matrix, labels = as_matrix(p), np.asarray(y).astype(int)
        if self._takes(matrix):
            self.calibrators_: list[Any] = [registry.create(self.method, "matrix").fit(matrix, labels)]
        else:
            classes = range(matrix.shape[1]) if matrix.shape[1] > 2 else [1]
            self.calibrators_ = [self._fit_one(matrix[:, k], labels == k) for k in classes]
        return self

    def predict_proba(self, p: np.ndarray) -> np.ndarray:
        """Calibrated probabilities, with a column for each class."""
        matrix = as_matrix(p)
        if self._takes(matrix):
            return self.calibrators_[0].predict_proba(matrix)
        if matrix.shape[1] == 2:
            return self.calibrators_[0].predict_proba(matrix[:, 1])
        raw = np.column_stack([c.predict(column) for c, column in zip(self.calibrators_, matrix.T, strict=True)])
        total = raw.sum(axis=1, keepdims=True)
        return np.where(total > 0.0, raw / np.where(total > 0.0, total, 1.0), 1.0 / raw.shape[1])

    def _takes(self, matrix: np.ndarray) -> bool:
        """Whether the method calibrates all these classes at once."""
        return self.shape == "matrix" or (matrix.shape[1] > 2 and self.method in registry.names("matrix"))

    def _fit_one(self, scores: np.ndarray, positive: np.ndarray) -> Calibrator:
        calibrator = registry.create(self.method)
        # A class that the rows do not hold, or hold alone, tells nothing to a method that needs both.
        if not calibrator.accepts_single_class and positive.min() == positive.max():
            calibrator = registry.create("identity")
        return calibrator.fit(scores, positive)


def as_matrix(p: np.ndarray) -> np.ndarray:
    """Probabilities with a column for each class, rounding removed: saved as float32, rows need not sum to 1."""
    p = np.clip(np.asarray(p, dtype=float), 0.0, 1.0)
    if p.ndim == 1 or p.shape[1] == 1:
        return np.column_stack((1.0 - p.ravel(), p.ravel()))
    return p / p.sum(axis=1, keepdims=True)


CUSTOM_CALIBRATORS: dict[str, Callable[[], CalArenaSlot]] = {
    f"calibrant-{cls}": partial(CalArenaSlot, name, shape)
    for shape in ("score", "matrix")
    for name, (_, cls) in registry.METHODS[shape].items()
}
