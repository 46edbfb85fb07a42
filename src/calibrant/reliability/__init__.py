"""The numbers of a reliability diagram: binned points with exact intervals, a curve, and how the scores lie."""

from calibrant._numerics.binomial_limits import clopper_pearson
from calibrant.reliability.result import Reliability, reliability
from calibrant.reliability.tables import binned_points, visible_range

__all__ = ["Reliability", "binned_points", "clopper_pearson", "reliability", "visible_range"]
