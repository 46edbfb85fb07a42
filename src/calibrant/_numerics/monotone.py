"""The nearest sequence that never falls."""

import numpy as np

from calibrant._typing import Floats


def nearest_monotone(y: Floats) -> Floats:
    """The non-decreasing sequence with the smallest largest difference to y, along the last axis.

    It is the middle between the highest value so far and the lowest value to come (isotonic regression in the
    maximum norm). A sequence that rises already stays as it is, and no rising truth gets farther away. O(n).
    """
    so_far = np.maximum.accumulate(y, axis=-1)
    to_come = np.minimum.accumulate(y[..., ::-1], axis=-1)[..., ::-1]
    out: Floats = 0.5 * (so_far + to_come)
    return out
