"""The exceptions that calibrant raises on purpose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sklearn.exceptions import NotFittedError as _SklearnNotFittedError

    class NotFittedError(_SklearnNotFittedError):
        """A calibrator was asked to predict before it was fitted."""


__all__ = [
    "InvalidInputError",
    "MissingExtraError",
    "ModelFileError",
    "NotFittedError",
]


class InvalidInputError(ValueError):
    """The data or an option cannot be used; the message says what must hold, what was got and what to do."""


class MissingExtraError(ImportError):
    """A feature needs an optional package that is not installed."""


class ModelFileError(ValueError):
    """A saved file is damaged, foreign, or written by a newer version."""


def __getattr__(name: str) -> Any:
    """Make `NotFittedError` when it is first asked for.

    Its base is scikit-learn's, which takes longer to import than applying a saved map to a table: whoever fits has it
    loaded anyway, whoever only applies or reads a help text need not wait for it.
    """
    if name != "NotFittedError":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from sklearn.exceptions import NotFittedError as SklearnNotFittedError

    text = "A calibrator was asked to predict before it was fitted."
    made = type(name, (SklearnNotFittedError,), {"__doc__": text, "__module__": __name__})
    globals()[name] = made
    return made


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
