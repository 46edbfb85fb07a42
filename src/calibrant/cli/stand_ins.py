"""scikit-learn without the packages that it loads for itself and no command uses.

Its base class loads all of scipy's statistics and pandas, which takes longer than most commands. While it is loaded,
modules stand in for them that load the real ones when something is taken from them. This is for the process of a
command alone; the library leaves imports as they are.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any

__all__ = ["load_scikit_learn", "stand_ins"]

UNUSED = ("pandas", "scipy.stats")


def load_scikit_learn() -> None:
    """Load what methods derive from."""
    with stand_ins(*UNUSED):
        import_module("sklearn.base")


@contextmanager
def stand_ins(*names: str) -> Iterator[None]:
    """Inside the block, importing these modules loads nothing; what was imported there loads them when it is used.

    After the block nobody finds the stand-ins any more: some packages look whether pandas is there, and use it then.
    """
    for name in names:
        sys.modules.setdefault(name, _StandIn(name))
    try:
        yield
    finally:
        for name in names:
            if isinstance(sys.modules.get(name), _StandIn):
                del sys.modules[name]


class _StandIn(ModuleType):
    """A module that has not been loaded."""

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)
