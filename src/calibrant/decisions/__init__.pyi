from calibrant.decisions.costs import cost_threshold as cost_threshold
from calibrant.decisions.costs import relative_economic_value as relative_economic_value
from calibrant.decisions.net_benefits import DecisionCurve as DecisionCurve
from calibrant.decisions.net_benefits import decision_curve as decision_curve
from calibrant.decisions.net_benefits import net_benefit as net_benefit
from calibrant.decisions.value import ValueOfCalibration as ValueOfCalibration
from calibrant.decisions.value import value_of_calibration as value_of_calibration
