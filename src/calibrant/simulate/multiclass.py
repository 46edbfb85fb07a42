"""Logits of several classes that one known temperature calibrates."""

from __future__ import annotations

import numpy as np
from scipy.special import softmax

from calibrant.errors import InvalidInputError
from calibrant.simulate.base import MulticlassSimulation, Seed, check_rows

__all__ = ["temperature_logits"]


def temperature_logits(
    n: int, *, n_classes: int = 10, temperature: float = 2.0, sharpness: float = 2.0, rng: Seed = 0
) -> MulticlassSimulation:
    """Logits that are `temperature` times too large (overconfident) or too small (below 1).

    The true logits are independent normal numbers with standard deviation `sharpness`; each label is drawn with the
    softmax of its row; the returned logits are the true ones times `temperature`.

    Parameters
    ----------
    n : int
        Number of rows.
    n_classes : int
        Number of classes, at least 2.
    temperature : float
        The temperature that a perfect temperature scaling finds.
    sharpness : float
        Standard deviation of the true logits: 0 is chance level, 2 makes about 53 % of ten-class rows right.
    rng : int, numpy.random.Generator or None
        The seed or generator.

    Returns
    -------
    MulticlassSimulation

    Examples
    --------
    >>> from calibrant import simulate
    >>> simulate.temperature_logits(1000, n_classes=4, temperature=1.5)
    MulticlassSimulation(1000 rows, 4 classes, true temperature 1.5)
    """
    rows, generator = check_rows(n), np.random.default_rng(rng)
    if n_classes < 2:
        raise InvalidInputError(f"`n_classes` must be at least 2; got {n_classes!r}.")
    if not (temperature > 0 and sharpness >= 0):
        raise InvalidInputError(
            f"`temperature` must be positive and `sharpness` not negative; got {temperature!r} and {sharpness!r}."
        )
    true_logits = sharpness * generator.standard_normal((rows, n_classes))
    probabilities = softmax(true_logits, axis=1)
    # The label is the first class whose cumulative probability exceeds a uniform number; the last ends at 1.
    reached = np.cumsum(probabilities, axis=1)[:, :-1] <= generator.random(rows)[:, None]
    columns = (temperature * true_logits, reached.sum(axis=1).astype(np.int64), probabilities)
    for column in columns:
        column.setflags(write=False)
    return MulticlassSimulation(*columns, float(temperature))
