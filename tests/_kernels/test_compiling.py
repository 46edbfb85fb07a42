"""Kernels are cached where that is possible, and run all the same where it is not."""

import numba.core.caching
import pytest

from calibrant._kernels import compiling
from calibrant._kernels.compiling import njit


def twice(x):
    return 2 * x


def test_a_kernel_is_what_numba_makes_of_it():
    compiled = njit(cache=True, nogil=True)(twice)
    assert compiled(21) == 42
    assert compiled.py_func is twice


def test_without_a_folder_for_the_cache_kernels_are_compiled_and_one_warning_says_so(monkeypatch):
    monkeypatch.setattr(numba.core.caching.CacheImpl, "_locator_classes", [])
    compiling._warn.cache_clear()
    with pytest.warns(UserWarning, match="set NUMBA_CACHE_DIR"):
        compiled = njit(cache=True, nogil=True)(twice)
    assert compiled(21) == 42
    assert njit(cache=True)(twice)(21) == 42  # a second warning would be an error


def test_other_errors_are_not_hidden(monkeypatch):
    def broken(**_):
        raise RuntimeError("out of order")

    monkeypatch.setattr(compiling.numba, "njit", broken)
    with pytest.raises(RuntimeError, match="out of order"):
        njit(cache=True)(twice)
