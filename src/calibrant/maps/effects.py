"""What segments add to the pooled logit: functions of the score, and for each segment their coefficients."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from calibrant import _validation
from calibrant._typing import Floats, Ints
from calibrant.errors import ModelFileError
from calibrant.maps.keys import UNSEEN

__all__ = ["CURVE", "LINE", "WAVES", "Basis", "Effects", "TermEffects"]

LINE, CURVE = "line", "curve"
WAVES = np.arange(1, 7)
SIZES = {LINE: 2, CURVE: len(WAVES)}
LARGEST_U = 4.0
ROUNDING = 1e-9  # how far below 0 rounding may put a variance


@dataclass(frozen=True, eq=False)
class Basis:
    """Columns of the terms as functions of the score: u, the standardised pooled logit, and waves over the rank."""

    centre: float
    spread: float
    scores: Floats
    ranks: Floats

    @classmethod
    def learn(cls, scores: Floats, pooled: Floats, totals: Floats) -> Basis:
        """From the pooled cells: increasing scores, their pooled logits, and numbers of rows."""
        share = totals / totals.sum()
        centre = float(share @ pooled)
        spread = float(np.sqrt(share @ (pooled - centre) ** 2))
        return cls(centre, max(spread, 1e-3), scores, np.cumsum(share) - 0.5 * share)

    def columns(self, kind: str, scores: Floats, pooled: Floats) -> Floats:
        """The columns (n, D) of a kind of term."""
        if kind == LINE:
            u = np.clip((pooled - self.centre) / self.spread, -LARGEST_U, LARGEST_U)
            return np.column_stack((np.ones(len(u)), u))
        rank = np.interp(scores, self.scores, self.ranks)
        out: Floats = np.sqrt(2.0) * np.cos(np.pi * rank[:, None] * WAVES)
        return out

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            "centre": self.centre,
            "spread": self.spread,
            "scores": self.scores.tolist(),
            "ranks": self.ranks.tolist(),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Basis:
        """The basis that `to_dict` described."""
        scores, ranks = (_validation.as_floats(data[name], name) for name in ("scores", "ranks"))
        basis = cls(float(data["centre"]), float(data["spread"]), scores, ranks)
        rises = (
            scores.ndim == 1 and scores.shape == ranks.shape and len(scores) > 0 and bool((np.diff(scores) > 0).all())
        )
        if not (rises and np.isfinite([basis.centre, *scores, *ranks]).all() and 0.0 < basis.spread < np.inf):
            raise ModelFileError("The scores and ranks of these segments are damaged.")
        return basis


class Effects(NamedTuple):
    """Mean (G, D) and covariance (G, D, D) of the coefficients of each segment, and what intervals need.

    Mean and covariance come from a sceptical prior, under which segments differ only if there is reason to think so.
    It would make intervals too narrow where a small difference is hard to see: `wide` (G, D, D) are second moments
    around the means under a prior with an open mind, and `prior` (D, D) is that of a new segment.
    """

    mean: Floats
    covariance: Floats
    wide: Floats
    prior: Floats

    def are_sound(self, size: int) -> bool:
        """Whether they fit each other and could be moments of `size` coefficients."""
        count = len(self.mean)
        shapes = [(count, size), (count, size, size), (count, size, size), (size, size)]
        if [part.shape for part in self] != shapes or not all(np.isfinite(part).all() for part in self):
            return False
        return all(_is_covariance(part) for part in self[1:])


@dataclass(frozen=True, eq=False)
class TermEffects:
    """The effects of the segments of one key, of a pair of keys, or (without keys) of all rows.

    `levels` (L, keys) holds the numbers of the segments, sorted; `difference` is the probability that they differ.
    """

    keys: tuple[int, ...]
    kind: str
    levels: Ints
    effects: Effects
    difference: float

    def places(self, codes: Ints) -> Ints:
        """The line of `levels` for each row of segment numbers; −1 where there is none."""
        own, sizes = codes[:, list(self.keys)], self.levels.max(axis=0, initial=0) + 1
        # Several keys become one number, digit by digit; sorted levels give sorted numbers, which can be searched.
        # Codes beyond a key's digits are cut to the largest digit here and found out below.
        known, wanted = np.zeros(len(self.levels), np.intp), np.zeros(len(own), np.intp)
        for k, size in enumerate(sizes.tolist()):
            known = known * size + self.levels[:, k]
            wanted = wanted * size + np.minimum(own[:, k], size - 1)
        place = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
        seen = (known[place] == wanted) & ((own >= 0) & (own < sizes)).all(axis=1)
        return np.where(seen, place, UNSEEN)

    def moments(self, columns: Floats, codes: Ints) -> tuple[Floats, Floats]:
        """Mean and variance of the effect on each row; none where its segment is new."""
        place = self.places(codes)
        mean = np.einsum("ij,ij->i", columns, self.effects.mean[place])
        variance = np.einsum("ij,ijk,ik->i", columns, self.effects.covariance[place], columns)
        return np.where(place == UNSEEN, 0.0, mean), np.where(place == UNSEEN, 0.0, variance)

    def wide_variance(self, columns: Floats, codes: Ints) -> Floats:
        """The variance for intervals; for a new segment, that of how far segments are apart."""
        place = self.places(codes)
        moments = np.where((place == UNSEEN)[:, None, None], self.effects.prior, self.effects.wide[place])
        out: Floats = np.einsum("ij,ijk,ik->i", columns, moments, columns)
        return out

    def draw(self, columns: Floats, codes: Ints, rng: np.random.Generator, n_draws: int) -> Floats:
        """Draws of the effect on each row, (n_draws, n); all rows of a new segment share their draw."""
        # Rows of one segment must share one draw of its coefficients. For a segment of the fit the block of rows is its
        # line in `levels`; a new one has no line (−1), and its block is its own combination of codes. So blocks are the
        # distinct (line, codes if new), and `first` is a row of each, where its line can be read.
        place = self.places(codes)
        own = codes[:, list(self.keys)]
        _, block = np.unique(
            np.column_stack((place, np.where(place[:, None] < 0, own, 0))), axis=0, return_inverse=True
        )
        block = block.reshape(-1)
        first = np.unique(block, return_index=True)[1]
        # A new segment is drawn from the prior: no effect on average, as far off as segments are from each other.
        mean = np.where(place[first][:, None] < 0, 0.0, self.effects.mean[place[first]])
        covariance = np.where(
            place[first][:, None, None] < 0, self.effects.prior[None], self.effects.wide[place[first]]
        )
        noise = rng.standard_normal((n_draws, len(first), mean.shape[1]))
        drawn = mean + np.einsum("gjk,dgk->dgj", _roots(covariance), noise)
        out: Floats = np.einsum("ij,dij->di", columns, drawn[:, block])
        return out

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            "keys": list(self.keys),
            "kind": self.kind,
            "difference": self.difference,
            "levels": self.levels.tolist(),
            **{name: part.tolist() for name, part in self.effects._asdict().items()},
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], sizes: tuple[int, ...]) -> TermEffects:
        """The term that `to_dict` described, of keys with these numbers of segments."""
        effects = Effects(*(_validation.as_floats(data[name], name) for name in Effects._fields))
        keys, kind, levels = tuple(data["keys"]), data["kind"], data["levels"]
        flat = [*keys, *(number for line in levels for number in line)]
        if not all(type(number) is int for number in flat) or not all(0 <= k < len(sizes) for k in keys):
            raise ModelFileError("The numbers of these segments are damaged.")
        own = np.array(levels, dtype=np.intp).reshape(len(effects.mean), len(keys))
        term = cls(keys, kind, own, effects, float(data["difference"]))
        if len(set(keys)) != len(keys) or not term._is_sorted([sizes[k] for k in keys]):
            raise ModelFileError("The order of these segments is damaged.")
        if kind not in SIZES or not effects.are_sound(SIZES[kind]) or not 0.0 <= term.difference <= 1.0:
            raise ModelFileError("The effects of these segments are damaged.")
        return term

    def _is_sorted(self, sizes: list[int]) -> bool:
        """Whether the levels are there, increase, and are among so many for each key."""
        lines = [tuple(line) for line in self.levels.tolist()]
        inside = all(0 <= number < size for line in lines for number, size in zip(line, sizes, strict=True))
        return inside and len(lines) > 0 and all(a < b for a, b in pairwise(lines))


def _is_covariance(matrices: Floats) -> bool:
    """Whether symmetric matrices have no eigenvalue below 0, but for rounding."""
    if not np.array_equal(matrices, np.swapaxes(matrices, -1, -2)):
        matrices = 0.5 * (matrices + np.swapaxes(matrices, -1, -2))
    values = np.linalg.eigvalsh(matrices)
    return bool((values >= -ROUNDING * np.maximum(1.0, values.max(initial=0.0))).all())


def _roots(covariance: Floats) -> Floats:
    """Square roots of covariances that may be singular."""
    values, vectors = np.linalg.eigh(covariance)
    out: Floats = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
    return out
