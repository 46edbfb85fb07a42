"""Pictures in the style of scikit-learn's displays: numbers first, drawing with `plot`."""

from calibrant.displays.acceptance import AcceptanceDisplay
from calibrant.displays.calibration_map import CalibrationMapDisplay
from calibrant.displays.curves import DecisionCurveDisplay, MurphyDisplay, WalkForwardDisplay
from calibrant.displays.reliability import ReliabilityDisplay

__all__ = [
    "AcceptanceDisplay",
    "CalibrationMapDisplay",
    "DecisionCurveDisplay",
    "MurphyDisplay",
    "ReliabilityDisplay",
    "WalkForwardDisplay",
]
