"""Names of a package that are imported when they are first used."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def attach(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of a package, from its modules and the names that each defines.

    The names of a module are separated by spaces; those of the module "" are modules themselves.
    """
    home = {name: module for module, names in homes.items() for name in names.split()}
    own = vars(sys.modules[package])

    def get(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        try:
            module = import_module(f"{package}.{home[name] or name}")
        except ModuleNotFoundError as error:
            missing = (error.name or "").partition(".")[0]
            if missing not in ("scipy", "sklearn"):
                raise
            message = (
                f"{package}.{name} needs the package `{missing}`, which is not installed; run: pip install calibrant"
            )
            alone = "(loading and applying a saved map needs numpy alone)"
            raise ModuleNotFoundError(f"{message} {alone}.", name=error.name) from error
        own[name] = getattr(module, name) if home[name] else module
        return own[name]

    return get, lambda: sorted({*own, *home}), sorted(home)
