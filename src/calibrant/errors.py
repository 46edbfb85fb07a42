"""The exceptions that calibrant raises on purpose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sklearn.exceptions import NotFittedError as _SklearnNotFittedError

    class NotFittedError(_SklearnNotFittedError):
        """A calibrator was asked to predict before it was fitted."""


__all__ = ["InvalidInputError", "MissingExtraError", "ModelFileError", "NotFittedError"]


class InvalidInputError(ValueError):
    """The data or an option cannot be used; the message says what must hold, what was got and what to do.

    Examples
    --------
    >>> from calibrant import PlattScaling
    >>> from calibrant.errors import InvalidInputError
    >>> try:
    ...     PlattScaling().fit([0.1, float("nan")], [0, 1])
    ... except InvalidInputError as error:
    ...     print(error)
    `scores` must be finite; got NaN at index 1 (1 value is NaN or inf). Drop or repair these rows first.
    """


class MissingExtraError(ImportError):
    """A feature needs an optional package that is not installed.

    Examples
    --------
    >>> from calibrant.errors import MissingExtraError
    >>> issubclass(MissingExtraError, ImportError)
    True
    """


class ModelFileError(ValueError):
    """A saved file is damaged, foreign, or written by a newer version.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from calibrant import load
    >>> from calibrant.errors import ModelFileError
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "map.json"
    ...     _ = path.write_text("not a map")
    ...     try:
    ...         load(path)
    ...     except ModelFileError as error:
    ...         print("is not a calibrant model" in str(error))
    True
    """


def __getattr__(name: str) -> Any:
    """Make `NotFittedError` when it is first asked for.

    Its base is scikit-learn's, which takes longer to import than applying a saved map to a table: whoever fits has it
    loaded anyway, whoever only applies or reads a help text need not wait for it.
    """
    if name != "NotFittedError":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from sklearn.exceptions import NotFittedError as SklearnNotFittedError

    class NotFittedError(SklearnNotFittedError):
        """A calibrator was asked to predict before it was fitted.

        Examples
        --------
        >>> from calibrant import PlattScaling
        >>> from calibrant.errors import NotFittedError
        >>> try:
        ...     PlattScaling().predict([0.5])
        ... except NotFittedError as error:
        ...     print(error)
        This PlattScaling is not fitted yet; call `fit` before using it.
        """

    NotFittedError.__qualname__ = name  # not a local one: it can be pickled
    globals()[name] = NotFittedError
    return NotFittedError


def __dir__() -> list[str]:
    return __all__
