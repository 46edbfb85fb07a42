import importlib.metadata
import math

import pytest

from calibrant import _optional
from calibrant._optional import require
from calibrant.errors import MissingExtraError


def test_gives_the_module():
    assert require("math", "plot", "anything") is math


def test_says_which_extra_is_missing():
    with pytest.raises(
        MissingExtraError, match=r'drawing needs the package `no_such`.*pip install "calibrant\[plot\]"'
    ):
        require("no_such.sub", "plot", "drawing")


@pytest.fixture
def entries(monkeypatch):
    """Entry points that an installation is made to have."""
    offered = []
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [e for e in offered if e.group == group])
    _optional.load_plugins.cache_clear()
    yield offered
    _optional.load_plugins.cache_clear()


def entry(name, value, group=_optional.GROUP):
    return importlib.metadata.EntryPoint(name, value, group)


def test_what_is_offered_is_loaded_once(entries):
    entries += [entry("isotonic", "calibrant:IsotonicCalibration"), entry("other", "nowhere:Nothing", "another.group")]
    ((first, cls),) = _optional.load_plugins()
    assert (first.name, cls.__name__) == ("isotonic", "IsotonicCalibration")
    entries.clear()
    assert len(_optional.load_plugins()) == 1


@pytest.mark.parametrize("value", ["a_package_that_is_not_there:Method", "calibrant:NoSuchMethod"])
def test_a_broken_entry_point_gives_one_warning_and_no_crash(entries, value):
    entries += [entry("broken", value), entry("isotonic", "calibrant:IsotonicCalibration")]
    with pytest.warns(RuntimeWarning, match=f"'broken' of the package '{value}' is left out") as warned:
        loaded = _optional.load_plugins()
    assert len(warned) == 1
    assert [e.name for e, _ in loaded] == ["isotonic"]
    assert _optional.load_plugins() is loaded  # and no second warning
