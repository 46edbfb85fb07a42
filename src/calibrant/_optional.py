"""Optional packages are imported here, where the feature that needs them runs."""

from importlib import import_module
from types import ModuleType

from calibrant.errors import MissingExtraError


def require(module: str, extra: str, caller: str) -> ModuleType:
    """Import `module`, or say which extra of calibrant brings it."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise MissingExtraError(
            f'{caller} needs the package `{package}`, which is not installed; run: pip install "calibrant[{extra}]"'
        ) from error
