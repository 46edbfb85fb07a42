"""Methods of other packages, found by their entry points in the group ``calibrant.methods``."""

from __future__ import annotations

import warnings
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

GROUP = "calibrant.methods"


@cache
def load_plugins() -> tuple[tuple[EntryPoint, Any], ...]:
    """Import what other packages offer, once; one that cannot be imported gives a warning and is left out."""
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
