"""Rating grades: tests of their default rates, upper bounds where defaults are rare, and a master scale."""

from __future__ import annotations

from calibrant.credit.grade_tests import GradeTests, grade_tests
from calibrant.credit.low_default import low_default_bounds
from calibrant.credit.master_scale import MasterScale, master_scale

__all__ = ["GradeTests", "MasterScale", "grade_tests", "low_default_bounds", "master_scale"]
