"""Three methods, a function and a metric, made with nothing but the public names of calibrant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from calibrant import CalibrationMap, Tally
from calibrant.calibrators.base import Calibrator
from calibrant.export.expression_graph import LOWERINGS, Node
from calibrant.maps.functions import MapFunction, Step, register_function
from calibrant.maps.matrix import MatrixMap, MatrixMember
from calibrant.multiclass.base import MatrixCalibrator


class BaseRate(Calibrator):
    """Predict the share of positives, whatever the score."""

    name = "base_rate"
    title = "base rate"
    description = "the share of positives, whatever the score"
    reference = "the simplest thing that can work"
    monotone = True

    def fit_map(self, tally: Tally) -> CalibrationMap:
        return CalibrationMap(Step([], [tally.base_rate]), self.space, self.monotone, type(self).__name__)


@register_function
@dataclass(frozen=True, eq=False)
class Shrunk(MapFunction):
    """(1 − share) · score + share · rate: a function that calibrant does not have."""

    share: float
    rate: float
    name: ClassVar[str] = "shrunk"

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        return (1.0 - self.share) * scores + self.share * self.rate


def _write_shrunk(function: Shrunk, score: Node) -> Node:
    return score * (1.0 - function.share) + function.share * function.rate


LOWERINGS[Shrunk] = _write_shrunk  # so that it can be exported


class Shrinkage(Calibrator):
    """Move every probability towards the share of positives, the more the fewer rows there are."""

    name = "shrinkage"
    title = "shrinkage"
    description = "the score, drawn towards the share of positives where rows are few"
    reference = "Stein 1956, in spirit"
    space = "probability"
    monotone = True

    def __init__(self, *, prior_rows: float = 20.0) -> None:
        self.prior_rows = prior_rows

    def fit_map(self, tally: Tally) -> CalibrationMap:
        share = self.prior_rows / (self.prior_rows + tally.total)
        return CalibrationMap(Shrunk(share, tally.base_rate), self.space, self.monotone, type(self).__name__)


class UniformMix(MatrixCalibrator):
    """Mix the probabilities of all classes with equal ones, the more the fewer rows there are."""

    name = "uniform_mix"
    title = "uniform mixture"
    description = "class probabilities, drawn towards equal ones where rows are few"
    reference = "Laplace 1814, in spirit"

    def __init__(self, *, prior_rows: float = 20.0, space: str = "probability") -> None:
        self.prior_rows = prior_rows
        self.space = space

    def fit_map(self, scores: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> MatrixMap:  # noqa: ARG002
        share = self.prior_rows / (self.prior_rows + weights.sum())
        # A slope of −1 takes the scores away, which leaves all classes equal.
        members = (MatrixMember(1.0 - share), MatrixMember(share, slope=-1.0))
        return MatrixMap(tuple(self.classes_.tolist()), self.space, 1.0, members, method=type(self).__name__)


def calibration_in_the_large(tally: Tally) -> float:
    """Measure by how much the mean prediction misses the share of positives."""
    return abs(float(tally.totals @ tally.scores) / tally.total - tally.base_rate)
