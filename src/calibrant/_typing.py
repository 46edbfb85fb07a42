"""Names for the arrays that the library passes around."""

from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

ArrayLike: TypeAlias = npt.ArrayLike
Bools: TypeAlias = npt.NDArray[np.bool_]
Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.intp]
RandomState: TypeAlias = int | np.random.Generator | np.random.RandomState | None


class HasPosterior(Protocol):
    """A fitted model that predicts, and draws whole maps from its posterior."""

    def predict(self, scores: ArrayLike) -> Floats:
        """P(positive) at each score, (n,)."""
        ...

    def sample_maps(self, scores: ArrayLike, n_draws: int = 100, random_state: RandomState = 0) -> Floats:
        """Draws of the map at `scores`, (n_draws, n)."""
        ...
