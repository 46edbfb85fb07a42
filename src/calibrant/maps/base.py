"""What every frozen map is, whatever the shape of its scores: saved, loaded, compared, asked for intervals."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from calibrant import _validation
from calibrant._files import AnyPath
from calibrant._typing import ArrayLike, Bools, Floats, RandomState
from calibrant.errors import InvalidInputError, ModelFileError
from calibrant.maps.files import checksum, write_model

LARGEST = float(np.finfo(np.float64).max)
# What a map remembers of its fit; two maps with the same numbers are equal whatever stands here.
PROVENANCE = ("method", "fitted_range", "columns")


class FrozenMap(ABC):
    """A fitted calibration: numbers and a formula that numpy alone evaluates.

    A kind of map has a subclass, which says how it computes, what it is as plain values, and which rows show that it
    still computes the same after it was loaded.

    Attributes
    ----------
    kind : str
        The shape of its scores: "score", "matrix", "segments" or "panel".
    method : str
        The name of the method that made it.
    space : {"probability", "decision"}
        What its scores are: probabilities, or any finite numbers.

    Examples
    --------
    >>> from calibrant import PlattScaling
    >>> from calibrant.maps.base import FrozenMap
    >>> map_ = PlattScaling().fit([0.1, 0.4, 0.6, 0.9], [0, 1, 0, 1]).map_
    >>> isinstance(map_, FrozenMap), map_.kind, map_.has_posterior
    (True, 'score', False)
    """

    kind: ClassVar[str]
    #: How far probabilities may differ between machines: exp and log do so by a unit in the last place.
    tolerance: ClassVar[float] = 1e-12
    method: str
    space: str
    #: What intervals and draws need, where a Bayesian method made it and saved them.
    posterior: Any = None

    @abstractmethod
    def __call__(self, scores: ArrayLike) -> Any:
        """Calibrated probabilities: of the positive class, (n,), or of all classes, (n, K)."""

    def predict(self, scores: ArrayLike) -> Any:
        """The same as calling the map, but arrays of torch and JAX come back as such."""
        return _validation.like(scores, self(scores))

    def predict_proba(self, scores: ArrayLike) -> Floats:
        """Probabilities of all classes, (n, K); the second of two is the positive one."""
        return _validation.like(scores, as_columns(np.asarray(self(scores))))

    def accepts(self, scores: Floats) -> Bools:
        """Tell which scores, or rows of a matrix, the map takes."""
        low, high = domain(self.space)
        return (scores >= low) & (scores <= high)

    def check_scores(self, scores: ArrayLike) -> Floats:
        """The scores as an array, (n,), if the map takes them; a single number is one score."""
        array = _validation.check_scores(np.array([scores]) if _validation.is_number(scores) else scores)
        if self.space == "probability":
            _validation.check_unit_interval(array, "scores", self.method or "This map")
        return array

    @property
    def has_posterior(self) -> bool:
        """Whether it has intervals and draws: whether a Bayesian method made it, and saved them."""
        return self.posterior is not None

    def need_posterior(self) -> Any:
        """The posterior; a map that has no intervals and draws refuses."""
        if not self.has_posterior:
            raise InvalidInputError(
                f"Intervals and draws need the posterior of a Bayesian method; this {type(self).__name__} has none. "
                "Save a Bayesian method, such as Blend, with its posterior, or ask the fitted calibrator."
            )
        return self.posterior

    @abstractmethod
    def predict_interval(self, scores: ArrayLike, level: float = 0.9) -> tuple[Floats, Floats]:
        """Lower and upper ends of the central credible interval of each calibrated probability."""

    @abstractmethod
    def sample_maps(self, scores: ArrayLike, n_draws: int = 100, random_state: RandomState = 0) -> Floats:
        """Draws of the whole map from its posterior, evaluated at `scores`, (n_draws, n) or (n_draws, n, K)."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON."""

    @classmethod
    @abstractmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The map that `to_dict` described."""

    @abstractmethod
    def test_vector(self) -> dict[str, Any]:
        """Rows, and under ``"probabilities"`` what the map makes of them."""

    def replay(self, vector: Mapping[str, Any]) -> Floats:
        """What this map makes of the rows of a test vector."""
        return self(vector["scores"])

    def posterior_to_dict(self) -> dict[str, Any] | None:
        """What intervals and draws need beyond `to_dict`, ready for JSON; None where there is nothing to add."""
        return None if self.posterior is None else self.posterior.to_dict()

    def with_posterior(self, data: Mapping[str, Any]) -> Self:  # noqa: ARG002 - for kinds that keep one apart
        """The map with the posterior that `posterior_to_dict` described."""
        raise ModelFileError(f"A {type(self).__name__} has no posterior of its own.")

    def save(self, path: AnyPath) -> None:
        """Write versioned JSON with a checksum and a test vector; the file appears whole or not at all."""
        content = {"kind": self.kind, "map": self.to_dict(), "test_vector": self.test_vector()}
        posterior = self.posterior_to_dict()
        write_model(path, content if posterior is None else content | {"posterior": posterior})

    @classmethod
    def load(cls, path: AnyPath) -> Self:
        """Read a saved map of this kind; `calibrant.load` reads those of every kind."""
        from calibrant.maps.loading import load

        map_ = load(path)
        if not isinstance(map_, cls):
            raise ModelFileError(f"{path} holds a {type(map_).__name__}, not a {cls.__name__}; use `calibrant.load`.")
        return map_

    def _numbers(self) -> dict[str, Any]:
        return {key: value for key, value in self.to_dict().items() if key not in PROVENANCE}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FrozenMap):
            return NotImplemented
        return self.kind == other.kind and self._numbers() == other._numbers()

    def __hash__(self) -> int:
        return hash(checksum(self._numbers()))


def domain(space: str) -> tuple[float, float]:
    """The lowest and the highest score that a map of a space takes."""
    return (0.0, 1.0) if space == "probability" else (-LARGEST, LARGEST)


def as_columns(probabilities: Floats) -> Floats:
    """Probabilities of the positive class, (n,), as those of both, (n, 2); a matrix as it is."""
    if probabilities.ndim == 2:
        return probabilities
    return np.column_stack((1.0 - probabilities, probabilities))


def ends_like(scores: ArrayLike, ends: tuple[Floats, Floats] | Floats) -> tuple[Floats, Floats]:
    """The ends of intervals as they are; of a single score, as two numbers; of a tensor, as tensors."""
    low, high = ends
    return _validation.like(scores, low), _validation.like(scores, high)
