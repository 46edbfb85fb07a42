"""Smooth functions of all classes of a row together, as a Gaussian process that is seen through some of the rows."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from calibrant._typing import Floats
from calibrant.maps.matrix import nearness

# More landmarks follow finer shapes; a class has a coefficient for each. Up to ten classes time grows with the cube of
# them all; beyond, where classes are fitted side by side, with the square of those of one class.
MOST_LANDMARKS, MOST_COEFFICIENTS = 80, 640
SIDE_BY_SIDE_FROM, LANDMARKS_BESIDE = 11, 160
REACH = 0.7  # of the spread of whole rows: how far apart two rows are that still say much about each other
JITTER = 1e-4  # variance of a landmark by itself: those that nearly coincide are one


@dataclass(frozen=True)
class Joint:
    """Functions whose sum, with independent N(0, 1) coefficients, is a Gaussian process over standardised rows.

    Its covariance is exp(−|u − u′|² / 2 reach²), projected on its values at the landmarks (Nyström's approximation, of
    Gaussian processes by Williams and Seeger, 2001): of landmarks with the covariance L Lᵀ, a row that has the
    covariances k with them gets the functions L⁻¹ k. Their means over the rows of the fit are taken away.
    """

    landmarks: Floats  # (functions, K)
    reach: float
    root: Floats  # (functions, functions)
    mean: Floats

    @classmethod
    def from_rows(cls, scaled: Floats, weights: Floats) -> Self:
        """Landmarks among standardised rows, (n, K), whose order does not matter. O(n log n + n functions K)."""
        n_classes = scaled.shape[1]
        beside = n_classes >= SIDE_BY_SIDE_FROM
        count = LANDMARKS_BESIDE if beside else min(MOST_LANDMARKS, MOST_COEFFICIENTS // n_classes)
        # Even steps in the weight of rows from unsure to sure; equal ones are told apart by all their scores.
        order = np.lexsort((*scaled.T, scaled.max(axis=1)))
        below = np.cumsum(weights[order])
        steps = (np.arange(count) + 0.5) * (below[-1] / count)
        landmarks = np.unique(scaled[order[np.searchsorted(below, steps)]], axis=0)
        reach = REACH * float(np.sqrt(n_classes))  # a standardised row has a squared length of K on average
        covariance = nearness(landmarks, landmarks, reach) + JITTER * np.eye(len(landmarks))
        root = np.linalg.inv(np.linalg.cholesky(covariance))
        mean = np.average(nearness(scaled, landmarks, reach), axis=0, weights=weights)
        return cls(landmarks, reach, root, root @ mean)

    @property
    def size(self) -> int:
        """How many functions there are."""
        return len(self.mean)

    def __call__(self, scaled: Floats) -> Floats:
        """The functions at standardised rows, (functions, n), in their precision."""
        near = nearness(scaled, self.landmarks.astype(scaled.dtype), self.reach)
        return self.root.astype(scaled.dtype) @ near.T - self.mean.astype(scaled.dtype)[:, None]
