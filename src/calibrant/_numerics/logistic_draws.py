"""Many small logistic regressions with offsets at once: what the labels add to each of many curves."""

import numpy as np

from calibrant._numerics import links
from calibrant._typing import Floats

STEPS = 4
LONGEST = 1.0  # a step of Newton's method, in logits, which a curve far from the labels would overshoot


def adjust_curves(
    offsets: Floats,
    features: Floats,
    positives: Floats,
    totals: Floats,
    *,
    scale: float,
    rng: np.random.Generator | None = None,
) -> Floats:
    """Coefficients w of expit(offset + features @ w) for each row of `offsets`, (d, m); returns (d, c).

    Their prior is normal with mean 0 and deviation `scale`. With a generator they are drawn from Laplace's
    approximation of the posterior, otherwise they are its mode. Features are (m, c). Where labels scatter about a
    curve by more than its probabilities say, since its shape is wrong, they count for so much less (quasi-likelihood).
    """
    columns = features.shape[1]
    squares = (features[:, :, None] * features[:, None, :]).reshape(len(features), -1)
    prior = np.eye(columns) / scale**2
    out = np.zeros((len(offsets), columns))
    for _ in range(STEPS):
        p = links.expit(offsets + out @ features.T)
        variances = totals * p * (1.0 - p)
        scatter = (p * p) @ (totals - positives) + ((1.0 - p) * (1.0 - p)) @ positives
        trust = np.minimum(1.0, variances.sum(axis=1) / scatter)[:, None]
        gradient = trust * ((positives - totals * p) @ features) - out / scale**2
        precision = ((trust * variances) @ squares).reshape(-1, columns, columns) + prior
        out = out + np.clip(np.linalg.solve(precision, gradient[:, :, None])[:, :, 0], -LONGEST, LONGEST)
    if rng is None:
        return out
    root = np.linalg.cholesky(np.linalg.inv(precision))
    drawn: Floats = out + (root @ rng.standard_normal((*out.shape, 1)))[:, :, 0]
    return drawn
