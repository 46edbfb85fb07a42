import math

import pytest

from calibrant._optional import require
from calibrant.errors import MissingExtraError


def test_gives_the_module():
    assert require("math", "plot", "anything") is math


def test_says_which_extra_is_missing():
    with pytest.raises(
        MissingExtraError, match=r'drawing needs the package `no_such`.*pip install "calibrant\[plot\]"'
    ):
        require("no_such.sub", "plot", "drawing")
