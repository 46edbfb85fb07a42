"""The shapes that a fitted map can have: a few frozen functions of one score, each a handful of numbers.

A function holds plain numbers and arrays (or other functions), evaluates with numpy alone, and lists the scores where
its pieces meet, so that it can be inverted and exported exactly.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from calibrant._kernels import bins, links
from calibrant._typing import Floats, Ints
from calibrant.errors import ModelFileError

__all__ = [
    "MAP_FUNCTIONS",
    "Beta",
    "Chain",
    "Identity",
    "Linear",
    "LogitLinear",
    "MapFunction",
    "Mixture",
    "PoissonSteps",
    "Sigmoid",
    "Step",
]

TINY = float(np.finfo(np.float64).tiny)
BLOCK = 16384


@dataclass(frozen=True, eq=False)
class MapFunction:
    """A function of scores. Abstract: subclasses give the fields, the formula and the knots.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.map_functions import MapFunction, Step
    >>> function = MapFunction.from_dict({"kind": "step", "edges": [0.5], "values": [0.1, 0.8]})
    >>> function(np.array([0.3, 0.7])).tolist(), function.to_dict() == Step([0.5], [0.1, 0.8]).to_dict()
    ([0.1, 0.8], True)
    """

    name: ClassVar[str]

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

    def to_dict(self) -> dict[str, Any]:
        """The name of the function and its numbers, as plain Python."""
        return {"kind": self.name} | {f.name: _plain(getattr(self, f.name)) for f in fields(self)}

    @staticmethod
    def from_dict(data: dict[str, Any]) -> MapFunction:
        """The function that `to_dict` described."""
        try:
            cls = MAP_FUNCTIONS[data["kind"]]
            given = {f.name: _form_or_value(data[f.name]) for f in fields(cls)}
            function = cls(**given)
        except (KeyError, TypeError, ValueError) as error:
            raise ModelFileError(
                f"This is not a calibration map that this version of calibrant knows ({error!r})."
            ) from error
        return function


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, tuple):
        return [part.to_dict() for part in value]
    return value


def _form_or_value(value: Any) -> Any:
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return tuple(MapFunction.from_dict(part) for part in value)
    return value


@dataclass(frozen=True, eq=False)
class Identity(MapFunction):
    """The score itself.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.map_functions import Identity
    >>> Identity()(np.array([0.3])).tolist()
    [0.3]
    """

    name: ClassVar[str] = "identity"

    def __call__(self, scores: Floats) -> Floats:
        return scores.copy()


@dataclass(frozen=True, eq=False)
class Step(MapFunction):
    """values[i] on edges[i-1] < score <= edges[i]; one value more than inner edges.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.map_functions import Step
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


@dataclass(frozen=True, eq=False)
class Linear(MapFunction):
    """Straight lines between the points (x, y), constant outside; x increases strictly.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.map_functions import Linear
    >>> Linear(x=[0.0, 1.0], y=[0.2, 0.6])(np.array([0.5, 2.0])).tolist()
    [0.4, 0.6]
    """

    x: Floats
    y: Floats
    name: ClassVar[str] = "linear"

    def __call__(self, scores: Floats) -> Floats:
        return np.interp(scores, self.x, self.y)

    def knots(self) -> Floats:
        return self.x


