"""The functions of `fast_math.h` for Python: only tests call them, kernels have them inside."""

from calibrant._compiled import fast_math


def exp(x: float) -> float:
    """As `fast_math.exp`."""
    return fast_math.exp(x)


def log(x: float) -> float:
    """As `fast_math.log`."""
    return fast_math.log(x)


def log_beta(a: float, b: float) -> float:
    """As `fast_math.log_beta`."""
    return fast_math.log_beta(a, b)
