"""The shapes that a fitted map can have: a few frozen functions of one score, each a handful of numbers.

A form holds plain numbers and arrays (or other forms), evaluates with numpy alone, and lists the scores where
its pieces meet, so that it can be inverted and exported exactly.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from calibrant._kernels import bins, links
from calibrant._typing import Floats
from calibrant.errors import ModelFileError

__all__ = ["FORMS", "Beta", "Chain", "Form", "Identity", "Linear", "LogitLinear", "Mixture", "Sigmoid", "Step"]


@dataclass(frozen=True, eq=False)
class Form:
    """A function of scores. Abstract: subclasses give the fields, the formula and the knots."""

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
        """Finite scores between which the form is monotone; empty when it is monotone everywhere."""
        return np.empty(0)

    def to_dict(self) -> dict[str, Any]:
        """The name of the form and its numbers, as plain Python."""
        return {"form": self.name} | {f.name: _plain(getattr(self, f.name)) for f in fields(self)}

    @staticmethod
    def from_dict(data: dict[str, Any]) -> Form:
        """The form that `to_dict` described."""
        try:
            cls = FORMS[data["form"]]
            given = {f.name: _form_or_value(data[f.name]) for f in fields(cls)}
            form = cls(**given)
        except (KeyError, TypeError, ValueError) as error:
            raise ModelFileError(
                f"This is not a calibration map that this version of calibrant knows ({error!r})."
            ) from error
        return form


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, tuple):
        return [part.to_dict() for part in value]
    return value


def _form_or_value(value: Any) -> Any:
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return tuple(Form.from_dict(part) for part in value)
    return value


@dataclass(frozen=True, eq=False)
class Identity(Form):
    """The score itself."""

    name: ClassVar[str] = "identity"

    def __call__(self, scores: Floats) -> Floats:
        return scores.copy()


@dataclass(frozen=True, eq=False)
class Step(Form):
    """values[i] on edges[i-1] < score <= edges[i]; one value more than inner edges."""

    edges: Floats
    values: Floats
    name: ClassVar[str] = "step"

    def __call__(self, scores: Floats) -> Floats:
        return self.values[bins.bin_of(scores, self.edges)]

    def knots(self) -> Floats:
        return np.unique(np.concatenate((self.edges, np.nextafter(self.edges, np.inf))))


@dataclass(frozen=True, eq=False)
class Linear(Form):
    """Straight lines between the points (x, y), constant outside; x increases strictly."""

    x: Floats
    y: Floats
    name: ClassVar[str] = "linear"

    def __call__(self, scores: Floats) -> Floats:
        return np.interp(scores, self.x, self.y)

    def knots(self) -> Floats:
        return self.x


@dataclass(frozen=True, eq=False)
class LogitLinear(Form):
    """expit of straight lines between the points (x, y) in logit(score), continued outside with the end slopes."""

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
class Sigmoid(Form):
    """expit(slope · t + intercept), where t is the score or, with ``link="logit"``, its logit."""

    slope: float
    intercept: float
    link: str
    name: ClassVar[str] = "sigmoid"

    def __call__(self, scores: Floats) -> Floats:
        t = links.logit(scores) if self.link == "logit" else scores
        with np.errstate(over="ignore"):  # a huge score rightly ends at 0 or 1
            return links.expit(self.slope * t + self.intercept)


@dataclass(frozen=True, eq=False)
class Beta(Form):
    """expit(a · ln s − b · ln(1 − s) + c)."""

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
class Mixture(Form):
    """Σ weights[i] · parts[i](score); the weights are non-negative and sum to one."""

    weights: Floats
    parts: tuple[Form, ...]
    name: ClassVar[str] = "mixture"

    def __call__(self, scores: Floats) -> Floats:
        total = sum((w * part(scores) for w, part in zip(self.weights, self.parts, strict=True)), 0.0 * scores)
        return np.clip(total, 0.0, 1.0)

    def knots(self) -> Floats:
        return np.unique(np.concatenate([part.knots() for part in self.parts]))


@dataclass(frozen=True, eq=False)
class Chain(Form):
    """parts[-1](… parts[0](score)): one map after another."""

    parts: tuple[Form, ...]
    name: ClassVar[str] = "chain"

    def __call__(self, scores: Floats) -> Floats:
        for part in self.parts:
            scores = part(scores)
        return scores

    def knots(self) -> Floats:
        return self.parts[0].knots()


FORMS: dict[str, type[Form]] = {
    form.name: form for form in (Identity, Step, Linear, LogitLinear, Sigmoid, Beta, Mixture, Chain)
}
