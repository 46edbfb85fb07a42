"""The worth of probabilities to someone who acts on them: net benefit, costs, and the value of calibrating first."""

from __future__ import annotations

from calibrant.decisions.cost_curve import CostCurve, cost_curve
from calibrant.decisions.decision_curve import DecisionCurve, decision_curve, posterior_decision_curve
from calibrant.decisions.economic_value import relative_economic_value
from calibrant.decisions.net_benefit import net_benefit
from calibrant.decisions.thresholds import cost_threshold
from calibrant.decisions.value import ValueOfCalibration, value_of_calibration

__all__ = [
    "CostCurve",
    "DecisionCurve",
    "ValueOfCalibration",
    "cost_curve",
    "cost_threshold",
    "decision_curve",
    "net_benefit",
    "posterior_decision_curve",
    "relative_economic_value",
    "value_of_calibration",
]