@dataclass(frozen=True, eq=False)
class PoissonSteps(MapFunction):
    """The mean of random steps: in each gap between the scores x, steps fall at the points of a Poisson process.

    At a score with the distances l and r to its neighbours x[i] and x[i+1], and h = l + r,

        base[i] + Σ_g left[g, i] · (e^(−rates[g] l) − e^(−rates[g] h)) / (1 − e^(−rates[g] h))
                + Σ_g right[g, i] · (e^(−rates[g] r) − e^(−rates[g] h)) / (1 − e^(−rates[g] h)).

    The two quotients run from 1 to 0 and from 0 to 1; they are the probabilities that a gap with a step has all its
    steps to the right, or to the left, of the score. `rates` has shape (G,), `left` and `right` (G, m − 1), `base`
    (m − 1,). Constant outside x. Computed by expm1, because the plain formula loses all digits in small gaps.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.map_functions import PoissonSteps
    >>> function = PoissonSteps(x=[0.0, 1.0], rates=[1.0], base=[0.2], left=[[0.0]], right=[[0.6]])
    >>> function(np.array([0.0, 0.5, 1.0])).round(3).tolist()
    [0.2, 0.427, 0.8]
    """

    x: Floats
    rates: Floats
    base: Floats
    left: Floats
    right: Floats
    name: ClassVar[str] = "poisson_steps"

    def __call__(self, scores: Floats) -> Floats:
        out = np.empty(len(scores))
        for start in range(0, len(scores), BLOCK):  # blocks stay in the processor's cache
            part = np.clip(scores[start : start + BLOCK], self.x[0], self.x[-1])
            gap = np.clip(np.searchsorted(self.x, part, side="right") - 1, 0, len(self.base) - 1)
            out[start : start + BLOCK] = self._value(gap, part)
        return links.clip(out)

    def _value(self, gap: Ints, scores: Floats) -> Floats:
        """The formula at scores that lie in the given gaps."""
        total = self.base[gap]
        with np.errstate(over="ignore", under="ignore"):  # far from a neighbour the exponential is rightly 0
            before, after = scores - self.x[gap], self.x[gap + 1] - scores
            for rate, left, right in zip(self.rates, self.left, self.right, strict=True):
                whole = np.expm1(-rate * np.diff(self.x))
                whole[whole > -TINY] = -np.inf  # a gap too small for doubles has no steps
                share = np.expm1(-rate * before) / whole[gap]  # that a gap with a step has one before the score
                total += left[gap] * (1.0 - share) + right[gap] * share * np.exp(-rate * after)
        return total

    def knots(self) -> Floats:
        # In a gap the map can turn once: halve the gaps whose two ends lean in opposite directions.
        gap = np.arange(len(self.base))
        low, high = self.x[:-1].copy(), self.x[1:].copy()
        step = 1e-6 * (high - low)
        rises = self._value(gap, low + step) >= self._value(gap, low)
        turns = rises != (self._value(gap, high) >= self._value(gap, high - step))
        gap, low, high, rises, step = gap[turns], low[turns], high[turns], rises[turns], step[turns]
        for _ in range(40):
            middle = low + 0.5 * (high - low)
            ahead = (self._value(gap, middle + step) >= self._value(gap, middle - step)) == rises
            low, high = np.where(ahead, middle, low), np.where(ahead, high, middle)
        return np.unique(np.concatenate((self.x, low)))


@dataclass(frozen=True, eq=False)
class LogitLinear(MapFunction):
    """expit of straight lines between the points (x, y) in logit(score), continued outside with the end slopes.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.map_functions import LogitLinear
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


@dataclass(frozen=True, eq=False)
class Sigmoid(MapFunction):
    """expit(slope · t + intercept), where t is the score or, with ``link="logit"``, its logit.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.map_functions import Sigmoid
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


@dataclass(frozen=True, eq=False)
class Beta(MapFunction):
    """expit(a · ln s − b · ln(1 − s) + c).

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.map_functions import Beta
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


@dataclass(frozen=True, eq=False)
class Mixture(MapFunction):
    """Σ weights[i] · parts[i](score); the weights are non-negative and sum to one.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.map_functions import Identity, Mixture, Step
    >>> Mixture(weights=[0.5, 0.5], parts=(Identity(), Step([], [0.2])))(np.array([0.6])).round(3).tolist()
    [0.4]
    """

    weights: Floats
    parts: tuple[MapFunction, ...]
    name: ClassVar[str] = "mixture"

    def __call__(self, scores: Floats) -> Floats:
        total = sum((w * part(scores) for w, part in zip(self.weights, self.parts, strict=True)), 0.0 * scores)
        return np.clip(total, 0.0, 1.0)

    def knots(self) -> Floats:
        return np.unique(np.concatenate([part.knots() for part in self.parts]))


@dataclass(frozen=True, eq=False)
class Chain(MapFunction):
    """parts[-1](… parts[0](score)): one map after another.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.map_functions import Chain, Linear, Step
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


#: The functions by the name under which they are saved.
MAP_FUNCTIONS: dict[str, type[MapFunction]] = {
    function.name: function
    for function in (Identity, Step, Linear, PoissonSteps, LogitLinear, Sigmoid, Beta, Mixture, Chain)
}
