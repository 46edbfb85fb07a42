"""Doing nothing: the baseline that every method must beat."""

import numpy as np

from calibrant._numerics import links
from calibrant._typing import Floats
from calibrant.calibrators.base import Calibrator
from calibrant.maps.functions import Identity as IdentityForm
from calibrant.maps.functions import Linear, MapFunction
from calibrant.tally import Tally


class Identity(Calibrator):
    """Return the score unchanged.

    Examples
    --------
    >>> from calibrant import Identity
    >>> Identity().fit([0.2, 0.7], [0, 1]).predict([0.3]).tolist()
    [0.3]
    """

    name = "identity"
    title = "do nothing"
    description = "nothing: the baseline that every method must beat"
    reference = "the raw score"
    space = "probability"
    monotone = True

    def fit_map(self, tally: Tally) -> MapFunction:  # noqa: ARG002 - nothing to learn
        return IdentityForm()


class HeldIdentity(Identity):
    """The score as a member of `Blend`: at 0 and 1 no surer than the rows tied there can prove."""

    def fit_map(self, tally: Tally) -> MapFunction:
        ends = np.array(links.provable_ends(tally.scores, tally.totals))
        return IdentityForm() if tuple(ends) == (0.0, 1.0) else Linear(ends, ends)

    def interval_draws(self, scores: Floats, n_draws: int, rng: np.random.Generator) -> tuple[Floats, Floats]:  # noqa: ARG002
        """The one curve that there is, as often as draws are wanted."""
        curves = np.broadcast_to(self.predict(scores), (n_draws, len(scores)))
        return curves, curves

    def leave_one_out(self, tally: Tally) -> tuple[Floats, Floats]:
        """What is learned from no row is the same without it."""
        p = links.clip(self.predict(tally.scores))
        return p, 1.0 - p
