import pytest

from calibrant._compiled import fallback


def test_plain_kernels_warn_once():
    fallback._warn.cache_clear()
    fallback.warn_if_slow("loess.cpython-311-x86_64-linux-gnu.so")
    with pytest.warns(RuntimeWarning, match="Install a wheel"):
        fallback.warn_if_slow("loess.py")
    fallback.warn_if_slow("polyline.py")  # a second warning would be an error


def test_the_stand_in_for_a_released_lock_is_a_context():
    with fallback.nogil:
        pass
    with fallback.nogil:  # again
        pass
