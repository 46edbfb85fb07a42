"""exp, log and log-beta for kernels that run as plain Python.

Compiled kernels have the functions of `fast_math.h` in the place of these: the same mathematics, as arithmetic that
a compiler can do for many numbers at a time. `fast_math_for_tests` shows those to Python.
"""

import math

_HALF_LOG_2PI = 0.5 * math.log(2.0 * math.pi)


def exp(x: float) -> float:
    """e^x for x <= 700; everything below -700 counts as -700, that is 1e-304."""
    return math.exp(max(x, -700.0))


def log(x: float) -> float:
    """The natural logarithm of a positive normal double."""
    return math.log(x)


def _stirling(y: float) -> float:
    """What Stirling's formula adds to (x - 1/2) ln x - x + ln(2π)/2 at x = 1/y; wrong by less than 1e-14 for x >= 8."""
    z = y * y
    p = -691.0 / 360360.0 + z * (1.0 / 156.0)
    p = -1.0 / 1680.0 + z * (1.0 / 1188.0 + z * p)
    return y * (1.0 / 12.0 + z * (-1.0 / 360.0 + z * (1.0 / 1260.0 + z * p)))


def _rise(x: float) -> float:
    """Γ(x + 8) / Γ(x)."""
    return x * (x + 7.0) * ((x + 1.0) * (x + 6.0)) * ((x + 2.0) * (x + 5.0) * ((x + 3.0) * (x + 4.0)))


def log_beta(a: float, b: float) -> float:
    """The logarithm of B(a, b) in the entropy form, whose error grows with the answer and not with a ln a."""
    # B(a, b) = B(a + 8, b) · Γ(a + b + 8) Γ(a) / (Γ(a + b) Γ(a + 8)) brings small arguments to Stirling's range.
    above = below = 1.0
    if a < 8.0:
        above, below, a = _rise(a + b), _rise(a), a + 8.0
    if b < 8.0:
        above, below, b = above * _rise(a + b), below * _rise(b), b + 8.0
    c = a + b
    rest = _stirling(1.0 / a) + _stirling(1.0 / b) - _stirling(1.0 / c) + _HALF_LOG_2PI
    return (a - 0.5) * log(a / c) + (b - 0.5) * log(b / c) + log(above / (below * math.sqrt(c))) + rest
