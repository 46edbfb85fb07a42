"""Comparison of calibration methods on the same data: a cross-validated table with "do nothing" in it."""

from calibrant.comparison.compare import compare
from calibrant.comparison.matrix_compare import MatrixComparison, compare_matrix
from calibrant.comparison.table import Comparison, MethodFit, MethodResult

__all__ = ["Comparison", "MatrixComparison", "MethodFit", "MethodResult", "compare", "compare_matrix"]
