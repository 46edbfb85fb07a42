"""The logit link, the one clipping policy of the library, and Platt's targets.

Every place that takes the logarithm of a probability goes through this file. Probabilities are moved to
[EPS, 1 - EPS] first, where EPS is the spacing of doubles at 1, the smallest value for which both ends differ
from 0 and 1. So logits lie within ±36.04 and a log-loss never exceeds 36.04 per row.
"""

import numpy as np

from calibrant._typing import Floats

EPS = float(np.finfo(np.float64).eps)


def clip(probabilities: Floats) -> Floats:
    """Move probabilities away from 0 and 1, so that their logarithms exist."""
    return np.clip(probabilities, EPS, 1.0 - EPS)


def logit(probabilities: Floats) -> Floats:
    """ln(p / (1 - p)) of the clipped probabilities."""
    clipped = clip(probabilities)
    out: Floats = np.log(clipped / (1.0 - clipped))
    return out


def expit(logits: Floats) -> Floats:
    """1 / (1 + exp(-z)); where the exponential overflows, it is 0, as it should be."""
    with np.errstate(over="ignore"):
        out: Floats = 1.0 / (1.0 + np.exp(-logits))
    return out


def log_odds_features(probabilities: Floats) -> tuple[Floats, Floats]:
    """Return ln p and -ln(1 - p) of the clipped probabilities, the two slopes of beta calibration."""
    clipped = clip(probabilities)
    return np.log(clipped), -np.log1p(-clipped)


def platt_targets(positives: Floats, totals: Floats) -> Floats:
    """Expected positives of each cell when labels 1 and 0 become (n1 + 1)/(n1 + 2) and 1/(n0 + 2).

    These are the posterior means of each class's label under a uniform prior (Platt 1999, section 2.2).
    """
    negatives = totals - positives
    n_positive, n_negative = positives.sum(), negatives.sum()
    high = float((n_positive + 1.0) / (n_positive + 2.0))
    low = float(1.0 / (n_negative + 2.0))
    return positives * high + negatives * low
