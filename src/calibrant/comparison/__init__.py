"""Comparison of calibration methods on the same data: a cross-validated table with "do nothing" in it."""

from calibrant.comparison.compare import compare
from calibrant.comparison.result import Comparison, MethodFit, MethodResult

__all__ = ["Comparison", "MethodFit", "MethodResult", "compare"]


def __dir__() -> list[str]:
    return __all__  # not its files, of which one is called like the function `compare`, so that it cannot be lazy
