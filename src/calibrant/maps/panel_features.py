"""Several scores of a row as the columns of a linear model: readings, curves, levels, gaps and pairs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from calibrant._numerics import links
from calibrant._typing import Floats, Ints
from calibrant.errors import ModelFileError
from calibrant.maps.files import read_floats
from calibrant.maps.functions import MapFunction
from calibrant.maps.panel_columns import CATEGORY

CLIPS = (1e-4, 0.02)  # readings of a probability: its logit, clipped far out or near
NEAR = 2.0  # deviations at which the second reading of any other number is clipped
RAW, CALIBRATED = (0, 1, 2), 3  # readings: two logits and the normal score of the rank; the logit of the single fit
WAVES = np.arange(1, 7)
PAIR_WAVES = 2
LARGEST_U, LARGEST_SIDE = 4.0, 2.5
LEAST = 1e-5  # of probabilities whose logits are taken
LEAST_MEAN = 1e-6


@dataclass(frozen=True, eq=False)
class NumericScore:
    """A numeric score: what it says alone, and its ranks, mean and deviation among the rows of the fit."""

    name: str
    space: str
    alone: MapFunction
    missing_rate: float
    scores: Floats
    ranks: Floats
    normals: Floats
    mean: float
    deviation: float

    def test_values(self, count: int) -> list[Any]:
        """Numbers over its whole range, and a missing one."""
        return [*np.linspace(self.scores[0], self.scores[-1], count - 1).tolist(), None]

    def predict(self, values: Floats) -> Floats:
        """What it says alone."""
        return np.where(np.isnan(values), self.missing_rate, self.alone(np.nan_to_num(values, nan=self.scores[0])))

    def readings(self, values: Floats) -> Floats:
        """Clipped far out, clipped near, normal score of the rank, (3, n); NaN where missing."""
        normal = np.interp(values, self.scores, self.normals)
        if self.space == "probability":
            return np.stack([links.logit(np.clip(values, low, 1.0 - low)) for low in CLIPS] + [normal])
        z = (values - self.mean) / self.deviation
        return np.stack((z, np.clip(z, -NEAR, NEAR), normal))

    @property
    def wave_table(self) -> Floats:
        """√2 cos(π k rank) / k at the ranks of its knots, (knots, 6)."""
        return np.sqrt(2.0) * np.cos(np.pi * self.ranks[:, None] * WAVES) / WAVES

    def waves(self, values: Floats) -> Floats:
        """The waves, straight between knots, (n, 6); 0 where missing."""
        place = np.interp(values, self.scores, np.arange(len(self.scores)))
        below = np.floor(np.nan_to_num(place)).astype(np.intp)
        table, above = self.wave_table, np.minimum(below + 1, len(self.scores) - 1)
        return np.nan_to_num(table[below] + (place - below)[:, None] * (table[above] - table[below]))


@dataclass(frozen=True, eq=False)
class CategoryScore:
    """A categorical score: its levels and the rate of each."""

    space: ClassVar[str] = CATEGORY

    name: str
    levels: tuple[Any, ...]
    rates: Floats
    base: float

    def codes(self, values: list[str | None]) -> Ints:
        """The number of each level; −1 for one that the fit did not see."""
        numbers = {level: number for number, level in enumerate(self.levels)}
        return np.array([numbers.get(value, -1) for value in values], dtype=np.intp)

    def test_values(self, count: int) -> list[Any]:
        """All levels in turn, and one that is none of them."""
        return [[*self.levels, "no level of the fit"][i % (len(self.levels) + 1)] for i in range(count)]

    def predict(self, codes: Ints) -> Floats:
        """What it says alone; the base rate at a level that the fit did not see."""
        return np.where(codes >= 0, self.rates[codes], self.base)


@dataclass(frozen=True, eq=False)
class Features:
    """How scores become columns. Numeric scores come first.

    `centre`, `spread` (4, J) and `correlations` (4, J, J) are those of the four readings; the three raw ones are there
    for numeric scores only. `mean_weights` (J,) are those of the mean score. `gaps` are the scores that were missing in
    some rows of the fit, `pairs` those that act together.
    """

    scores: tuple[NumericScore | CategoryScore, ...]
    centre: Floats
    spread: Floats
    correlations: Floats
    mean_weights: Floats
    gaps: Ints
    pairs: tuple[tuple[int, int], ...] = ()
    places: dict[Any, slice] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        sizes: dict[Any, int] = {"one": 1}
        sizes |= {("reading", r): self.n_numeric for r in RAW} | {("reading", CALIBRATED): len(self.scores)}
        for j, score in enumerate(self.scores):
            key = ("curve", j) if isinstance(score, NumericScore) else ("levels", j)
            sizes[key] = len(WAVES) if isinstance(score, NumericScore) else len(score.rates)
        sizes["missing"] = len(self.gaps)
        sizes |= {("pair", a, b): self.pair_size(a, b) for a, b in self.pairs}
        ends = np.cumsum(list(sizes.values())).tolist()
        places = {key: slice(end - size, end) for (key, size), end in zip(sizes.items(), ends, strict=True)}
        object.__setattr__(self, "places", places)

    @property
    def n_numeric(self) -> int:
        """The number of numeric scores."""
        return sum(isinstance(score, NumericScore) for score in self.scores)

    @property
    def size(self) -> int:
        """The number of columns."""
        return max(place.stop for place in self.places.values())

    def pair_size(self, a: int, b: int) -> int:
        """The number of columns of a pair."""
        return self.side_size(a) * self.side_size(b)

    def side_size(self, j: int) -> int:
        """The number of columns that a score brings to a pair."""
        score = self.scores[j]
        return 1 + PAIR_WAVES if isinstance(score, NumericScore) else len(score.rates)

    def alone(self, columns: list[Any]) -> Floats:
        """What each score says alone, (n, J)."""
        return np.column_stack([score.predict(column) for score, column in zip(self.scores, columns, strict=True)])

    def readings(self, columns: list[Any], alone: Floats) -> Floats:
        """The four readings of each score, (4, n, J); NaN where missing."""
        out = np.repeat(links.logit(np.clip(alone, LEAST, 1.0 - LEAST))[None], 4, axis=0)
        for j, (score, column) in enumerate(zip(self.scores, columns, strict=True)):
            if isinstance(score, NumericScore):
                out[:3, :, j] = score.readings(column)
                out[CALIBRATED, np.isnan(column), j] = np.nan
        return out

    def columns(self, columns: list[Any], alone: Floats) -> Floats:
        """All columns, (n, size); readings are deviations from their centres."""
        out = np.empty((len(alone), self.size), order="F")
        out[:, 0] = 1.0
        for r, reading in enumerate(self.readings(columns, alone)):
            out[:, self.places["reading", r]] = self._deviations(r, reading)
        for j, (score, column) in enumerate(zip(self.scores, columns, strict=True)):
            if isinstance(score, NumericScore):
                out[:, self.places["curve", j]] = score.waves(column)
            else:
                out[:, self.places["levels", j]] = column[:, None] == np.arange(len(score.rates))
        for g, j in enumerate(self.gaps):
            out[:, self.places["missing"].start + g] = np.isnan(columns[j])
        for a, b in self.pairs:
            out[:, self.places["pair", a, b]] = self.pair(a, b, out)
        return out

    def _deviations(self, r: int, reading: Floats) -> Floats:
        """A reading's deviations from its centre, within four spreads; missing ones from the row's other scores."""
        k = self.n_numeric if r in RAW else len(self.scores)
        u = np.clip((reading[:, :k] - self.centre[r, :k]) / self.spread[r, :k], -LARGEST_U, LARGEST_U)
        return complete(u, self.correlations[r, :k, :k]) * self.spread[r, :k]

    def mean_score(self, columns: Floats) -> Floats:
        """The mean of all logits, those of levels calibrated, as a probability."""
        raw, calibrated, k = self.places["reading", RAW[0]], self.places["reading", CALIBRATED], self.n_numeric
        logits = np.concatenate((columns[:, raw], columns[:, calibrated][:, k:]), axis=1)
        mean = logits @ self.mean_weights + np.append(self.centre[0, :k], self.centre[3, k:]) @ self.mean_weights
        return np.clip(links.expit(mean), LEAST_MEAN, 1.0 - LEAST_MEAN)

    def pair(self, a: int, b: int, columns: Floats) -> Floats:
        """Products of what two scores bring to a pair."""
        left, right = self._side(a, columns), self._side(b, columns)
        return (left[:, :, None] * right[:, None, :]).reshape(len(columns), -1)

    def _side(self, j: int, columns: Floats) -> Floats:
        """What a score brings to a pair: a line and two waves, or the indicators of its levels."""
        if j >= self.n_numeric:
            return columns[:, self.places["levels", j]]
        normal = columns[:, self.places["reading", RAW[-1]].start + j] / self.spread[RAW[-1], j]
        line = np.clip(normal, -LARGEST_SIDE, LARGEST_SIDE)
        start = self.places["curve", j].start
        return np.column_stack((line, columns[:, start : start + PAIR_WAVES]))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Features:
        """The features that `plain_fields` described."""
        scores = tuple(map(_parse, data["scores"]))
        arrays = [read_floats(data, name) for name in ("centre", "spread", "correlations", "mean_weights")]
        count, gaps, pairs = len(scores), data["gaps"], tuple((int(a), int(b)) for a, b in data["pairs"])
        shapes = [(4, count), (4, count), (4, count, count), (count,)]
        places = [*gaps, *(j for pair in pairs for j in pair)]
        if [array.shape for array in arrays] != shapes or not all(0 <= j < count for j in places):
            raise ModelFileError("The scores of this map are damaged.")
        centre, spread, correlations, mean_weights = arrays
        return cls(scores, centre, spread, correlations, mean_weights, np.array(gaps, dtype=np.intp), pairs)


def _parse(entry: Mapping[str, Any]) -> Any:
    read: dict[str, Any] = {"alone": MapFunction.from_dict, "levels": tuple}
    values: dict[str, Any] = {
        name: read[name](value) if name in read else read_floats(entry, name) if isinstance(value, list) else value
        for name, value in entry.items()
    }
    return (NumericScore if "alone" in entry else CategoryScore)(**values)


def complete(u: Floats, correlation: Floats) -> Floats:
    """Missing standardised scores become their conditional means given the row's other scores."""
    gone = np.isnan(u)
    out = np.where(gone, 0.0, u)
    some = np.flatnonzero(gone.any(axis=1))
    patterns, own = np.unique(gone[some], axis=0, return_inverse=True)
    for k, pattern in enumerate(patterns):
        there = ~pattern
        rows = some[own.reshape(-1) == k]
        weights = np.linalg.solve(correlation[np.ix_(there, there)], correlation[np.ix_(there, pattern)])
        out[np.ix_(rows, pattern)] = u[np.ix_(rows, there)] @ weights
    return out
