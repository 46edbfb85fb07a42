"""The fitted model of segments: frozen numbers that predict, draw, and go through JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant import _validation
from calibrant._kernels import links
from calibrant._typing import Bools, Floats, Ints
from calibrant.calibrators.segment_basis import Basis
from calibrant.calibrators.segment_terms import Effects
from calibrant.errors import ModelFileError
from calibrant.maps import CalibrationMap
from calibrant.segment_keys import UNSEEN, SegmentKeys

__all__ = ["SegmentModel", "TermEffects"]


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
        place = self.places(codes)
        own = codes[:, list(self.keys)]
        _, block = np.unique(
            np.column_stack((place, np.where(place[:, None] < 0, own, 0))), axis=0, return_inverse=True
        )
        block = block.reshape(-1)
        first = np.unique(block, return_index=True)[1]
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
            "mean": self.effects.mean.tolist(),
            "covariance": self.effects.covariance.tolist(),
            "wide": self.effects.wide.tolist(),
            "prior": self.effects.prior.tolist(),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> TermEffects:
        """The term that `to_dict` described."""
        effects = Effects(*(_validation.as_floats(data[name], name) for name in Effects._fields))
        keys = tuple(int(k) for k in data["keys"])
        levels = np.array(data["levels"], dtype=np.intp).reshape(len(effects.mean), len(keys))
        return cls(keys, str(data["kind"]), levels, effects, float(data["difference"]))


@dataclass(frozen=True, eq=False)
class SegmentModel:
    """The pooled map, its uncertainty and the terms.

    `wobble` (J, m) are independent deviations of the pooled logit at the scores of the basis, each one standard
    deviation large: the pooled curve's posterior in a few lines.
    """

    keys: SegmentKeys
    pooled: CalibrationMap
    basis: Basis
    wobble: Floats
    terms: tuple[TermEffects, ...]

    def logits(self, scores: Floats, codes: Ints) -> Floats:
        """The logit of the mean probability; what is unknown of the pooled curve is in its own mean already.

        A row none of whose segments was there in `fit` keeps the pooled logit.
        """
        pooled = links.logit(self.pooled(scores))
        mean, variance = pooled.copy(), np.zeros(len(scores))
        for term in self.terms:
            shift, own = term.moments(self.basis.columns(term.kind, scores, pooled), codes)
            mean, variance = mean + shift, variance + own
        return np.where(_is_known(codes), mean / np.sqrt(1.0 + np.pi / 8.0 * variance), pooled)

    def centre_and_spread(self, scores: Floats, codes: Ints) -> tuple[Floats, Floats]:
        """Mean and standard deviation of the logit, for intervals."""
        pooled = links.logit(self.pooled(scores))
        known = _is_known(codes)
        mean = pooled.copy()
        variance = np.interp(scores, self.basis.scores, (self.wobble**2).sum(axis=0))
        for term in self.terms:
            columns = self.basis.columns(term.kind, scores, pooled)
            mean += np.where(known, term.moments(columns, codes)[0], 0.0)
            if term.keys:
                variance += term.wide_variance(columns, codes)
            else:  # the correction of the pooled curve is for rows of known segments
                variance += np.where(known, term.wide_variance(columns, codes), 0.0)
        return mean, np.sqrt(variance)

    def draw(self, scores: Floats, codes: Ints, rng: np.random.Generator, n_draws: int) -> Floats:
        """Draws of the logits, (n_draws, n), each from one whole map for every segment."""
        pooled = links.logit(self.pooled(scores))
        at = np.array([np.interp(scores, self.basis.scores, line) for line in self.wobble]).reshape(-1, len(scores))
        out: Floats = pooled + rng.standard_normal((n_draws, len(self.wobble))) @ at
        known = _is_known(codes)
        for term in self.terms:
            drawn = term.draw(self.basis.columns(term.kind, scores, pooled), codes, rng, n_draws)
            out += drawn if term.keys else np.where(known, drawn, 0.0)
        return out

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            "keys": self.keys.to_dict(),
            "pooled": self.pooled.to_dict(),
            "basis": self.basis.to_dict(),
            "wobble": self.wobble.tolist(),
            "terms": [term.to_dict() for term in self.terms],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> SegmentModel:
        """The model that `to_dict` described."""
        try:
            basis = Basis.from_dict(data["basis"])
            return cls(
                SegmentKeys.from_dict(data["keys"]),
                CalibrationMap.from_dict(data["pooled"]),
                basis,
                _validation.as_floats(data["wobble"], "wobble").reshape(-1, len(basis.scores)),
                tuple(TermEffects.from_dict(term) for term in data["terms"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise ModelFileError(f"This is not a model of segments that calibrant saved ({error!r}).") from error


def _is_known(codes: Ints) -> Bools:
    return np.asarray((codes != UNSEEN).any(axis=1))


def _roots(covariance: Floats) -> Floats:
    """Square roots of covariances that may be singular."""
    values, vectors = np.linalg.eigh(covariance)
    out: Floats = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
    return out
