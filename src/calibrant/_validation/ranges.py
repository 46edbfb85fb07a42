"""Numbers that are right in kind, but so small or large that arithmetic with them goes wrong."""

import numpy as np

from calibrant._typing import Floats
from calibrant.errors import InvalidInputError

LEAST_WEIGHT, MOST_WEIGHT = 1e-100, 1e15  # beyond them sums and logarithms of weights lose their digits
LARGEST_LOGIT = 1e6  # a network in half precision ends at 65 504; squares of squares of this are still numbers
NARROWEST_RANGE = 1e-290  # slopes over less than this overflow


def check_weights(weights: Floats) -> None:
    """Refuse weights that can be no numbers of rows."""
    largest = float(weights.max(initial=0.0))
    smallest = float(weights[weights > 0.0].min(initial=np.inf))
    if largest > MOST_WEIGHT or float(weights.sum()) > MOST_WEIGHT or smallest < LEAST_WEIGHT:
        raise InvalidInputError(
            f"`sample_weight` must have positive entries of at least {LEAST_WEIGHT:g} that sum to at most "
            f"{MOST_WEIGHT:g}, since a weight is a number of rows; got {smallest:g} to {largest:g}. Divide all weights "
            "by their mean."
        )


def check_scores(scores: Floats) -> None:
    """Refuse scores that differ, but by less than arithmetic with slopes can bear."""
    low, high = float(scores.min(initial=np.inf)), float(scores.max(initial=-np.inf))
    if low < high and high - low < NARROWEST_RANGE:
        raise InvalidInputError(
            f"`scores` must span more than {NARROWEST_RANGE:g} unless they are all equal; got a range of "
            f"{high - low:g}. Multiply them by a constant first."
        )


def check_logits(logits: Floats) -> None:
    """Refuse logits that no network gives."""
    largest = float(np.abs(logits).max(initial=0.0))
    if largest > LARGEST_LOGIT:
        raise InvalidInputError(
            f"`scores` that are logits must lie within ±{LARGEST_LOGIT:g}; got {largest:g} in size. Divide all of them "
            "by one constant first; where large negative ones mask a class, raise these to -1000."
        )
