import importlib.metadata

import pytest

from calibrant import _plugins


@pytest.fixture
def entries(monkeypatch):
    """Entry points that an installation is made to have."""
    offered = []
    monkeypatch.setattr(_plugins, "entry_points", lambda group: [e for e in offered if e.group == group])
    _plugins.load_plugins.cache_clear()
    yield offered
    _plugins.load_plugins.cache_clear()


def entry(name, value, group=_plugins.GROUP):
    return importlib.metadata.EntryPoint(name, value, group)


def test_what_is_offered_is_loaded_once(entries):
    entries += [entry("isotonic", "calibrant:IsotonicCalibration"), entry("other", "nowhere:Nothing", "another.group")]
    ((first, cls),) = _plugins.load_plugins()
    assert (first.name, cls.__name__) == ("isotonic", "IsotonicCalibration")
    entries.clear()
    assert len(_plugins.load_plugins()) == 1


@pytest.mark.parametrize("value", ["a_package_that_is_not_there:Method", "calibrant:NoSuchMethod"])
def test_a_broken_entry_point_gives_one_warning_and_no_crash(entries, value):
    entries += [entry("broken", value), entry("isotonic", "calibrant:IsotonicCalibration")]
    with pytest.warns(RuntimeWarning, match=f"'broken' of the package '{value}' is left out") as warned:
        loaded = _plugins.load_plugins()
    assert len(warned) == 1
    assert [e.name for e, _ in loaded] == ["isotonic"]
    assert _plugins.load_plugins() is loaded  # and no second warning
