"""The name of each method, under which everything else finds it: built in, registered, or of another package."""

from __future__ import annotations

import difflib
import inspect
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from calibrant._optional import load_plugins, warn_of
from calibrant.calibrators import METHODS
from calibrant.errors import InvalidInputError

if TYPE_CHECKING:
    from calibrant.calibrators.base import Estimator

__all__ = ["DEFAULT_METHOD", "METHODS", "create", "describe", "get", "matrix_twin", "name_of", "names", "register"]

#: The method that is taken where none is named, for scores of every shape.
DEFAULT_METHOD = "blend"

#: What other libraries call methods of this one.
ELSEWHERE = {
    "sigmoid": "platt",
    "logistic": "platt",
    "isotonic_regression": "isotonic",
    "temperature_scaling": "temperature",
}

#: What scores of each shape are, in words.
SHAPES = {
    "score": "one score for each row",
    "matrix": "a column for each class",
    "segments": "a score with the segment of its row",
    "panel": "several scores for each row",
}

#: The shapes whose methods have names of their own: segments share the curve of one score.
OWN_METHODS = ("score", "matrix", "panel")

_REGISTERED: dict[tuple[str, str], type[Estimator]] = {}

AnyEstimator = TypeVar("AnyEstimator", bound="type[Estimator]")


def names(shape: str = "score") -> tuple[str, ...]:
    """Return the names of all methods for a shape of scores: built in, then registered, then of other packages.

    Examples
    --------
    >>> from calibrant.calibrators import registry
    >>> registry.names()[:3], registry.names("matrix")[:2]
    (('identity', 'platt', 'temperature'), ('identity', 'temperature'))
    """
    _register_plugins()
    return (*METHODS[shape], *(name for own, name in _REGISTERED if own == shape))


def get(name: str, shape: str = "score") -> type[Estimator]:
    """Return the class of the method `name` for a shape of scores.

    Examples
    --------
    >>> from calibrant.calibrators import registry
    >>> registry.get("abb").__name__, registry.get("blend", "matrix").__name__
    ('ABB', 'MatrixBlend')
    """
    if name in METHODS[shape]:  # nothing else is imported for it
        module, cls = METHODS[shape][name]
        return getattr(import_module(module), cls)
    if name not in names(shape):
        raise InvalidInputError(
            f"`method` must be one of {', '.join(sorted(names(shape)))}, or a calibrator; got {name!r}."
            f"{_hint(name, shape)}"
        )
    return _REGISTERED[shape, name]


def _hint(name: str, shape: str) -> str:
    if name in ELSEWHERE:
        return f" It is called {ELSEWHERE[name]!r} here."
    others = [other for other in METHODS if other != shape and name in names(other)]
    if others:
        return f" {name!r} takes {SHAPES[others[0]]}, and these are {SHAPES[shape]}."
    near = difflib.get_close_matches(name.lower(), names(shape), n=1)
    return f" Did you mean {near[0]!r}?" if near else ""


def describe() -> list[dict[str, Any]]:
    """Return what each method can do, by its name; one for several shapes is described as that of the first.

    Examples
    --------
    >>> from calibrant.calibrators import registry
    >>> blend = next(one for one in registry.describe() if one["default"])
    >>> blend["name"], blend["intervals"], blend["several classes"]
    ('blend', True, True)
    """
    of_shape = {shape: names(shape) for shape in OWN_METHODS}
    first = {name: shape for shape in reversed(OWN_METHODS) for name in of_shape[shape]}
    classes: list[Any] = [get(name, first[name]) for name in dict.fromkeys(sum(of_shape.values(), ()))]
    return [
        {
            "name": cls.name,
            "default": cls.name == DEFAULT_METHOD,
            "class": cls.__name__,
            "summary": cls.description,
            "scores": "any" if takes_any_score(cls) else "probabilities",
            "monotone": getattr(cls, "monotone", False) is True,
            "intervals": cls.bayesian,
            "several classes": cls.name in of_shape["matrix"],
            "reference": cls.reference,
        }
        for cls in classes
    ]


def takes_any_score(cls: Any) -> bool:
    """Whether a method takes decision scores, such as logits, or probabilities alone."""
    return "space" in cls._get_param_names() or cls.space == "decision"


def create(name: str, shape: str = "score", **parameters: Any) -> Any:
    """Make a new calibrator of the method `name`.

    Examples
    --------
    >>> from calibrant.calibrators import registry
    >>> registry.create("histogram", n_bins=20)
    HistogramBinning(n_bins=20)
    """
    return get(name, shape)(**parameters)


def matrix_twin(calibrator: Estimator) -> Any:
    """Make the calibrator of the same name for a column for each of several classes, with the same options.

    Examples
    --------
    >>> from calibrant import Blend
    >>> from calibrant.calibrators import registry
    >>> registry.matrix_twin(Blend(space="decision"))
    MatrixBlend(space='decision')
    """
    cls = type(calibrator)
    if name_of(cls) not in names("matrix"):
        raise InvalidInputError(
            f"`scores` must be one score for each row for {cls.__name__}; got a column for each class. Methods "
            f"for those are {', '.join(sorted(names('matrix')))}. Or calibrate one column, with `y == that class`, or "
            "all by CalibratedClassifier(…, multiclass='one_vs_rest')."
        )
    twin = get(cls.name, "matrix")
    defaults, options = cls().get_params(), calibrator.get_params()
    shared = {name: value for name, value in options.items() if name in twin._get_param_names()}
    dropped = [name for name in options if name not in shared and options[name] != defaults[name]]
    if dropped:
        raise InvalidInputError(
            f"`{dropped[0]}` of {cls.__name__} is for one score; got a column for each class. Leave it out."
        )
    return twin(**shared)


def register(cls: AnyEstimator) -> AnyEstimator:
    """Make a method known by its `name` wherever names are taken; usable as a decorator.

    Its `shape` says which scores it is for. The same class may be registered twice, and a class that was defined anew,
    as in a notebook, replaces its old self.

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
    from calibrant.calibrators.base import Estimator

    anything: Any = cls
    if not inspect.isclass(anything) or not issubclass(anything, Estimator) or inspect.isabstract(anything):
        raise InvalidInputError(
            f"`register` takes a subclass of Calibrator or MatrixCalibrator that defines `fit_map`; got {cls!r}."
        )
    if not cls.name.isidentifier():
        raise InvalidInputError(
            f"`name` of {cls.__name__} must be letters, digits and underscores, such as 'base_rate'; got {cls.name!r}."
        )
    built_in = cls.name in METHODS[cls.shape]
    taken = get(cls.name, cls.shape) if built_in else _REGISTERED.get((cls.shape, cls.name), cls)
    if (taken.__module__, taken.__qualname__) != (cls.__module__, cls.__qualname__):
        raise InvalidInputError(
            f"`name` of {cls.__name__} must be its own; {cls.name!r} is {taken.__module__}.{taken.__qualname__}."
        )
    if not built_in:
        _REGISTERED[cls.shape, cls.name] = cls
    return cls


def name_of(calibrator: Estimator | type[Estimator]) -> str:
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
    known = cls.name in METHODS[cls.shape] or cls.name in names(cls.shape)
    return cls.name if known and get(cls.name, cls.shape) is cls else cls.__name__


@cache
def _register_plugins() -> None:
    for entry, cls in load_plugins():
        try:
            register(cls)
        except InvalidInputError as error:
            warn_of(entry, error)
