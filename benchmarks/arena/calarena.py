"""calibrant in the slot of CalArena, the public benchmark of calibrators (arXiv 2605.30188).

How to enter it: clone https://github.com/probkit/CalArena, put its data files where its README says, install
calibrant into its environment, copy this file beside ``custom_calibrators.py``, and write there

    from calarena import CUSTOM_CALIBRATORS

Then every method of calibrant is a calibrator of the benchmark, under the name of its class:

    python run_benchmark.py --benchmark tabrepo-binary --calibrator calibrant-Blend

The slot calls ``fit(p, y)`` and ``predict_proba(p)``. In the binary benchmarks p is (n,), the probability of the
positive class, or (n, 2); the answer has the shape that was asked with. More columns are more classes: one map is
fitted for each class against the rest, and the answers are normalised.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Self

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

    Examples
    --------
    >>> slot = CalArenaSlot("platt").fit([0.1, 0.4, 0.6, 0.9], [0, 1, 0, 1])
    >>> slot.predict_proba([[0.5, 0.5]]).shape
    (1, 2)
    """

    def __init__(self, method: str = registry.DEFAULT_METHOD) -> None:
        self.method = method

    def fit(self, p: np.ndarray, y: np.ndarray) -> Self:
        """Learn from probabilities (n,) or (n, k) and labels 0 … k − 1."""
        p, y = np.asarray(p, dtype=float), np.asarray(y).astype(int)
        columns = [p] if p.ndim == 1 else [p[:, 1]] if p.shape[1] == 2 else list(p.T)
        classes = [1] if len(columns) == 1 else range(len(columns))
        self.calibrators_ = [
            self._fit_one(column, y == positive) for column, positive in zip(columns, classes, strict=True)
        ]
        return self

    def _fit_one(self, scores: np.ndarray, positive: np.ndarray) -> Calibrator:
        calibrator = registry.create(self.method)
        # A class that the rows do not hold, or hold alone, tells nothing to a method that needs both.
        if not calibrator.accepts_single_class and positive.min() == positive.max():
            calibrator = registry.create("identity")
        return calibrator.fit(np.clip(scores, 0.0, 1.0), positive)

    def predict_proba(self, p: np.ndarray) -> np.ndarray:
        """Calibrated probabilities in the shape of `p`."""
        p = np.clip(np.asarray(p, dtype=float), 0.0, 1.0)
        if p.ndim == 1:
            return self.calibrators_[0].predict(p)
        if p.shape[1] == 2:
            return self.calibrators_[0].predict_proba(p[:, 1])
        raw = np.column_stack([c.predict(column) for c, column in zip(self.calibrators_, p.T, strict=True)])
        total = raw.sum(axis=1, keepdims=True)
        return np.where(total > 0.0, raw / np.where(total > 0.0, total, 1.0), 1.0 / raw.shape[1])


CUSTOM_CALIBRATORS: dict[str, Callable[[], CalArenaSlot]] = {
    f"calibrant-{cls}": partial(CalArenaSlot, name) for name, (_, cls) in registry.METHODS.items()
}
