"""Weights of a linear pool of predictions, by maximum likelihood under a Dirichlet prior."""

import numpy as np

from calibrant._numerics.logistic import newton
from calibrant._typing import Floats


def pool_weights(likelihoods: Floats, counts: Floats, prior: Floats) -> Floats:
    """Weights w that maximise Σ counts ln(likelihoods @ w) + Σ prior ln w, and sum to one.

    `likelihoods` (n, members) holds what each member said about each outcome, `counts` (n,) how often it happened.
    With the term −(Σ counts + Σ prior) Σ w the maximum over all positive w sums to one by itself: there the
    gradient, multiplied by w, is zero. That objective is concave and its logarithms keep w positive, so Newton's
    method with shortened steps finds the one maximum. O(n · members²) a step, about ten steps.
    """
    mass = counts.sum() + prior.sum()

    def derivatives(weights: Floats) -> tuple[float, Floats, Floats]:
        pooled = likelihoods @ weights
        loss = mass * weights.sum() - counts @ np.log(pooled) - prior @ np.log(weights)
        scaled = likelihoods * (np.sqrt(counts) / pooled)[:, None]
        gradient = mass - likelihoods.T @ (counts / pooled) - prior / weights
        return float(loss), gradient, scaled.T @ scaled + np.diag(prior / weights**2)

    found = newton(derivatives, prior / prior.sum(), mass, lowest=0.0).coefficients
    weights = np.maximum(found, prior / mass)  # no maximum is below; the last step, which is not looked at, might be
    return weights / weights.sum()
