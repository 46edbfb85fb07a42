"""The fitted map: a frozen function from scores to probabilities that can be saved, inverted and exported."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, overload

import numpy as np

from calibrant import _validation
from calibrant._numerics import bins
from calibrant._typing import ArrayLike, Bools, Floats, RandomState
from calibrant.errors import ModelFileError
from calibrant.estimates.estimation import EstimateMethods
from calibrant.estimates.rows import LabelledRows
from calibrant.maps.base import FrozenMap, domain, ends_like
from calibrant.maps.files import plain_fields
from calibrant.maps.functions import Chain, MapFunction
from calibrant.maps.posterior_table import PosteriorTable


@dataclass(frozen=True, eq=False, repr=False)
class CalibrationMap(FrozenMap, EstimateMethods):
    """A fitted calibration: call it on scores to get probabilities.

    Every fitted calibrator of one score keeps one in ``map_``. It is immutable, compares by content, needs numpy
    alone, and is the thing that is saved as JSON and exported to other systems. Loaded from the file of a Bayesian
    calibrator it has a posterior, and with that intervals, draws of whole maps, and answers about rows without labels.

    Parameters
    ----------
    function : MapFunction
        The function: steps, straight lines, or a closed formula; see `calibrant.maps.functions`.
    space : {"probability", "decision"}
        What its scores are: probabilities, or any finite numbers.
    monotone : bool
        Whether it never decreases.
    method : str
        The name of the method that made it.
    fitted_range : tuple of float, optional
        The lowest and the highest score that it was fitted to; `calibrant apply` warns of scores on another scale.
    posterior : PosteriorTable, optional
        Draws of the map and ends of its intervals at some scores.

    Examples
    --------
    >>> from calibrant import IsotonicCalibration
    >>> map_ = IsotonicCalibration().fit([0.1, 0.4, 0.6, 0.9], [0, 0, 1, 1]).map_
    >>> map_
    CalibrationMap(IsotonicCalibration, 0.1 … 0.9 → 0.25 … 0.75, 4 knots, never falls)
    >>> map_([0.1, 0.5, 0.9]).round(3).tolist(), map_(0.5)
    ([0.25, 0.5, 0.75], 0.5)
    >>> round(map_.inverse(0.5), 3)
    0.5
    """

    kind: ClassVar[str] = "score"

    function: MapFunction
    space: str = "decision"
    monotone: bool = False
    method: str = ""
    fitted_range: tuple[float, float] | None = None
    posterior: PosteriorTable | None = None

    @overload
    def __call__(self, scores: float) -> float: ...
    @overload
    def __call__(self, scores: ArrayLike) -> Floats: ...
    def __call__(self, scores: ArrayLike) -> Floats | float:
        """Calibrated probabilities of the positive class, (n,); of a single number, one."""
        probabilities = self.function(self.check_scores(scores))
        return float(probabilities[0]) if _validation.is_number(scores) else probabilities

    @overload
    def inverse(self, probabilities: float) -> float: ...
    @overload
    def inverse(self, probabilities: ArrayLike) -> Floats: ...
    def inverse(self, probabilities: ArrayLike) -> Floats | float:
        """The lowest score whose calibrated probability is at least `probabilities`: a decision threshold.

        For a monotone map, ``score >= map.inverse(p)`` holds exactly when ``map(score) >= p``: the answer is found
        among all doubles, not rounded to a grid. Where the map is flat at `p` the answer is the left end of the
        flat piece. A value that the map never reaches gives ``inf``; one that every score reaches gives the lowest
        score there is, 0 for probabilities and ``-inf`` otherwise. Where the map is not monotone, the answer is
        the first score at which it reaches `p`; it may fall below again further on.

        Returns
        -------
        ndarray of the shape of `probabilities`; of a single number, one
        """
        given = _validation.as_floats(probabilities, "probabilities")
        wanted = given.ravel()
        _validation.check_finite(wanted, "probabilities")
        _validation.check_unit_interval(wanted, "probabilities")
        bottom, top = domain(self.space)
        inner = np.empty(0) if self.monotone else self.function.knots()
        grid = np.concatenate(([bottom], inner[(inner > bottom) & (inner < top)], [top]))
        highest_so_far = np.maximum.accumulate(self.function(grid))
        right = np.searchsorted(highest_so_far, wanted, side="left")
        out = np.full(len(wanted), np.inf)
        out[right == 0] = bottom if self.space == "probability" else -np.inf
        between = (right > 0) & (right < len(grid))
        low, high, own = grid[right[between] - 1], grid[right[between]], wanted[between]
        out[between] = first_double(lambda scores: self.function(scores) >= own, low, high)
        return float(out[0]) if _validation.is_number(probabilities) else out.reshape(given.shape)

    def then(self, other: CalibrationMap) -> CalibrationMap:
        """Apply this map, then `other`; the posterior goes through `other` too, if that never falls."""
        return CalibrationMap(
            Chain((self.function, other.function)),
            self.space,
            self.monotone and other.monotone,
            " then ".join(name for name in (self.method, other.method) if name),
            self.fitted_range,
            self.posterior.through(other.function) if self.posterior is not None and other.monotone else None,
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON."""
        return plain_fields(self, "posterior", *(() if self.fitted_range else ("fitted_range",)))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> CalibrationMap:
        """The map that `to_dict` described."""
        space, monotone, method = (data.get(entry) for entry in ("space", "monotone", "method"))
        if space not in _validation.SPACES or not isinstance(monotone, bool) or not isinstance(method, str):
            raise ModelFileError("The entries `space`, `monotone` or `method` of this map are damaged.")
        loaded = cls(MapFunction.from_dict(data.get("function", {})), space, monotone, method)
        if "fitted_range" in data:
            low, high = map(float, data["fitted_range"])
            loaded = replace(loaded, fitted_range=(low, high))
        if fault := loaded.fault():
            raise ModelFileError(f"The numbers of this map are damaged: they define a function that {fault}.")
        return loaded

    def fault(self) -> str:
        """What a map cannot do and this function does, in words; empty if there is nothing."""
        if self.function.is_sound():
            low, high = domain(self.space)
            inner = np.concatenate((self.function.knots(), np.linspace(0.0, 1.0, 101)))
            values = self.function(np.unique(np.concatenate(([low], inner[(inner > low) & (inner < high)], [high]))))
            if _validation.are_probabilities(values):
                fine = not self.monotone or bool((np.diff(values) >= -self.tolerance).all())
                return "" if fine else "falls, though `monotone` says that it never does"
        return "does not go into [0, 1]"

    def test_vector(self) -> dict[str, Any]:
        """Scores over the whole range and at knots, with what the map makes of them."""
        knots = self.function.knots()
        low, high = (0.0, 1.0) if self.space == "probability" else (-3.0, 3.0)
        inner = knots[np.linspace(0, len(knots) - 1, 17).astype(int)] if len(knots) else knots
        if self.space == "probability":
            inner = np.clip(inner, low, high)  # the next double after an edge at 1 is no probability
        scores = np.unique(np.concatenate((np.linspace(low, high, 17), inner)))
        return {"scores": scores.tolist(), "probabilities": self.function(scores).tolist()}

    def __repr__(self) -> str:
        knots = self.function.knots()
        low, high = (0.0, 1.0) if self.space == "probability" else (knots[0], knots[-1]) if len(knots) else (-9.0, 9.0)
        first, last = self.function(np.array([low, high])).tolist()
        size = f", {len(knots)} knots" if len(knots) > 1 else ""
        falls = "never falls" if self.monotone else "may fall"
        return f"CalibrationMap({self.method}, {low:.3g} … {high:.3g} → {first:.3g} … {last:.3g}{size}, {falls})"

    @property
    def labelled_(self) -> LabelledRows | None:
        """Where the labelled scores lie, if a posterior remembers it."""
        return None if self.posterior is None else self.posterior.labelled

    def predict_interval(self, scores: ArrayLike, level: float = 0.9) -> tuple[Floats, Floats]:
        """Lower and upper ends of the central credible interval of each calibrated probability; numbers of a number."""
        array = self.check_scores(scores)
        return ends_like(scores, self.need_posterior().interval(array, level, self.function(array)))

    def sample_maps(self, scores: ArrayLike, n_draws: int = 100, random_state: RandomState = 0) -> Floats:
        """Draws of the whole map from its posterior, evaluated at `scores`, (n_draws, n)."""
        return self.need_posterior().sample_maps(self.check_scores(scores), n_draws, random_state)

    def with_posterior(self, data: Mapping[str, Any]) -> CalibrationMap:
        """The map with the table that `posterior_to_dict` described."""
        return replace(self, posterior=PosteriorTable.from_dict(data))


def first_double(reaches: Callable[[Floats], Bools], low: Floats, high: Floats) -> Floats:
    """Halve the sets of doubles between `low` (not reaching) and `high` (reaching) until one remains of each."""
    below, above = bins.ordinal(low + 0.0), bins.ordinal(high + 0.0)
    for _ in range(64):
        middle = (below >> 1) + (above >> 1) + (below & above & 1)
        reached = reaches(bins.from_ordinal(middle))
        below, above = np.where(reached, below, middle), np.where(reached, middle, above)
    return bins.from_ordinal(above)
