"""Pictures in the style of scikit-learn's displays: numbers first, drawing with `plot`."""

from calibrant.displays.calibration_map import CalibrationMapDisplay
from calibrant.displays.decision_curve import DecisionCurveDisplay
from calibrant.displays.murphy import MurphyDisplay
from calibrant.displays.reliability import ReliabilityDisplay
from calibrant.displays.walk_forward import WalkForwardDisplay

__all__ = [
    "CalibrationMapDisplay",
    "DecisionCurveDisplay",
    "MurphyDisplay",
    "ReliabilityDisplay",
    "WalkForwardDisplay",
]
