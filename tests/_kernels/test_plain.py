import pytest

from calibrant._kernels import plain


def test_plain_kernels_warn_once():
    plain._warn.cache_clear()
    plain.warn_if_slow("loess.cpython-311-x86_64-linux-gnu.so")
    with pytest.warns(RuntimeWarning, match="Install a wheel"):
        plain.warn_if_slow("loess.py")
    plain.warn_if_slow("polyline.py")  # a second warning would be an error


def test_the_stand_in_for_a_released_lock_is_a_context():
    with plain.nogil:
        pass
    with plain.nogil:  # again
        pass
