"""Packages of others: optional ones, imported where a feature needs them, and methods found by their entry points."""

from __future__ import annotations

import warnings
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from calibrant.errors import MissingExtraError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint
    from types import ModuleType

GROUP = "calibrant.methods"


def require(module: str, extra: str, caller: str) -> ModuleType:
    """Import `module`, or say which extra of calibrant brings it."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise MissingExtraError(
            f'{caller} needs the package `{package}`, which is not installed; run: pip install "calibrant[{extra}]"'
        ) from error


@cache
def load_plugins() -> tuple[tuple[EntryPoint, Any], ...]:
    """Import what other packages offer, once; one that cannot be imported gives a warning and is left out."""
    from importlib.metadata import entry_points  # takes a twentieth of the time of `calibrant --help`

    loaded = []
    for entry in entry_points(group=GROUP):
        try:
            loaded.append((entry, entry.load()))
        except Exception as error:  # whatever is wrong in there must not stop calibrant
            warn_of(entry, error)
    return tuple(loaded)


def warn_of(entry: EntryPoint, error: Exception) -> None:
    """Say which package has the broken entry point."""
    package = entry.dist.name if entry.dist else entry.value
    warnings.warn(
        f"The method {entry.name!r} of the package {package!r} is left out, because it cannot be loaded: "
        f"{type(error).__name__}: {error} Update or remove the package.",
        RuntimeWarning,
        stacklevel=2,
    )
