"""Days of rows of every shape, calibrated or shifted."""

import numpy as np
from scipy import special

from calibrant import Tally

GRID = np.linspace(0.02, 0.98, 49)


def shifted(amount):
    return lambda p: special.expit(special.logit(p) + amount)


def day(rng, n=200, truth=lambda p: p):
    counts = np.bincount(rng.integers(0, len(GRID), n), minlength=len(GRID))
    kept = counts > 0
    positives = rng.binomial(counts[kept], truth(GRID[kept]))
    return Tally(GRID[kept], positives.astype(float), counts[kept].astype(float))


def matrix(rng, n, n_classes=3, order=None):
    """Probabilities (n, K) and labels; with an order, the columns are mixed up."""
    p = rng.dirichlet(np.ones(n_classes), n)
    y = (p.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1).clip(max=n_classes - 1)
    return (p if order is None else p[:, order]), y


def segments(rng, n, names, shifts=()):
    return {name: day(rng, n, shifted(dict(shifts).get(name, 0.0))) for name in names}


def judges(n, seed, shift=0.0):
    """Several scores of rows, with gaps and levels, and labels whose probability they tell."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=n)
    scores = {name: special.expit(truth + rng.normal(size=n)) for name in ("anna", "ben")}
    scores["ben"][rng.random(n) < 0.2] = np.nan
    return scores | {"source": rng.choice(["web", "book"], n)}, rng.random(n) < special.expit(2.0 * truth + shift)


#: Arguments of `updated` for a look of about n rows that are calibrated.
SHAPES = {
    "score": lambda rng, n: (day(rng, n),),
    "matrix": lambda rng, n: matrix(rng, n, 4),
    "segments": lambda rng, n: (segments(rng, max(n // 6, 1), range(6)),),
}
