"""Several matrices of probabilities of the same rows as one: a sum of their logarithms, with a weight for each."""

import numpy as np

from calibrant._numerics import links
from calibrant._numerics.temperature import fit_inverse_temperature
from calibrant._typing import Floats, Ints

FLOOR = 1e-4  # of probabilities whose logarithms are taken
SPREAD = 0.3  # of weights around equal ones, where each matrix has its own temperature
STEPS = 15


def pool_logs(scores: Floats, weights: Floats) -> Floats:
    """The softmax of the weighted logarithms of J matrices, (n, K, J) to (n, K)."""
    return links.softmax(np.log(np.maximum(scores, FLOOR)) @ weights)


def fit_log_pool(scores: Floats, labels: Ints, rows: Floats) -> Floats:
    """The weights of J matrices (n, K, J), by Newton's steps from equal ones; `rows` are the weights of rows.

    Each matrix first gets its own temperature; then its weight is N(1 / J, SPREAD²). O(n K J²) a step.
    """
    logs, count = np.log(np.maximum(scores, FLOOR)), scores.shape[2]
    slopes = np.array([fit_inverse_temperature(logs[..., j], labels, rows, 1e-3, 1e3) for j in range(count)])
    logs, precision, start = logs * slopes, np.eye(count) / SPREAD**2, np.full(count, 1.0 / count)
    own, weights = logs[np.arange(len(labels)), labels], start
    for _ in range(STEPS):
        p = links.softmax(logs @ weights)
        mean = np.einsum("nkj,nk->nj", logs, p)
        curvature = np.einsum("nkj,nkl,nk->jl", logs, logs, p * rows[:, None]) - mean.T @ (mean * rows[:, None])
        pull = rows @ (own - mean) - precision @ (weights - start)
        weights = weights + np.linalg.solve(curvature + precision, pull)
    return slopes * weights
