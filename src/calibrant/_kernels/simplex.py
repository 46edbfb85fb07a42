"""Weights on the simplex: the mixture of given probabilities with the largest likelihood."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from calibrant._kernels import links
from calibrant._typing import Floats

TOLERANCE = 1e-12


def mixture_weights(probabilities: Floats, positives: Floats, totals: Floats) -> Floats:
    """Weights w ≥ 0, Σ w = 1, that maximise Σ k ln(w · p) + (n − k) ln(1 − w · p) over cells.

    `probabilities` is (parts, m), inside (0, 1). The problem is concave; sequential quadratic programming takes
    some ten passes of O(parts · m).
    """
    parts, total = len(probabilities), totals.sum()
    k, rest = positives / total, (totals - positives) / total

    def loss(w: Floats) -> tuple[float, Floats]:
        # The search may leave the simplex by a rounding error, and so the mixture the unit interval.
        p = links.clip(w @ probabilities)
        return float(-(k @ np.log(p) + rest @ np.log1p(-p))), -(probabilities @ (k / p - rest / (1.0 - p)))

    found = minimize(
        loss,
        np.full(parts, 1.0 / parts),
        jac=True,
        method="SLSQP",
        bounds=[(0.0, 1.0)] * parts,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1.0, "jac": lambda w: np.ones(len(w))},
        options={"ftol": TOLERANCE, "maxiter": 200},
    )
    weights = np.maximum(found.x, 0.0)
    out: Floats = weights / weights.sum()
    return out
