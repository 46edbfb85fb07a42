"""Weights of a linear pool of predictions, by maximum likelihood under a Dirichlet prior."""

from __future__ import annotations

import numpy as np

from calibrant._typing import Floats

MAX_STEPS = 2000
TOLERANCE = 1e-6  # of the largest change of a weight


def pool_weights(likelihoods: Floats, counts: Floats, prior: Floats) -> Floats:
    """Weights w that maximise Σ counts ln(likelihoods @ w) + Σ prior ln w, by expectation maximisation.

    `likelihoods` (n, members) holds what each member said about each outcome, `counts` (n,) how often it happened.
    The objective is concave, so there is one maximum; every step shares each outcome among the members that
    foresaw it and gives each member its share. O(n · members) a step.
    """
    weights: Floats = prior / prior.sum()
    mass = counts.sum() + prior.sum()
    for _ in range(MAX_STEPS):
        shares = likelihoods * weights
        updated: Floats = (weights * (likelihoods.T @ (counts / shares.sum(axis=1))) + prior) / mass
        if np.abs(updated - weights).max() < TOLERANCE:
            return updated
        weights = updated
    return weights
