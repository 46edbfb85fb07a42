from importlib.machinery import EXTENSION_SUFFIXES

import pytest

from calibrant._compiled import fallback


def test_plain_kernels_are_warned_of(tmp_path):
    (tmp_path / "loess.py").touch()
    with pytest.warns(RuntimeWarning, match="Install a wheel"):
        fallback.warn_if_slow(tmp_path)
    (tmp_path / f"loess{EXTENSION_SUFFIXES[0]}").touch()
    fallback.warn_if_slow(tmp_path)  # a second warning would be an error


def test_the_stand_in_for_a_released_lock_is_a_context():
    with fallback.nogil:
        pass
    with fallback.nogil:  # again
        pass
