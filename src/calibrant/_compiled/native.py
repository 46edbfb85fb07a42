"""Python's way to `fast_math.h`: to choose between builds by the processor, and to test what kernels have inside."""

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


def has_avx2() -> bool:
    """As `fast_math.has_avx2`."""
    return bool(fast_math.has_avx2())
