"""Straight lines between points, also where two scores are so close that a slope overflows."""

import numpy as np

from calibrant._typing import Floats


def interpolate(scores: Floats, x: Floats, y: Floats) -> Floats:
    """Straight lines between the points (x, y), constant outside; x increases strictly."""
    found = np.interp(scores, x, y)
    if not np.isfinite(found).all():  # a slope between two points overflowed: no score is far from either
        nearest = y[np.maximum(np.searchsorted(x, scores, side="right") - 1, 0)]
        return np.where(np.isfinite(found), found, nearest)
    return found
