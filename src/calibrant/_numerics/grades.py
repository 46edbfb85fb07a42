"""How much less grades vary than labels of yes and no with the same mean."""

import numpy as np

from calibrant._typing import Floats


def grade_dispersion(scores: Floats, grades: Floats) -> float:
    """The variance of grades in [0, 1] at a score, as a multiple φ ≤ 1 of that of labels, p (1 − p).

    Rows that are neighbours by score have nearly one mean p: half the squared difference of their grades estimates the
    variance, and a (1 − b), which is p (1 − p) on average, what labels would have. For labels both are the same. One
    pair of different labels is added, so that few grades, or equal ones, do not pass for knowledge. O(n log n).

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant._numerics.grades import grade_dispersion
    >>> grade_dispersion(np.arange(4.0), np.array([0.0, 1.0, 1.0, 0.0]))
    1.0
    >>> grade_dispersion(np.arange(3.0), np.array([0.5, 0.5, 0.5]))  # (0 + 1) / (1 + 1)
    0.5
    """
    ordered = grades[np.argsort(scores, kind="stable")]
    a, b = ordered[:-1], ordered[1:]
    varied, possible = ((a - b) ** 2).sum(), (a * (1.0 - b) + b * (1.0 - a)).sum()
    return float((varied + 1.0) / (possible + 1.0))
