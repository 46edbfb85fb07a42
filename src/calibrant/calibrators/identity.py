"""Doing nothing: the baseline that every method must beat."""

from calibrant.calibrators.base import Calibrator
from calibrant.maps.functions import Identity as IdentityForm
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

    def fit_map(self, tally: Tally) -> IdentityForm:  # noqa: ARG002 - nothing to learn
        return IdentityForm()
