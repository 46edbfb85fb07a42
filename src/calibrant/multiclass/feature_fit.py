"""What a fit to a score matrix begins with: the order of classes, the temperature, the features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from calibrant._numerics.links import fit_inverse_temperature, log_softmax
from calibrant._typing import Floats, Ints
from calibrant.maps.matrix import MatrixMap, MatrixMember, log_scores
from calibrant.multiclass.features import Features, floor_for_zeros
from calibrant.multiclass.formula import write_formula
from calibrant.multiclass.rows import Layout

__all__ = ["FeatureFit"]

CHUNK_ENTRIES = 4_000_000
BETA_LIMITS = float(np.exp(-10.0)), float(np.exp(10.0))  # of the inverse temperature


@dataclass(frozen=True)
class FeatureFit:
    """From scores to tempered log-probabilities in an order of the classes that the data set, and back to a map.

    Draws from a posterior depend on the order of its coefficients; sorting the classes by their mean score makes
    nothing depend on the order of the columns.
    """

    space: str
    floor: float
    inverse_temperature: float
    order: Ints
    features: Features

    @classmethod
    def from_rows(
        cls,
        scores: np.ndarray[Any, Any],
        labels: Ints,
        weights: Floats,
        space: str,
        *,
        tempered: bool = True,
        bounded: bool = True,
        standardised: bool = True,
    ) -> Self:
        """Learn them; without `tempered` the temperature is 1; the other two are those of `Features`."""
        floor = floor_for_zeros(scores) if space == "probability" else 0.0
        x = log_scores(scores, space, floor)
        order = np.argsort(np.average(log_softmax(x), axis=0, weights=weights), kind="stable")
        x, y = x[:, order], np.argsort(order)[labels]
        slope = fit_prior_temperature(x, y, weights) if tempered else 1.0
        features = Features.from_rows(log_softmax(slope * x), weights, bounded=bounded, standardised=standardised)
        return cls(space, floor, slope, order, features)

    def tempered(self, scores: np.ndarray[Any, Any], dtype: Any = np.float64) -> np.ndarray[Any, Any]:
        """ℓ with the classes in order, (n, K)."""
        out = np.empty(scores.shape, dtype=dtype)
        step = max(1, CHUNK_ENTRIES // scores.shape[1])
        for start in range(0, len(scores), step):
            rows = slice(start, start + step)
            x = log_scores(scores[rows], self.space, self.floor)[:, self.order]
            out[rows] = log_softmax(self.inverse_temperature * x)
        return out

    def labels(self, labels: Ints) -> Ints:
        """Labels as places in the order of the classes."""
        out: Ints = np.argsort(self.order)[labels]
        return out

    def formula(self, theta: Floats, layout: Layout, weight: float) -> MatrixMember:
        """The member of the map, for the columns as they came."""
        return write_formula(theta, layout, self.features, weight).permuted(np.argsort(self.order))

    def map(self, classes: np.ndarray[Any, Any], members: list[MatrixMember], method: str) -> MatrixMap:
        """The map of these members."""
        features = self.features
        return MatrixMap(
            classes=tuple(classes.tolist()),
            space=self.space,
            inverse_temperature=self.inverse_temperature,
            members=tuple(members),
            floor=self.floor,
            low=features.low,
            high=features.high,
            curve_knots=features.curve.knots,
            class_knots=features.class_curve.knots,
            gate_knots=features.gate.knots,
            method=method,
        )


def fit_prior_temperature(x: Floats, y: Ints, weights: Floats) -> float:
    """The inverse temperature of log-probabilities, its logarithm N(0, 1) beforehand."""
    return fit_inverse_temperature(x, y, weights, *BETA_LIMITS, prior_sd=1.0)
