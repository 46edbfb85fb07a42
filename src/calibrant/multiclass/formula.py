"""From coefficients of the multinomial model to the closed formula that the map evaluates."""

from __future__ import annotations

import numpy as np

from calibrant._typing import Floats
from calibrant.maps.matrix import EMPTY, MatrixMember
from calibrant.multiclass.features import OWN, PAIRS, SHARED, Features
from calibrant.multiclass.rows import Layout

__all__ = ["write_formula"]


def write_formula(theta: Floats, layout: Layout, features: Features, weight: float = 1.0) -> MatrixMember:
    """The member with these coefficients: curves as values at their knots, linear terms without standardisation."""
    parts = _split(theta, layout, features)
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
    )


def _split(theta: Floats, layout: Layout, features: Features) -> dict[str, Floats]:
    """The coefficients of each block that has any: shared (size,), own (K, size), matrices (K, K)."""
    sizes = features.sizes(layout.blocks)
    parts: dict[str, Floats] = {}
    start = 0
    for b in (b for b in SHARED if sizes.get(b)):
        parts[b] = theta[start : start + sizes[b]]
        start += sizes[b]
    n_classes, end = layout.n_classes, layout.n_shared + layout.n_classes * layout.n_own
    own, start = theta[layout.n_shared : end].reshape(n_classes, layout.n_own), 0
    for b in (b for b in OWN if sizes.get(b)):
        parts[b] = own[:, start : start + sizes[b]]
        start += sizes[b]
    used = [b for b in PAIRS if b in layout.blocks]
    # A class has no coefficient for its own logarithm here (that is "vector"): a row of the matrix comes without its
    # diagonal entry, and the mask of all others, read row by row, has the same order.
    pairs = theta[end:].reshape(n_classes, len(used), n_classes - 1)
    for place, b in enumerate(used):
        parts[b] = np.zeros((n_classes, n_classes))
        parts[b][~np.eye(n_classes, dtype=bool)] = pairs[:, place].ravel()
    return parts
