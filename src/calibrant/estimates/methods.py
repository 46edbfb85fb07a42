"""The questions as methods of every model with a posterior."""

from __future__ import annotations

from calibrant._typing import ArrayLike, RandomState
from calibrant.estimates.answer import N_DRAWS, estimate
from calibrant.estimates.difference import Difference, estimate_difference
from calibrant.estimates.result import Estimate
from calibrant.estimates.source import HasPosterior
from calibrant.tally import Tally

__all__ = ["EstimateMethods"]


class EstimateMethods:
    """A base of models with `predict` and `sample_maps`, which gives them `estimate` and `estimate_difference`.

    Examples
    --------
    >>> from calibrant import ABB
    >>> from calibrant.estimates.methods import EstimateMethods
    >>> isinstance(ABB(), EstimateMethods)
    True
    """

    def estimate(
        self: HasPosterior,
        scores: ArrayLike | Tally,
        what: str = "mean",
        *,
        threshold: float | None = None,
        level: float = 0.9,
        finite: bool = True,
        of: str = "probabilities",
        n_draws: int = N_DRAWS,
        random_state: RandomState = 0,
    ) -> Estimate:
        """Say something about rows without labels, with an interval; see `calibrant.estimates.estimate`."""
        return estimate(
            self,
            scores,
            what,
            threshold=threshold,
            level=level,
            finite=finite,
            of=of,
            n_draws=n_draws,
            random_state=random_state,
        )

    def estimate_difference(
        self: HasPosterior,
        first: ArrayLike | Tally,
        second: ArrayLike | Tally,
        what: str = "mean",
        *,
        threshold: float | None = None,
        level: float = 0.9,
        finite: bool = True,
        of: str = "probabilities",
        n_draws: int = N_DRAWS,
        random_state: RandomState = 0,
    ) -> Difference:
        """Compare two sets of rows without labels; see `calibrant.estimates.estimate_difference`."""
        return estimate_difference(
            self,
            first,
            second,
            what,
            threshold=threshold,
            level=level,
            finite=finite,
            of=of,
            n_draws=n_draws,
            random_state=random_state,
        )
