"""What a fit to a score matrix begins with: the order of classes, the temperature, the features."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from calibrant._numerics.links import log_softmax
from calibrant._numerics.temperature import fit_inverse_temperature
from calibrant._typing import Floats, Ints
from calibrant.calibrators.temperature import LOG_BOUND
from calibrant.maps.matrix import EMPTY, MatrixMap, MatrixMember, chunks, log_scores
from calibrant.multiclass.features import OWN, PAIRS, Features, floor_for_zeros
from calibrant.multiclass.rows import Layout

BETA_LIMITS = float(np.exp(-LOG_BOUND)), float(np.exp(LOG_BOUND))  # of the inverse temperature


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
        adapted: bool = True,
    ) -> Self:
        """Learn them; without `adapted` the temperature is 1, and features are not adapted either."""
        floor = floor_for_zeros(scores) if space == "probability" else 0.0
        x = log_scores(scores, space, floor)
        order = np.argsort(np.average(log_softmax(x), axis=0, weights=weights), kind="stable")
        x, y = x[:, order], np.argsort(order)[labels]
        slope = fit_prior_temperature(x, y, weights) if adapted else 1.0
        return cls(space, floor, slope, order, Features.from_rows(log_softmax(slope * x), weights, adapted=adapted))

    def tempered(self, scores: np.ndarray[Any, Any], dtype: Any = np.float64) -> np.ndarray[Any, Any]:
        """ℓ with the classes in order, (n, K)."""
        out = np.empty(scores.shape, dtype=dtype, order="F")
        for rows in chunks(scores):
            x = log_scores(scores[rows], self.space, self.floor)[:, self.order]
            out[rows] = log_softmax(self.inverse_temperature * x)
        return out

    def labels(self, labels: Ints) -> Ints:
        """Labels as places in the order of the classes."""
        return np.argsort(self.order)[labels]

    def formula(self, theta: Floats, layout: Layout, weight: float) -> MatrixMember:
        """The member of the map, for the columns as they came."""
        return write_formula(theta, layout, self.features, weight).permuted(np.argsort(self.order))

    def map(self, classes: np.ndarray[Any, Any], members: list[MatrixMember], method: str) -> MatrixMap:
        """The map of these members."""
        features, joint = self.features, self.features.joint
        back = np.argsort(self.order)
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
            landmarks=(joint.landmarks * features.spread + features.center)[:, back] if joint else EMPTY,
            reach=joint.reach * features.spread if joint else 1.0,
            method=method,
        )


def fit_prior_temperature(x: Floats, y: Ints, weights: Floats) -> float:
    """The inverse temperature of log-probabilities, its logarithm N(0, 1) beforehand."""
    return fit_inverse_temperature(x, y, weights, *BETA_LIMITS, prior_sd=1.0)


def write_formula(theta: Floats, layout: Layout, features: Features, weight: float = 1.0) -> MatrixMember:
    """The member with these coefficients: curves as values at their knots, linear terms without standardisation."""
    parts = _split(theta, layout)
    spread, center = features.spread, features.center
    bias = parts["bias"][:, 0] if "bias" in parts else np.zeros(layout.n_classes)
    vector = parts["vector"][:, 0] / spread if "vector" in parts else EMPTY
    matrix = parts["matrix"] / spread if "matrix" in parts else EMPTY
    if vector.size:
        bias = bias - vector * center
    if matrix.size:
        bias = bias - matrix @ center
    confusion = parts["confusion"] / features.deviation if "confusion" in parts else EMPTY
    if confusion.size:
        bias = bias - confusion @ features.mean
    joint = EMPTY
    if features.joint and "joint" in parts:
        joint, bias = parts["joint"] @ features.joint.root, bias - parts["joint"] @ features.joint.mean
    return MatrixMember(
        weight,
        slope=float(parts["slope"][0]) / features.slope_spread if "slope" in parts else 0.0,
        curve=features.curve.values @ parts["curve"] if "curve" in parts else EMPTY,
        gate=features.gate.values @ parts["gate"] / spread if "gate" in parts else EMPTY,
        bias=bias if bias.any() else EMPTY,
        vector=vector,
        class_curves=parts["class_curve"] @ features.class_curve.values.T if "class_curve" in parts else EMPTY,
        matrix=matrix,
        confusion=confusion,
        joint=joint,
    )


def _split(theta: Floats, layout: Layout) -> dict[str, Floats]:
    """The coefficients of each block that has any: shared (size,), own (K, size), matrices (K, K)."""
    parts = {b: theta[places] for b, places in layout.members.items()}
    n_classes = layout.n_classes
    for b in parts.keys() & OWN:
        parts[b] = parts[b].reshape(n_classes, -1)
    # A class has no coefficient for its own logarithm here (that is "vector"): a row of the matrix comes without its
    # diagonal entry, and the mask of all others, read row by row, has the same order.
    for b in parts.keys() & PAIRS:
        matrix = np.zeros((n_classes, n_classes))
        matrix[~np.eye(n_classes, dtype=bool)] = parts[b].ravel()
        parts[b] = matrix
    return parts
