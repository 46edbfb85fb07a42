"""Names of a package that are imported when they are first used; its stub, ``__init__.pyi``, is the list of them."""

import re
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

# A line of a stub: `from calibrant.tally import Tally as Tally`.
IMPORT = re.compile(r"^from (calibrant\S*) import (\w+) as \2$", re.MULTILINE)
# Below this line of a stub stand names that can be imported but are not listed: each is documented in its own room.
ALIASES = "# Aliases"


def attach_stub(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of the package whose ``__init__.py`` is `file`."""
    listed, _, aliases = Path(file).with_suffix(".pyi").read_text(encoding="utf-8").partition(ALIASES)
    home = {name: module for module, name in IMPORT.findall(listed)}
    return attach(package, home, {name: module for module, name in IMPORT.findall(aliases)})


def attach(
    package: str, home: Mapping[str, str], aliases: Mapping[str, str] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """The same from a dictionary with the module of each name; a name whose module is the package is a module."""
    homes = {**home, **(aliases or {})}
    own = vars(sys.modules[package])

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        is_module = homes[name] == package
        module = import_module(f"{package}.{name}" if is_module else homes[name])
        own[name] = module if is_module else getattr(module, name)
        return own[name]

    # What a module imports for itself, and its submodules, are nobody's business.
    return get, lambda: sorted({*home, *(name for name in own if name.startswith("__"))}), sorted(home)
