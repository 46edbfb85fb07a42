"""Platt's target correction, shared by the methods that offer it."""

from __future__ import annotations

from calibrant._typing import Floats


def platt_targets(positives: Floats, totals: Floats) -> Floats:
    """Expected positives of each cell when labels 1 and 0 become (n1 + 1)/(n1 + 2) and 1/(n0 + 2).

    These are the posterior means of each class's label under a uniform prior (Platt 1999, section 2.2).
    """
    negatives = totals - positives
    n_positive, n_negative = positives.sum(), negatives.sum()
    high = float((n_positive + 1.0) / (n_positive + 2.0))
    low = float(1.0 / (n_negative + 2.0))
    return positives * high + negatives * low
