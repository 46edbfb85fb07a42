"""The name of each method, under which everything else finds it: built in, registered, or of another package."""

from __future__ import annotations

import difflib
import inspect
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from calibrant import calibrators
from calibrant._optional import load_plugins, warn_of
from calibrant.calibrators import MATRIX_METHODS, METHODS
from calibrant.errors import InvalidInputError

if TYPE_CHECKING:
    from calibrant.calibrators.base import Calibrator

__all__ = ["DEFAULT_METHOD", "METHODS", "create", "get", "name_of", "names", "register"]

#: The method that is taken where none is named.
DEFAULT_METHOD = "blend"

#: What other libraries call methods of this one.
ELSEWHERE = {
    "sigmoid": "platt",
    "logistic": "platt",
    "isotonic_regression": "isotonic",
    "temperature_scaling": "temperature",
}

_REGISTERED: dict[str, type[Calibrator]] = {}

AnyCalibrator = TypeVar("AnyCalibrator", bound="type[Calibrator]")


def names() -> tuple[str, ...]:
    """Return the names of all methods: built in, then registered, then of other packages.

    Examples
    --------
    >>> from calibrant.calibrators import registry
    >>> registry.names()[:3]
    ('identity', 'platt', 'temperature')
    """
    _register_plugins()
    return (*METHODS, *_REGISTERED)


def get(name: str) -> type[Calibrator]:
    """Return the class of the method `name`; those for matrices of several classes are found here, too.

    Examples
    --------
    >>> from calibrant.calibrators import registry
    >>> registry.get("abb").__name__
    'ABB'
    """
    if name in METHODS:  # nothing else is imported for it
        cls: type[Calibrator] = getattr(calibrators, METHODS[name][1])
        return cls
    if name in MATRIX_METHODS:
        matrix: type[Calibrator] = getattr(calibrators, MATRIX_METHODS[name][1])
        return matrix
    if name not in names():
        raise InvalidInputError(
            f"`method` must be one of {', '.join(sorted(names()))}, or a calibrator; got {name!r}.{_hint(name)}"
        )
    return _REGISTERED[name]


def _hint(name: str) -> str:
    if name in ELSEWHERE:
        return f" It is called {ELSEWHERE[name]!r} here."
    near = difflib.get_close_matches(name.lower(), names(), n=1)
    return f" Did you mean {near[0]!r}?" if near else ""


def create(name: str, **parameters: Any) -> Calibrator:
    """Make a new calibrator of the method `name`.

    Examples
    --------
    >>> from calibrant.calibrators import registry
    >>> registry.create("histogram", n_bins=20)
    HistogramBinning(n_bins=20)
    """
    return get(name)(**parameters)


def register(cls: AnyCalibrator) -> AnyCalibrator:
    """Make a method known by its `name` wherever names are taken; usable as a decorator.

    The same class may be registered twice, and a class that was defined anew, as in a notebook, replaces its old self.

    Examples
    --------
    >>> from calibrant import IsotonicCalibration
    >>> from calibrant.calibrators import registry
    >>> class Mine(IsotonicCalibration):
    ...     name = "isotonic"
    >>> try:
    ...     registry.register(Mine)
    ... except ValueError as error:
    ...     print(error)
    `name` of Mine must be its own; 'isotonic' is calibrant.calibrators.isotonic.IsotonicCalibration.
    """
    from calibrant.calibrators.base import Calibrator

    anything: Any = cls
    if not inspect.isclass(anything) or not issubclass(anything, Calibrator) or inspect.isabstract(anything):
        raise InvalidInputError(f"`register` takes a subclass of Calibrator that defines `fit_map`; got {cls!r}.")
    if not cls.name.isidentifier():
        raise InvalidInputError(
            f"`name` of {cls.__name__} must be letters, digits and underscores, such as 'base_rate'; got {cls.name!r}."
        )
    taken = get(cls.name) if cls.name in METHODS else _REGISTERED.get(cls.name, cls)
    if (taken.__module__, taken.__qualname__) != (cls.__module__, cls.__qualname__):
        raise InvalidInputError(
            f"`name` of {cls.__name__} must be its own; {cls.name!r} is {taken.__module__}.{taken.__qualname__}."
        )
    if cls.name not in METHODS:
        _REGISTERED[cls.name] = cls
    return cls


def name_of(calibrator: Calibrator | type[Calibrator]) -> str:
    """Return the name under which a calibrator, or its class, is known, or else the name of the class.

    Examples
    --------
    >>> from calibrant import ABB, IsotonicCalibration
    >>> from calibrant.calibrators import registry
    >>> class Mine(IsotonicCalibration): ...
    >>> registry.name_of(ABB()), registry.name_of(IsotonicCalibration), registry.name_of(Mine())
    ('abb', 'isotonic', 'Mine')
    """
    cls: Any = calibrator if inspect.isclass(calibrator) else type(calibrator)
    known = cls.name in METHODS or cls.name in names()
    name: str = cls.name if known and get(cls.name) is cls else cls.__name__
    return name


@cache
def _register_plugins() -> None:
    for entry, cls in load_plugins():
        try:
            register(cls)
        except InvalidInputError as error:
            warn_of(entry, error)
