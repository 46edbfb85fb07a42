from calibrant._numerics.beta import clopper_pearson as clopper_pearson
from calibrant.reliability.result import Reliability as Reliability
from calibrant.reliability.result import binned_points as binned_points
from calibrant.reliability.result import reliability as reliability
from calibrant.reliability.result import visible_range as visible_range
