"""The functions that a fitted map can be made of: frozen, of one score, each a handful of numbers.

A function holds plain numbers and arrays (or other functions), evaluates with numpy alone, and lists the scores where
its pieces meet, so that it can be inverted and exported exactly.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar, TypeVar

import numpy as np

from calibrant._numerics import bins, links
from calibrant._numerics.piecewise import interpolate
from calibrant._optional import load_plugins
from calibrant._typing import Floats
from calibrant.errors import InvalidInputError, ModelFileError
from calibrant.maps.files import plain_fields

__all__ = [
    "MAP_FUNCTIONS",
    "Beta",
    "Chain",
    "Identity",
    "Linear",
    "LogitLinear",
    "MapFunction",
    "Sigmoid",
    "Step",
    "register_function",
]

SHOWN_NUMBERS = 4


@dataclass(frozen=True, eq=False, repr=False)
class MapFunction:
    """A function of scores. Abstract: subclasses give the fields, the formula and the knots.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.maps.functions import MapFunction, Step
    >>> function = MapFunction.from_dict({"kind": "step", "edges": [0.5], "values": [0.1, 0.8]})
    >>> function(np.array([0.3, 0.7])).tolist(), function.to_dict() == Step([0.5], [0.1, 0.8]).to_dict()
    ([0.1, 0.8], True)
    """

    name: ClassVar[str] = ""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, list | np.ndarray):
                array = np.array(value, dtype=np.float64)
                array.setflags(write=False)
                object.__setattr__(self, field.name, array)
            elif isinstance(value, np.generic):
                object.__setattr__(self, field.name, value.item())

    def __call__(self, scores: Floats) -> Floats:
        """Probabilities of checked scores."""
        raise NotImplementedError

    def knots(self) -> Floats:
        """Finite scores between which the function is monotone; empty when it is monotone everywhere."""
        return np.empty(0)

    def is_sound(self) -> bool:
        """Tell whether the numbers, read from a file, can be those of a map."""
        numbers = [value for f in fields(self) if isinstance(value := getattr(self, f.name), np.ndarray | float | int)]
        return all(bool(np.isfinite(value).all()) for value in numbers)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{f.name}={_short(getattr(self, f.name))}' for f in fields(self))})"

    def to_dict(self) -> dict[str, Any]:
        """Return the name of the function and its numbers, as plain Python."""
        return {"kind": self.name} | plain_fields(self)

    @staticmethod
    def from_dict(data: dict[str, Any]) -> MapFunction:
        """Return the function that `to_dict` described."""
        try:
            if data["kind"] not in MAP_FUNCTIONS:
                load_plugins()
            cls = MAP_FUNCTIONS[data["kind"]]
            return cls(**{f.name: _function_or_value(data[f.name]) for f in fields(cls)})
        except (KeyError, TypeError, ValueError) as error:
            raise ModelFileError(
                f"This is not a calibration map that this version of calibrant knows ({error!r}). If another package "
                "defines its function, import that package first."
            ) from error


def _short(value: Any) -> str:
    """A few numbers as they are, many by how many they are."""
    if not isinstance(value, np.ndarray):
        return repr(value)
    return repr(value.tolist()) if len(value) <= SHOWN_NUMBERS else f"[{len(value)} numbers]"


def _function_or_value(value: Any) -> Any:
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return tuple(MapFunction.from_dict(part) for part in value)
    return value


def _rises(values: Floats) -> bool:
    return bool((np.diff(values) > 0.0).all())


def _are_probabilities(values: Floats) -> bool:
    return bool(((values >= 0.0) & (values <= 1.0)).all())


def _are_points(x: Floats, y: Floats) -> bool:
    return x.ndim == 1 and x.shape == y.shape and len(x) > 0


@dataclass(frozen=True, eq=False, repr=False)
class Identity(MapFunction):
    """The score itself.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.maps.functions import Identity
    >>> Identity()(np.array([0.3])).tolist()
    [0.3]
    """

    name: ClassVar[str] = "identity"

    def __call__(self, scores: Floats) -> Floats:
        return scores.copy()


@dataclass(frozen=True, eq=False, repr=False)
class Step(MapFunction):
    """values[i] on edges[i-1] < score <= edges[i]; one value more than inner edges.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.maps.functions import Step
    >>> Step(edges=[0.5], values=[0.1, 0.8])(np.array([0.5, 0.6])).tolist()
    [0.1, 0.8]
    """

    edges: Floats
    values: Floats
    name: ClassVar[str] = "step"

    def __call__(self, scores: Floats) -> Floats:
        return self.values[bins.bin_of(scores, self.edges)]

    def knots(self) -> Floats:
        return np.unique(np.concatenate((self.edges, np.nextafter(self.edges, np.inf))))

    def is_sound(self) -> bool:
        fits = self.edges.ndim == self.values.ndim == 1 and len(self.values) == len(self.edges) + 1
        return fits and super().is_sound() and _rises(self.edges) and _are_probabilities(self.values)


@dataclass(frozen=True, eq=False, repr=False)
class Linear(MapFunction):
    """Straight lines between the points (x, y), constant outside; x increases strictly.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.maps.functions import Linear
    >>> Linear(x=[0.0, 1.0], y=[0.2, 0.6])(np.array([0.5, 2.0])).tolist()
    [0.4, 0.6]
    """

    x: Floats
    y: Floats
    name: ClassVar[str] = "linear"

    def __call__(self, scores: Floats) -> Floats:
        return interpolate(scores, self.x, self.y)

    def knots(self) -> Floats:
        return self.x

    def is_sound(self) -> bool:
        return _are_points(self.x, self.y) and super().is_sound() and _rises(self.x) and _are_probabilities(self.y)


@dataclass(frozen=True, eq=False, repr=False)
class LogitLinear(MapFunction):
    """expit of straight lines between the points (x, y) in logit(score), continued outside with the end slopes.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.maps.functions import LogitLinear
    >>> function = LogitLinear(x=[0.0, 1.0], y=[0.0, 2.0], slope_below=1.0, slope_above=1.0)
    >>> function(np.array([0.3, 0.5])).round(3).tolist()
    [0.3, 0.5]
    """

    x: Floats
    y: Floats
    slope_below: float
    slope_above: float
    name: ClassVar[str] = "logit_linear"

    def __call__(self, scores: Floats) -> Floats:
        z = links.logit(scores)
        below = self.slope_below * np.minimum(z - self.x[0], 0.0)
        above = self.slope_above * np.maximum(z - self.x[-1], 0.0)
        return links.expit(np.interp(z, self.x, self.y) + below + above)

    def knots(self) -> Floats:
        return np.unique(links.expit(self.x))

    def is_sound(self) -> bool:
        return _are_points(self.x, self.y) and super().is_sound() and _rises(self.x)


@dataclass(frozen=True, eq=False, repr=False)
class Sigmoid(MapFunction):
    """expit(slope · t + intercept), where t is the score or, with ``link="logit"``, its logit.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.maps.functions import Sigmoid
    >>> Sigmoid(slope=2.0, intercept=0.0, link="logit")(np.array([0.5, 0.75])).round(3).tolist()
    [0.5, 0.9]
    """

    slope: float
    intercept: float
    link: str
    name: ClassVar[str] = "sigmoid"

    def __call__(self, scores: Floats) -> Floats:
        t = links.logit(scores) if self.link == "logit" else scores
        with np.errstate(over="ignore"):  # a huge score rightly ends at 0 or 1
            return links.expit(self.slope * t + self.intercept)


@dataclass(frozen=True, eq=False, repr=False)
class Beta(MapFunction):
    """expit(a · ln s − b · ln(1 − s) + c).

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.maps.functions import Beta
    >>> Beta(a=1.0, b=1.0, c=0.0)(np.array([0.3])).round(3).tolist()
    [0.3]
    """

    a: float
    b: float
    c: float
    name: ClassVar[str] = "beta"

    def __call__(self, scores: Floats) -> Floats:
        log_s, minus_log_rest = links.log_odds_features(scores)
        return links.expit(self.a * log_s + self.b * minus_log_rest + self.c)

    def knots(self) -> Floats:
        # The slope a/s + b/(1-s) changes its sign once, at s = a/(a-b), when a and b have opposite signs.
        return np.array([self.a / (self.a - self.b)]) if self.a * self.b < 0 else np.empty(0)


@dataclass(frozen=True, eq=False, repr=False)
class Chain(MapFunction):
    """parts[-1](… parts[0](score)): one map after another.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.maps.functions import Chain, Linear, Step
    >>> Chain(parts=(Linear([0.0, 1.0], [0.0, 0.5]), Step([0.3], [0.1, 0.9])))(np.array([0.5, 0.8])).tolist()
    [0.1, 0.9]
    """

    parts: tuple[MapFunction, ...]
    name: ClassVar[str] = "chain"

    def __call__(self, scores: Floats) -> Floats:
        for part in self.parts:
            scores = part(scores)
        return scores

    def knots(self) -> Floats:
        return self.parts[0].knots()

    def is_sound(self) -> bool:
        return len(self.parts) > 0 and all(part.is_sound() for part in self.parts)


#: The functions by the name under which they are saved.
MAP_FUNCTIONS: dict[str, type[MapFunction]] = {
    function.name: function for function in (Identity, Step, Linear, LogitLinear, Sigmoid, Beta, Chain)
}

AnyFunction = TypeVar("AnyFunction", bound=type[MapFunction])


def register_function(cls: AnyFunction) -> AnyFunction:
    """Let maps made of a function of your own be loaded; usable as a decorator above ``@dataclass``.

    The file names the function and holds its numbers; the code is that of the class, never of the file. A package with
    an entry point in the group ``calibrant.methods`` is imported when a file names a function that is not known yet.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from calibrant.maps.functions import Step, register_function
    >>> @dataclass(frozen=True, eq=False)
    ... class Mine(Step): ...
    >>> try:
    ...     register_function(Mine)
    ... except ValueError as error:
    ...     print(error)
    `name` of Mine must be its own; 'step' is Step.
    """
    if "__dataclass_fields__" not in vars(cls) or not cls.name:
        raise InvalidInputError(f"`cls` must be a dataclass, itself and not by its base, with a name; got {cls!r}.")
    taken = MAP_FUNCTIONS.get(cls.name, cls)
    if (taken.__module__, taken.__qualname__) != (cls.__module__, cls.__qualname__):
        raise InvalidInputError(f"`name` of {cls.__name__} must be its own; {cls.name!r} is {taken.__name__}.")
    MAP_FUNCTIONS[cls.name] = cls
    return cls
