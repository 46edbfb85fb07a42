"""The exceptions that calibrant raises on purpose."""

from __future__ import annotations

from sklearn.exceptions import NotFittedError as _SklearnNotFittedError

__all__ = [
    "InvalidInputError",
    "MissingExtraError",
    "ModelFileError",
    "NotFittedError",
]


class InvalidInputError(ValueError):
    """The data or an option cannot be used; the message says what must hold, what was got and what to do."""


class NotFittedError(_SklearnNotFittedError):
    """A calibrator was asked to predict before it was fitted."""


class MissingExtraError(ImportError):
    """A feature needs an optional package that is not installed."""


class ModelFileError(ValueError):
    """A saved file is damaged, foreign, or written by a newer version."""
