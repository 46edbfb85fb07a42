"""Doubles as integers of the same order, so that they can be packed, sorted and bisected exactly."""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from calibrant._typing import Floats

Ordinals: TypeAlias = npt.NDArray[np.int64]

_MAGNITUDE = np.int64(2**63 - 1)


def ordinal(values: Floats) -> Ordinals:
    """Integers that compare as the doubles do; neighbouring doubles differ by one. -0.0 comes before 0.0."""
    return _flip(values.view(np.int64))


def from_ordinal(ordinals: Ordinals) -> Floats:
    """The doubles that `ordinal` numbered."""
    return _flip(ordinals).view(np.float64)


def _flip(bits: Ordinals) -> Ordinals:
    # The patterns of negative doubles grow with the magnitude; flipping all bits but the sign turns them round.
    return bits ^ ((bits >> np.int64(63)) & _MAGNITUDE)
