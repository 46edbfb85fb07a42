"""The temperature of a softmax, by maximum likelihood."""

from functools import partial

import numpy as np

from calibrant._numerics.logistic import newton
from calibrant._typing import Floats, Ints

SAMPLE_ROWS = 2000
BLOCK_ROWS = 1024  # stay in the processor's cache
LARGEST_LOGIT = 1e100


def fit_inverse_temperature(
    logits: Floats, labels: Ints, weights: Floats, low: float, high: float, prior_sd: float = np.inf
) -> float:
    """The β in [low, high] with the smallest Σ weights · −ln softmax(β · logits)[label]. O(n K) a step.

    With `prior_sd`, ln β is N(0, prior_sd²) beforehand, and β the mode. Many rows begin with every k-th of them, whose
    answer is so near that two or three passes over all remain.
    """
    largest = float(np.abs(logits).max())
    if largest > LARGEST_LOGIT:  # squares would overflow; here no β above 1 changes anything, and no prior either
        scaled = logits / largest
        return fit_inverse_temperature(scaled, labels, weights, low * largest, min(high, 1.0) * largest) / largest
    found = np.ones(1)
    for stride in sorted({max(len(labels) // SAMPLE_ROWS, 1), 1}, reverse=True):
        derivatives = partial(_derivatives, logits[::stride], labels[::stride], weights[::stride], prior_sd)
        found = newton(derivatives, found, weights[::stride].sum(), 0.0 if prior_sd < np.inf else -np.inf).coefficients
    return float(np.clip(found[0], low, high))  # the loss is convex


def _derivatives(
    logits: Floats, labels: Ints, weights: Floats, prior_sd: float, at: Floats
) -> tuple[float, Floats, Floats]:
    """The loss at β and its derivatives, Σ w (E[z] − z_label) and Σ w Var[z], in blocks that stay in the cache."""
    beta, loss, slope, curvature = float(at[0]), 0.0, 0.0, 0.0
    if np.isfinite(prior_sd):
        away = np.log(beta) / prior_sd
        # Without the part of the second derivative that changes its sign: a step stays downhill.
        loss, slope, curvature = 0.5 * away**2, away / (beta * prior_sd), (beta * prior_sd) ** -2.0
    for begin in range(0, len(labels), BLOCK_ROWS):
        rows = slice(begin, begin + BLOCK_ROWS)
        z = logits[rows]
        z = z - z[np.arange(len(z)), labels[rows]][:, None]
        scaled = beta * z
        top = scaled.max(axis=1, keepdims=True)
        p = np.exp(scaled - top)
        total = p.sum(axis=1, keepdims=True)
        p *= z / total
        mean = p.sum(axis=1)
        loss += float(weights[rows] @ (top + np.log(total))[:, 0])
        slope += float(weights[rows] @ mean)
        curvature += float(weights[rows] @ (np.einsum("ij,ij->i", p, z) - mean * mean))
    return loss, np.array([slope]), np.array([[curvature]])
