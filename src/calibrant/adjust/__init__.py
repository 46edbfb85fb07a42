"""Maps and calibrators for other populations: prior shifts, sampling, a portfolio's mean; and their explanations."""

from calibrant.adjust.anchor import anchor
from calibrant.adjust.attributions import attributions
from calibrant.adjust.calibrator import AdjustedCalibrator
from calibrant.adjust.prior import adjust_prior, adjust_sampling
from calibrant.adjust.unknown_prior import PriorEstimate, estimate_prior

__all__ = [
    "AdjustedCalibrator",
    "PriorEstimate",
    "adjust_prior",
    "adjust_sampling",
    "anchor",
    "attributions",
    "estimate_prior",
]
