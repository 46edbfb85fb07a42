"""A multinomial posterior as a few equally likely coefficient vectors, centred so that their average fits.

A softmax is curved: averaged over a Gaussian around the mode, small probabilities rise by about half their logit's
variance, on the very rows that were fitted. The Gaussian that is nearest to the posterior (in Kullback-Leibler
divergence) lies elsewhere: its mean m maximises E log p(y | m + s) − ½ mᵀΛm, at which the *averaged* probabilities, not
those of the mode, balance the residuals against the prior. With the deviations s held fixed this is concave in m. Its
precision is the expected curvature; that at the averaged probabilities bounds it from above, and takes the place of the
curvature at the mode, which is far too small where classes are nearly separated.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from calibrant._typing import Floats
from calibrant.multiclass.laplace import Posterior
from calibrant.multiclass.rows import Rows

STEPS = 4
ENOUGH = 0.01  # nats that a step must gain for another


def spread_draws(posterior: Posterior, count: int, rng: np.random.Generator) -> Floats:
    """Deviations from the mean in pairs s and −s, (count, D), with the posterior's covariance in expectation."""
    half = posterior.curvature.draw(rng.standard_normal((len(posterior.mean), count // 2))).T
    return np.concatenate((half, -half))


def tighten(rows: Rows, posterior: Posterior, deviations: Floats) -> Posterior:
    """The posterior with the curvature at the probabilities that the deviations average to."""
    average = _expected(rows, posterior, posterior.mean, deviations)[1]
    return replace(posterior, curvature=rows.second_derivatives(average).with_prior(posterior.precision))


def centre(rows: Rows, posterior: Posterior, deviations: Floats) -> Floats:
    """The mean around which the deviations fit the rows best, from the mode by damped Newton steps. O(draws n K M)."""
    mean = posterior.mean
    value, average = _expected(rows, posterior, mean, deviations)
    for _ in range(STEPS):
        step = posterior.curvature.solve(rows.gradient(average) - posterior.precision * mean)
        share = 1.0
        new, new_average = _expected(rows, posterior, mean + step, deviations)
        while new < value and share > 1e-3:
            share *= 0.5
            new, new_average = _expected(rows, posterior, mean + share * step, deviations)
        if new < value:
            break
        gain, mean, value, average = new - value, mean + share * step, new, new_average
        if gain < ENOUGH:
            break
    return mean


def _expected(rows: Rows, posterior: Posterior, mean: Floats, deviations: Floats) -> tuple[float, Floats]:
    """The expected log-posterior around `mean`, and the averaged probabilities of the rows."""
    value, average = rows.average(mean + deviations)
    return value - 0.5 * float(posterior.precision @ mean**2), average
