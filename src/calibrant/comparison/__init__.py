"""Comparison of calibration methods on the same data: a cross-validated table with "do nothing" in it."""

from __future__ import annotations

from calibrant.comparison.compare import compare
from calibrant.comparison.table import Comparison, MethodFit, MethodResult

__all__ = ["Comparison", "MethodFit", "MethodResult", "compare"]
