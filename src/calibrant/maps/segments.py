"""The fitted map of many segments: a pooled map and the effects of the segments, which numpy alone evaluates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any, ClassVar

import numpy as np

from calibrant import _validation
from calibrant._numerics import links
from calibrant._typing import ArrayLike, Bools, Floats, Ints, RandomState
from calibrant.errors import InvalidInputError, ModelFileError
from calibrant.maps.base import FrozenMap, as_columns, ends_like
from calibrant.maps.effects import Basis, TermEffects
from calibrant.maps.functions import LogitLinear
from calibrant.maps.keys import MISSING, UNSEEN, SegmentKeys, name_columns
from calibrant.maps.score import CalibrationMap
from calibrant.maps.tabulate import tabulate_logits

__all__ = ["SegmentedMap"]

MOST_TESTED = 64
CHUNK_ROWS = 1 << 17  # evaluated at once


@dataclass(frozen=True, eq=False, repr=False)
class SegmentedMap(FrozenMap):
    """A fitted calibration of many segments: call it on scores and their segments to get probabilities.

    `SegmentedCalibrator` keeps one in ``map_``, and `calibrant.load` reads one from a file. It is frozen, and needs
    numpy alone.

    Parameters
    ----------
    keys : SegmentKeys
        The names of the keys and their segments.
    pooled : CalibrationMap
        The map of a row none of whose segments is known.
    basis : Basis
        The functions of the score that effects multiply.
    pooled_deviations : ndarray of shape (J, m)
        Independent deviations of the pooled logit at the scores of the basis, each one standard deviation large: the
        pooled curve's posterior in a few lines.
    terms : tuple of TermEffects
        The effects of keys and of pairs of keys.
    first : CalibrationMap, optional
        What turns decision scores into probabilities, before everything else.
    missing : {"error", "segment"}
        What to do with rows whose segment is missing.
    method : str
        The name of the method that made it.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant import SegmentedCalibrator
    >>> rng = np.random.default_rng(0)
    >>> scores, team = rng.uniform(0.05, 0.95, 3000), rng.choice(["a", "b"], 3000)
    >>> y = rng.random(3000) < np.where(team == "b", scores**2, scores)
    >>> map_ = SegmentedCalibrator("platt").fit(scores, y, segment=team).map_
    >>> map_
    SegmentedMap(SegmentedCalibrator, segment: 2 segments)
    >>> map_([0.6, 0.6], segment=["a", "b"]).round(1).tolist()
    [0.6, 0.4]
    """

    kind: ClassVar[str] = "segments"

    keys: SegmentKeys
    pooled: CalibrationMap
    basis: Basis
    pooled_deviations: Floats
    terms: tuple[TermEffects, ...]
    first: CalibrationMap | None = None
    missing: str = "error"
    method: str = ""

    @property
    def space(self) -> str:
        """What it accepts: scores in [0, 1] ("probability"), or any finite numbers ("decision")."""
        return "probability" if self.first is None else self.first.space

    def __call__(self, scores: ArrayLike, segment: Any = None) -> Floats:
        """Calibrated probabilities of the positive class, (n,); a segment that is new gets the pooled map.

        One score, with its segment, or a tuple of segments with several keys, gives one number.
        """
        probabilities = self.probabilities(*self.check(scores, segment))
        return probabilities[0].item() if _validation.is_number(scores) else probabilities

    def predict(self, scores: ArrayLike, segment: Any = None) -> Floats:
        """The same as calling the map."""
        return self(scores, segment)

    def predict_proba(self, scores: ArrayLike, segment: Any = None) -> Floats:
        """Probabilities of the negative and the positive class, (n, 2)."""
        return as_columns(self(scores, segment))

    @property
    def has_posterior(self) -> bool:
        """It always has intervals and draws."""
        return True

    def predict_interval(self, scores: ArrayLike, level: float = 0.9, *, segment: Any = None) -> tuple[Floats, Floats]:
        """Lower and upper ends of the credible interval of each probability.

        It holds the uncertainty of the pooled curve and of the segment's deviation; for a new segment, that of how
        far segments are apart.
        """
        array, codes = self.check(scores, segment)
        return ends_like(scores, self.interval(array, codes, level))

    def interval(self, scores: Floats, codes: Ints, level: float) -> tuple[Floats, Floats]:
        """The ends of the intervals of checked scores."""
        z = -NormalDist().inv_cdf(0.5 * (1.0 - _validation.check_level(level)))
        centre, spread = self.centre_and_spread(self._first(scores), codes)
        return links.expit(centre - z * spread), links.expit(centre + z * spread)

    def sample_maps(
        self, scores: ArrayLike, n_draws: int = 100, random_state: RandomState = 0, *, segment: Any = None
    ) -> Floats:
        """Draws of the probabilities of all rows, (n_draws, n), each draw from one map for every segment."""
        count, rng = _validation.check_count("n_draws", n_draws), _validation.generator(random_state)
        array, codes = self.check(scores, segment)
        return links.expit(self.draw(self._first(array), codes, rng, count))

    def __repr__(self) -> str:
        sizes = zip(self.keys.names, self.keys.levels, strict=True)
        keys = ", ".join(f"{name}: {len(levels)} segments" for name, levels in sizes)
        return f"SegmentedMap({self.method}, {keys})"

    def map_for(self, segment: Any) -> CalibrationMap:
        """The map of one segment as an ordinary `CalibrationMap`; with several keys, of a tuple of segments.

        A segment that was not there in `fit` has the pooled map. The formula of a segment becomes a table of straight
        pieces, within 1e-5 of it.
        """
        columns = name_columns([segment], self.keys.names)
        return self.map_at(self.keys.encode(columns, 1, self.missing)[0])

    def map_at(self, codes: Ints) -> CalibrationMap:
        """The map of one combination of segments, by their numbers."""
        if _is_known(codes[None])[0]:
            table = self._tabulate(codes)
            map_ = CalibrationMap(table, "probability", bool((np.diff(table.y) >= 0.0).all()), self.method)
        else:
            map_ = replace(self.pooled, space="probability", method=self.method)
        return map_ if self.first is None else self.first.then(map_)

    def _tabulate(self, codes: Ints) -> LogitLinear:
        def own(scores: Floats) -> Floats:
            return links.expit(self.logits(scores, np.repeat(codes[None], len(scores), axis=0)))

        function = self.pooled.function
        bends = function.x if isinstance(function, LogitLinear) else links.logit(function.knots())
        return tabulate_logits(own, np.concatenate((bends, links.logit(self.basis.scores))))

    def check(self, scores: ArrayLike, segment: Any) -> tuple[Floats, Ints]:
        """The scores as an array, (n,), and the numbers of their segments, (n, keys), if the map accepts them."""
        if segment is None:
            raise InvalidInputError("`segment` must be given: a value of each key for every row.")
        if _validation.is_number(scores):
            scores, segment = np.array([scores]), name_columns([segment], self.keys.names)
        array = _validation.check_scores(scores)
        if self.space == "probability":
            _validation.check_unit_interval(array, "scores", self.method or "This map")
        return array, self.keys.encode(segment, len(array), self.missing)

    def probabilities(self, scores: Floats, codes: Ints) -> Floats:
        """Probabilities of checked scores, in chunks."""
        out = np.empty(len(scores))
        for rows in _chunks(len(scores)):
            out[rows] = links.expit(self.logits(self._first(scores[rows]), codes[rows]))
        return out

    def _first(self, scores: Floats) -> Floats:
        return scores if self.first is None else self.first(scores)

    def logits(self, scores: Floats, codes: Ints) -> Floats:
        """The logit of the mean probability; what is unknown of the pooled curve is in its own mean already.

        A row none of whose segments was there in `fit` keeps the pooled logit.
        """
        pooled = links.logit(self.pooled(scores))
        mean, variance = pooled.copy(), np.zeros(len(scores))
        for term in self.terms:
            shift, own = term.moments(self.basis.columns(term.kind, scores, pooled), codes)
            mean, variance = mean + shift, variance + own
        return np.where(_is_known(codes), mean / np.sqrt(1.0 + np.pi / 8.0 * np.maximum(variance, 0.0)), pooled)

    def centre_and_spread(self, scores: Floats, codes: Ints) -> tuple[Floats, Floats]:
        """Mean and standard deviation of the logit, for intervals."""
        pooled = links.logit(self.pooled(scores))
        known = _is_known(codes)
        mean = pooled.copy()
        variance = np.interp(scores, self.basis.scores, (self.pooled_deviations**2).sum(axis=0))
        for term in self.terms:
            columns = self.basis.columns(term.kind, scores, pooled)
            mean += np.where(known, term.moments(columns, codes)[0], 0.0)
            if term.keys:
                variance += term.wide_variance(columns, codes)
            else:  # the correction of the pooled curve is for rows of known segments
                variance += np.where(known, term.wide_variance(columns, codes), 0.0)
        return mean, np.sqrt(np.maximum(variance, 0.0))

    def draw(self, scores: Floats, codes: Ints, rng: np.random.Generator, n_draws: int) -> Floats:
        """Draws of the logits, (n_draws, n), each from one whole map for every segment."""
        pooled = links.logit(self.pooled(scores))
        at = np.array([np.interp(scores, self.basis.scores, line) for line in self.pooled_deviations]).reshape(
            -1, len(scores)
        )
        out: Floats = pooled + rng.standard_normal((n_draws, len(self.pooled_deviations))) @ at
        known = _is_known(codes)
        for term in self.terms:
            drawn = term.draw(self.basis.columns(term.kind, scores, pooled), codes, rng, n_draws)
            out += drawn if term.keys else np.where(known, drawn, 0.0)
        return out

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            "method": self.method,
            "missing": self.missing,
            "first": None if self.first is None else self.first.to_dict(),
            "keys": self.keys.to_dict(),
            "pooled": self.pooled.to_dict(),
            "basis": self.basis.to_dict(),
            "pooled_deviations": self.pooled_deviations.tolist(),
            "terms": [term.to_dict() for term in self.terms],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> SegmentedMap:
        """The map that `to_dict` described."""
        try:
            basis, keys = Basis.from_dict(data["basis"]), SegmentKeys.from_dict(data["keys"])
            pooled_deviations = _validation.as_floats(data["pooled_deviations"], "pooled_deviations").reshape(
                -1, len(basis.scores)
            )
            terms = tuple(TermEffects.from_dict(term, keys.sizes) for term in data["terms"])
            pooled = CalibrationMap.from_dict(data["pooled"])
            first = None if data["first"] is None else CalibrationMap.from_dict(data["first"])
            missing, method = data["missing"], data["method"]
        except (KeyError, TypeError, ValueError) as error:
            raise ModelFileError(f"This is not a map of segments that calibrant saved ({error!r}).") from error
        if missing not in MISSING or not isinstance(method, str) or not np.isfinite(pooled_deviations).all():
            raise ModelFileError(
                "The entries `missing`, `method` or `pooled_deviations` of this map of segments are damaged."
            )
        return cls(keys, pooled, basis, pooled_deviations, terms, first, missing, method)

    def test_vector(self) -> dict[str, Any]:
        """Scores over the whole range and segments in turn, new ones among them, with what the map makes of them."""
        low, high = (0.0, 1.0) if self.space == "probability" else (-3.0, 3.0)
        scores = np.linspace(low, high, MOST_TESTED)
        codes = np.column_stack([np.arange(MOST_TESTED) % (size + 1) - 1 for size in self.keys.sizes])
        probabilities = self.probabilities(scores, codes)
        return {"scores": scores.tolist(), "codes": codes.tolist(), "probabilities": probabilities.tolist()}

    def replay(self, vector: Mapping[str, Any]) -> Floats:
        """What this map makes of the scores and segments of a test vector."""
        codes = np.array(vector["codes"], dtype=np.intp).reshape(-1, len(self.keys.names))
        return self.probabilities(_validation.check_scores(vector["scores"]), codes)


def _chunks(n_rows: int) -> Iterator[slice]:
    return (slice(start, start + CHUNK_ROWS) for start in range(0, n_rows, CHUNK_ROWS))


def _is_known(codes: Ints) -> Bools:
    return np.asarray((codes != UNSEEN).any(axis=1))
