"""The fitted map: a frozen function from scores to probabilities that can be saved, inverted and exported."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from calibrant import _validation, matrix_maps
from calibrant._files import AnyPath
from calibrant._kernels import doubles
from calibrant._model_files import checksum, read_model, restore, write_model
from calibrant._typing import ArrayLike, Bools, Floats
from calibrant.errors import ModelFileError
from calibrant.map_functions import Chain, MapFunction
from calibrant.matrix_maps import MatrixMap

FORMAT = "calibrant-map"
VERSION = 1
SPACES = ("probability", "real")
REPLAY_TOLERANCE = 1e-12  # exp and log may differ by an ulp between machines; a changed map differs by more


@dataclass(frozen=True, eq=False)
class CalibrationMap:
    """A fitted calibration: call it on scores to get probabilities.

    Every fitted calibrator keeps one in ``map_``. It is immutable, compares by content, needs numpy alone, and
    is the thing that is saved as JSON and exported to other systems.

    Parameters
    ----------
    function : MapFunction
        The function: steps, straight lines, or a closed formula; see `calibrant.map_functions`.
    space : {"probability", "real"}
        What it accepts: scores in [0, 1], or any finite numbers.
    monotone : bool
        Whether it never decreases.
    method : str
        The name of the method that made it.

    Examples
    --------
    >>> from calibrant import IsotonicCalibration
    >>> map_ = IsotonicCalibration().fit([0.1, 0.4, 0.6, 0.9], [0, 0, 1, 1]).map_
    >>> map_([0.1, 0.5, 0.9]).round(3).tolist()
    [0.25, 0.5, 0.75]
    >>> round(float(map_.inverse(0.5)), 3)
    0.5
    """

    function: MapFunction
    space: str = "real"
    monotone: bool = False
    method: str = field(default="", compare=False)

    def __call__(self, scores: ArrayLike) -> Floats:
        """Calibrated probabilities of the positive class, (n,)."""
        return self.function(self.check_scores(scores))

    def check_scores(self, scores: ArrayLike) -> Floats:
        """The scores as an array, (n,), if the map accepts them."""
        array = _validation.check_scores(scores)
        if self.space == "probability":
            _validation.check_unit_interval(array, "scores", self.method or "This map")
        return array

    def inverse(self, probabilities: ArrayLike) -> Floats:
        """The lowest score whose calibrated probability is at least `probabilities`: a decision threshold.

        For a monotone map, ``score >= map.inverse(p)`` holds exactly when ``map(score) >= p``: the answer is found
        among all doubles, not rounded to a grid. Where the map is flat at `p` the answer is the left end of the
        flat piece. A value that the map never reaches gives ``inf``; one that every score reaches gives the lowest
        score there is, 0 for probabilities and ``-inf`` otherwise. Where the map is not monotone, the answer is
        the first score at which it reaches `p`; it may fall below again further on.

        Returns
        -------
        ndarray of the shape of `probabilities`
        """
        wanted = _validation.as_floats(probabilities, "probabilities")
        _validation.check_finite(wanted.ravel(), "probabilities")
        _validation.check_unit_interval(wanted.ravel(), "probabilities")
        return self._first_reaching(wanted.ravel()).reshape(wanted.shape)

    def _first_reaching(self, wanted: Floats) -> Floats:
        bottom, top = (0.0, 1.0) if self.space == "probability" else (-_LARGEST, _LARGEST)
        inner = np.empty(0) if self.monotone else self.function.knots()
        grid = np.concatenate(([bottom], inner[(inner > bottom) & (inner < top)], [top]))
        highest_so_far = np.maximum.accumulate(self.function(grid))
        right = np.searchsorted(highest_so_far, wanted, side="left")
        out = np.full(len(wanted), np.inf)
        out[right == 0] = bottom if self.space == "probability" else -np.inf
        between = (right > 0) & (right < len(grid))
        low, high, own = grid[right[between] - 1], grid[right[between]], wanted[between]
        out[between] = first_double(lambda scores: self.function(scores) >= own, low, high)
        return out

    def then(self, other: CalibrationMap) -> CalibrationMap:
        """Apply this map, then `other`."""
        return CalibrationMap(
            Chain((self.function, other.function)),
            self.space,
            self.monotone and other.monotone,
            " then ".join(name for name in (self.method, other.method) if name),
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON."""
        return {
            "method": self.method,
            "space": self.space,
            "monotone": self.monotone,
            "function": self.function.to_dict(),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> CalibrationMap:
        """The map that `to_dict` described."""
        try:
            space, monotone, method = data["space"], data["monotone"], data["method"]
            function = data["function"]
        except (KeyError, TypeError) as error:
            raise ModelFileError(f"A calibration map needs the entry {error}; this is not one.") from error
        if space not in SPACES or not isinstance(monotone, bool) or not isinstance(method, str):
            raise ModelFileError("The entries `space`, `monotone` or `method` of this map are damaged.")
        loaded = cls(MapFunction.from_dict(function), space, monotone, method)
        if not loaded.function.is_sound() or (monotone and not loaded._never_falls()):
            raise ModelFileError("The numbers of this map are damaged: they are no function from scores to [0, 1].")
        return loaded

    def _never_falls(self) -> bool:
        low, high = (0.0, 1.0) if self.space == "probability" else (-_LARGEST, _LARGEST)
        inner = np.concatenate((self.function.knots(), np.linspace(0.0, 1.0, 101)))
        scores = np.unique(np.concatenate(([low], inner[(inner > low) & (inner < high)], [high])))
        return bool((np.diff(self.function(scores)) >= -REPLAY_TOLERANCE).all())

    def save(self, path: AnyPath) -> None:
        """Write versioned JSON with a checksum and a test vector; the file appears whole or not at all."""
        write_model(path, FORMAT, VERSION, {"map": self.to_dict(), "test_vector": self._test_vector()}, indent=1)

    def _test_vector(self) -> dict[str, list[float]]:
        knots = self.function.knots()
        low, high = (0.0, 1.0) if self.space == "probability" else (-3.0, 3.0)
        inner = knots[np.linspace(0, len(knots) - 1, 17).astype(int)] if len(knots) else knots
        if self.space == "probability":
            inner = np.clip(inner, low, high)  # the next double after an edge at 1 is no probability
        scores = np.unique(np.concatenate((np.linspace(low, high, 17), inner)))
        return {"scores": scores.tolist(), "probabilities": self.function(scores).tolist()}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CalibrationMap):
            return NotImplemented
        return (self.space, self.monotone, self.function.to_dict()) == (
            other.space,
            other.monotone,
            other.function.to_dict(),
        )

    def __hash__(self) -> int:
        return hash(checksum(self.function.to_dict()))


