"""Which calibration method suits these data, if any: a cross-validated table with "do nothing" in it."""

from __future__ import annotations

from calibrant.comparison.compare import compare
from calibrant.comparison.table import Comparison, MethodResult

__all__ = ["Comparison", "MethodResult", "compare"]
