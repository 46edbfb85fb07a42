"""The logit and the softmax, the one clipping policy of the library, and Platt's targets.

Every place that takes the logarithm of a probability goes through this file. Probabilities are moved to
[EPS, 1 - EPS] first, where EPS is the spacing of doubles at 1, the smallest value for which both ends differ
from 0 and 1. So logits lie within ±36.04 and a log-loss never exceeds 36.04 per row.
"""

import numpy as np

from calibrant._typing import Floats

EPS = float(np.finfo(np.float64).eps)
AT_THE_END = 1e-12  # as near to 0 or 1 as scores that count as one


def clip(probabilities: Floats) -> Floats:
    """Move probabilities away from 0 and 1, so that their logarithms exist."""
    return np.clip(probabilities, EPS, 1.0 - EPS)


def provable_ends(scores: Floats, totals: Floats) -> tuple[float, float]:
    """Between which probabilities sorted scores are believable: m rows tied at 0 or 1 prove no more than 1 / (m + 2).

    So says Laplace's rule of succession about m rows that all agree. Of the other rows no more are held with the tied
    ones than those are, so that a row or two at an end do not blur the rest. An end without rows stays 0 or 1.
    """
    return _provable_end(scores, totals), 1.0 - _provable_end(1.0 - scores[::-1], totals[::-1])


def _provable_end(distances: Floats, totals: Floats) -> float:
    if distances[0] > AT_THE_END:
        return 0.0
    tied = float(totals[0])
    beyond = int(np.searchsorted(np.cumsum(totals), 2.0 * tied))
    return min(1.0 / (tied + 2.0), float(distances[beyond]) if beyond < len(distances) else 1.0)


def logit(probabilities: Floats) -> Floats:
    """ln(p / (1 - p)) of the clipped probabilities."""
    clipped = clip(probabilities)
    return np.log(clipped / (1.0 - clipped))


def expit(logits: Floats) -> Floats:
    """1 / (1 + exp(-z)); where the exponential overflows, it is 0, as it should be."""
    with np.errstate(over="ignore"):
        return 1.0 / (1.0 + np.exp(-logits))


def log_sum(logits: Floats) -> Floats:
    """Ln(1 + Σ exp(z)) over the logits (n, q) of all outcomes but the reference."""
    return np.asarray(np.logaddexp.reduce(logits, axis=1, initial=0.0))


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


def softmax(logits: Floats) -> Floats:
    """Rows of probabilities, without overflow. O(n K)."""
    with np.errstate(over="ignore"):  # a logit infinitely below the largest rightly becomes 0
        powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def log_softmax(z: Floats) -> Floats:
    """Logarithms of the softmax of each row, without overflow."""
    shifted = z - z.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


def log_odds(log_p: Floats) -> Floats:
    """The log-odds, at most 35, from log p."""
    return log_p - np.log(np.maximum(-np.expm1(np.minimum(log_p, 0.0)), 1e-15))
