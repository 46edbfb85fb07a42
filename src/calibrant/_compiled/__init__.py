"""Loops in plain Python that Cython compiles when the package is built: arrays in, arrays out, no checks.

A kernel is a .py file with a .pxd file beside it, which gives the types of C to arguments and local names. So there is
one text, which runs uncompiled too; tests compare the two. In a kernel indices are never negative, `//` and `%` see no
negative numbers, functions called in loops come from `math` or `fast_math`, constants that loops use are declared, and
nothing is written but arguments and what is returned, so that threads may run kernels side by side.
"""

from pathlib import Path

from calibrant._compiled import fallback

fallback.warn_if_slow(Path(__file__).parent)