def first_double(reaches: Callable[[Floats], Bools], low: Floats, high: Floats) -> Floats:
    """Halve the sets of doubles between `low` (not reaching) and `high` (reaching) until one remains of each."""
    below, above = doubles.ordinal(low + 0.0), doubles.ordinal(high + 0.0)
    for _ in range(64):
        middle = (below >> 1) + (above >> 1) + (below & above & 1)
        reached = reaches(doubles.from_ordinal(middle))
        below, above = np.where(reached, below, middle), np.where(reached, middle, above)
    return doubles.from_ordinal(above)


def load(path: AnyPath) -> CalibrationMap | MatrixMap:
    """Read a saved map and check that it still computes what it computed when it was saved.

    Loading runs no code from the file. A file that is damaged, cut short, of another program, or of a newer
    version raises `ModelFileError`. The checksum notices damage; it is not a signature.

    Returns
    -------
    CalibrationMap, or MatrixMap where a calibrator of several classes saved the file

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from calibrant import PlattScaling, load
    >>> calibrator = PlattScaling().fit([0.1, 0.4, 0.6, 0.9], [0, 1, 0, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "map.json"
    ...     calibrator.save(path)
    ...     load(path) == calibrator.map_
    True
    """
    document = read_model(path, {FORMAT: VERSION, matrix_maps.FORMAT: matrix_maps.VERSION})
    if document["format"] == matrix_maps.FORMAT:
        return restore(MatrixMap.from_dict, document, path, matrix_maps.REPLAY_TOLERANCE)
    return restore(CalibrationMap.from_dict, document, path, REPLAY_TOLERANCE)


_LARGEST = float(np.finfo(np.float64).max)
