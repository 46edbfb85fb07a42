"""Algorithm 3 of Dong et al. 2025: labels from any true map at scores from any distribution."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from calibrant import _validation
from calibrant._typing import Floats
from calibrant.errors import InvalidInputError
from calibrant.simulate.base import Seed, Simulation, check_rows, simulation

__all__ = ["binomial_process"]

Sampler = Callable[[np.random.Generator, int], Floats]


def binomial_process(
    n: int, probability: Callable[[Floats], Floats], scores: tuple[float, float] | Sampler, *, rng: Seed = 0
) -> Simulation:
    """Draw scores, then each label with the true probability of its score.

    Parameters
    ----------
    n : int
        Number of rows.
    probability : callable
        The true map: an array of scores to P(y = 1 | score).
    scores : (float, float) or callable
        The two parameters of a Beta distribution, as in the paper, or a function ``scores(rng, n)``.
    rng : int, numpy.random.Generator or None
        The seed or generator; the same seed gives the same rows.

    Returns
    -------
    Simulation

    References
    ----------
    Dong, Jiang, Pan, Yu 2025, "Combining Priors with Experience: Confidence Calibration Based on Binomial Process
    Modeling", Algorithm 3.

    Examples
    --------
    >>> from calibrant import simulate
    >>> simulate.binomial_process(5, lambda s: s**2, (2.0, 1.0), rng=0).probabilities.round(3).tolist()
    [0.979, 0.276, 0.343, 0.995, 0.008]
    """
    rows, generator = check_rows(n), np.random.default_rng(rng)
    if callable(scores):
        drawn = _validation.check_scores(scores(generator, rows))
    else:
        a, b = scores
        if not (a > 0 and b > 0):
            raise InvalidInputError(f"`scores` must be two positive parameters of a Beta distribution; got {scores!r}.")
        drawn = generator.beta(a, b, rows)
    truth = np.array(_validation.as_floats(probability(drawn), "probability(scores)"))
    _validation.check_same_length(len(drawn), len(truth), "probability(scores)")
    _validation.check_finite(truth, "probability(scores)")
    _validation.check_unit_interval(truth, "probability(scores)")
    return simulation(drawn, generator.random(rows) < truth, truth)
