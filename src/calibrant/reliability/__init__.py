"""The numbers of a reliability diagram: binned points with exact intervals, a curve, and how the scores lie."""

from calibrant._numerics.beta import clopper_pearson
from calibrant.reliability.result import Reliability, binned_points, reliability, visible_range

__all__ = ["Reliability", "binned_points", "clopper_pearson", "reliability", "visible_range"]
