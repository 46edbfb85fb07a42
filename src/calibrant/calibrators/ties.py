"""Few distinct scores with many rows each: every score may be off the curve by an amount of its own."""

import numpy as np
from scipy.special import softmax

from calibrant._numerics import links
from calibrant._typing import Floats
from calibrant.tally import Tally

ROWS_A_SCORE = 20.0  # on average; scores that are shared by fewer are places on a scale and not answers
SCALES = (0.3, 0.6)  # of the deviations, in logits, equally probable
LONGEST = 2.0  # logits; the expansion does not reach farther


def has_few_scores(tally: Tally) -> bool:
    """Tell whether scores are tied so much that each has rows of its own to speak for it."""
    return 2 <= len(tally) <= tally.total / ROWS_A_SCORE


def deviations(logits: Floats, cells: Tally, rng: np.random.Generator) -> Floats:
    """What to add to curves at the scores of `cells`, (d, m) as `logits`, drawn given each curve.

    The model is logit p = curve + δ with δ ~ N(0, τ²) at each score by itself, and the same τ at all scores. Given a
    curve, the likelihood of its labels is expanded to second order at δ = 0, so that τ, on a grid, has a posterior in
    closed form, and δ given τ is normal. O(d m).
    """
    p = links.expit(logits)
    weight, gap = cells.totals * p * (1.0 - p), cells.positives - cells.totals * p
    variances = np.square(SCALES)[:, None, None]
    widened = 1.0 + variances * weight
    evidence = 0.5 * (variances * gap**2 / widened - np.log(widened)).sum(axis=2)
    below = np.cumsum(softmax(evidence, axis=0), axis=0)
    chosen = np.minimum((below < rng.random(len(logits))).sum(axis=0), len(SCALES) - 1)
    variance = np.square(SCALES)[chosen, None]
    widened = 1.0 + variance * weight
    drawn = variance * gap / widened + np.sqrt(variance / widened) * rng.standard_normal(logits.shape)
    return np.clip(drawn, -LONGEST, LONGEST)
