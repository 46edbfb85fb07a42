"""Every test of a compiled kernel runs twice: on the compiled kernel and on the same file as plain Python."""

import functools
import importlib
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

import calibrant
import calibrant._compiled

PACKAGE = "calibrant._compiled"
SOURCES = Path(calibrant._compiled.__file__).parent
COMPILED = sorted(path.stem for path in SOURCES.glob("*.pxd") if path.stem != "fast_math")


class PlainFinder:
    """Finds the kernels' Python files, never what was compiled from them."""

    @staticmethod
    def find_spec(name, _path, _target=None):
        if name != PACKAGE and not name.startswith(PACKAGE + "."):
            return None
        file = SOURCES / (name.removeprefix(PACKAGE).removeprefix(".") or "__init__")
        places = [str(SOURCES)] if name == PACKAGE else None
        source = file.with_suffix(".py")
        return spec_from_file_location(
            name, source, loader=SourceFileLoader(name, str(source)), submodule_search_locations=places
        )


@functools.cache
def plain_kernels():
    """Each compiled kernel's module as plain Python, by name; the modules that are in use stay as they are."""
    ours = {name: module for name, module in sys.modules.items() if name.split(".")[:2] == PACKAGE.split(".")}
    for name in ours:
        del sys.modules[name]
    sys.meta_path.insert(0, PlainFinder)
    try:
        return {name: importlib.import_module(f"{PACKAGE}.{name}") for name in COMPILED}
    finally:
        sys.meta_path.remove(PlainFinder)
        for name in [name for name in sys.modules if name.split(".")[:2] == PACKAGE.split(".")]:
            del sys.modules[name]
        sys.modules.update(ours)
        calibrant._compiled = ours[PACKAGE]


def plain_twin(value):
    """The same module, function or class as plain Python; None for everything else."""
    if isinstance(value, ModuleType):
        return plain_kernels().get(value.__name__.removeprefix(PACKAGE + "."))
    module = str(getattr(value, "__module__", "")).removeprefix(PACKAGE + ".")
    return getattr(plain_kernels().get(module), getattr(value, "__name__", ""), None)


def pytest_generate_tests(metafunc):
    uses_kernels = any(plain_twin(value) is not None for value in vars(metafunc.module).values())
    if uses_kernels and not metafunc.definition.get_closest_marker("compiled"):
        metafunc.parametrize("kernels", ["compiled", "plain"], indirect=True)


@pytest.fixture(autouse=True)
def kernels(request, monkeypatch):
    """Which kernels the test's module sees."""
    if getattr(request, "param", "compiled") == "plain":
        for name, value in list(vars(request.module).items()):
            twin = plain_twin(value)
            if twin is not None:
                monkeypatch.setattr(request.module, name, twin)
