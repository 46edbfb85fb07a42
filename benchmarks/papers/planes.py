"""Points in the plane, scored by a logistic regression, with the true probability of each score.

Naeini, Cooper and Hauskrecht 2015 (SBB and ABB, section 3.1) train a logistic regression on 600 points in the
plane and calibrate its scores. They show the points in a picture only, so the shapes here are ours: chosen so that
each class is a union of round pieces, whose projection on any direction has a known density. The score is a
function of one projection, so P(y = 1 | score) has a closed form whatever the regression learned.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from calibrant.simulate import Simulation

Seed = int | np.random.Generator | None
N_TRAIN = 600
XOR_SPREAD = 0.4  # standard deviation around the four corners (±1, ±1)
RING = (1.25, 2.0)  # inner and outer radius around a disc of radius 1
CENTRE = 1.25  # the separable discs of radius 1 lie at (±1.25, 0)


@dataclass(frozen=True)
class _Shape:
    """One class: how to draw points, and the density of their projection at t on a unit direction."""

    draw: Callable[[np.random.Generator, int], np.ndarray]
    density: Callable[[np.ndarray, np.ndarray], np.ndarray]


def xor(n: int, *, rng: Seed = 0) -> Simulation:
    """Scores of a logistic regression on an exclusive or: four Gaussian clusters, opposite corners alike.

    Positives lie around (1, 1) and (−1, −1), negatives around (1, −1) and (−1, 1), standard deviation 0.4. What
    little slope the regression finds is chance, so the true map can have any shape: a valley, a hill, or a wave.

    Parameters
    ----------
    n : int
        Number of rows, besides the 600 that train the regression.
    rng : int, numpy.random.Generator or None
        The seed or generator.

    Returns
    -------
    Simulation

    Examples
    --------
    >>> from benchmarks.papers.planes import xor
    >>> data = xor(2000, rng=0)
    >>> bool(abs(data.scores - 0.5).max() < 0.2), bool(data.probabilities.max() > 0.9)
    (True, True)
    """
    return _scored(n, _corners(1.0), _corners(-1.0), rng)


def circular(n: int, *, rng: Seed = 0) -> Simulation:
    """Scores of a logistic regression on a disc of radius 1 inside a ring from 1.25 to 2.

    Positives fill the disc, negatives the ring, both evenly. The true map is a hill: only scores in the middle
    can be positive.

    Parameters
    ----------
    n : int
        Number of rows, besides the 600 that train the regression.
    rng : int, numpy.random.Generator or None
        The seed or generator.

    Returns
    -------
    Simulation

    Examples
    --------
    >>> from benchmarks.papers.planes import circular
    >>> data = circular(2000, rng=0)
    >>> float(data.probabilities.min())
    0.0
    """
    return _scored(n, _ring(0.0, 1.0), _ring(*RING), rng)


def separable(n: int, *, rng: Seed = 0) -> Simulation:
    """Scores of a logistic regression on two discs of radius 1 at (1.25, 0) and (−1.25, 0), half a unit apart.

    The two classes never meet, so nearly every true probability is 0 or 1, while the penalty of the regression
    keeps its scores away from both.

    Parameters
    ----------
    n : int
        Number of rows, besides the 600 that train the regression.
    rng : int, numpy.random.Generator or None
        The seed or generator.

    Returns
    -------
    Simulation

    Examples
    --------
    >>> from benchmarks.papers.planes import separable
    >>> data = separable(2000, rng=0)
    >>> bool(((data.scores > 0.5) == data.labels).mean() > 0.99)
    True
    """
    return _scored(n, _ring(0.0, 1.0, CENTRE), _ring(0.0, 1.0, -CENTRE), rng)


def _scored(n: int, positive: _Shape, negative: _Shape, rng: Seed) -> Simulation:
    generator = np.random.default_rng(rng)
    model = LogisticRegression().fit(*_points(N_TRAIN, positive, negative, generator))
    points, labels = _points(n, positive, negative, generator)
    weights = model.coef_[0]
    length = float(np.hypot(*weights))
    projection = points @ weights / length
    in_positive = positive.density(projection, weights / length)
    in_negative = negative.density(projection, weights / length)
    scores = expit(length * projection + model.intercept_[0])
    return Simulation(scores, labels.astype(np.int64), in_positive / (in_positive + in_negative))


def _points(n: int, positive: _Shape, negative: _Shape, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    labels = rng.random(n) < 0.5
    points = np.empty((n, 2))
    points[labels] = positive.draw(rng, int(labels.sum()))
    points[~labels] = negative.draw(rng, int((~labels).sum()))
    return points, labels


def _corners(sign: float) -> _Shape:
    """Two Gaussian clusters at ±(1, sign)."""

    def draw(generator: np.random.Generator, n: int) -> np.ndarray:
        side = np.where(generator.random(n) < 0.5, 1.0, -1.0)
        return side[:, None] * np.array([1.0, sign]) + XOR_SPREAD * generator.standard_normal((n, 2))

    def density(t: np.ndarray, direction: np.ndarray) -> np.ndarray:
        centre = float(direction @ (1.0, sign))
        return sum((np.exp(-0.5 * ((t - c) / XOR_SPREAD) ** 2) for c in (centre, -centre)), np.zeros(len(t)))

    return _Shape(draw, density)


def _ring(inner: float, outer: float, x: float = 0.0) -> _Shape:
    """Points evenly between two radii around (x, 0); the inner radius 0 is a full disc."""

    def draw(generator: np.random.Generator, n: int) -> np.ndarray:
        radius = np.sqrt(generator.uniform(inner**2, outer**2, n))
        angle = generator.uniform(0.0, 2.0 * np.pi, n)
        return np.column_stack((x + radius * np.cos(angle), radius * np.sin(angle)))

    def density(t: np.ndarray, direction: np.ndarray) -> np.ndarray:
        # A chord of a disc of radius R at distance t has length 2 √(R² − t²).
        squared = (t - x * direction[0]) ** 2
        chord = np.sqrt(np.maximum(outer**2 - squared, 0.0)) - np.sqrt(np.maximum(inner**2 - squared, 0.0))
        return chord / (outer**2 - inner**2)

    return _Shape(draw, density)
