"""A Bayesian calibrator whose probabilities were adjusted afterwards, with its posterior kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, overload

from calibrant._typing import ArrayLike, Floats, RandomState
from calibrant.errors import InvalidInputError
from calibrant.maps.score import CalibrationMap

if TYPE_CHECKING:
    from calibrant.calibrators.base import BayesianCalibrator

__all__ = ["AdjustedCalibrator", "HasPosterior", "follow"]


class AdjustedCalibrator:
    """A fitted Bayesian calibrator followed by a map of its probabilities, such as a prior shift or an anchor.

    Intervals and draws go through the map as well. As it increases, quantiles of the posterior stay quantiles, so the
    intervals keep their level.

    Parameters
    ----------
    calibrator : fitted Bayesian calibrator
        With `predict_interval` and `sample_maps`.
    adjustment : CalibrationMap
        A map from probabilities to probabilities that never decreases.

    Attributes
    ----------
    map_ : CalibrationMap
        The adjusted map, to be saved or exported.

    Examples
    --------
    >>> from calibrant import BayesIso, simulate
    >>> from calibrant.adjust import adjust_prior
    >>> data = simulate.from_truth("D1", 300)
    >>> calibrator = BayesIso().fit(data.scores, data.labels)
    >>> adjusted = adjust_prior(calibrator, train_rate=data.labels.mean(), serve_rate=0.1)
    >>> low, high = adjusted.predict_interval([0.5])
    >>> bool(low[0] < adjusted.predict([0.5])[0] < high[0]), adjusted.sample_maps([0.5], n_draws=7).shape
    (True, (7, 1))
    """

    def __init__(self, calibrator: HasPosterior, adjustment: CalibrationMap) -> None:
        if not hasattr(calibrator, "sample_maps") or not hasattr(calibrator, "map_"):
            raise InvalidInputError(
                f"What is adjusted must be a map or a fitted Bayesian calibrator, such as ABB; got "
                f"{type(calibrator).__name__}. Of other fitted calibrators adjust the map, `calibrator.map_`."
            )
        if not adjustment.monotone:
            raise InvalidInputError("`adjustment` must never decrease, or intervals would not stay intervals.")
        self.calibrator = calibrator
        self.adjustment = adjustment
        self.map_: CalibrationMap = calibrator.map_.then(adjustment)

    def predict(self, scores: ArrayLike) -> Floats:
        """P(y = positive class) for each score, (n,)."""
        return self.map_(scores)

    def predict_interval(self, scores: ArrayLike, level: float = 0.9) -> tuple[Floats, Floats]:
        """Lower and upper ends of the central credible interval of each adjusted probability."""
        low, high = self.calibrator.predict_interval(scores, level=level)
        return self.adjustment(low), self.adjustment(high)

    def sample_maps(self, scores: ArrayLike, n_draws: int = 100, random_state: RandomState = 0) -> Floats:
        """Draws of the adjusted map from its posterior, (n_draws, n)."""
        draws = self.calibrator.sample_maps(scores, n_draws=n_draws, random_state=random_state)
        return self.adjustment(draws.ravel()).reshape(draws.shape)


HasPosterior: TypeAlias = "BayesianCalibrator | AdjustedCalibrator"


@overload
def follow(what: CalibrationMap, adjustment: CalibrationMap) -> CalibrationMap: ...
@overload
def follow(what: HasPosterior, adjustment: CalibrationMap) -> AdjustedCalibrator: ...
def follow(what: CalibrationMap | HasPosterior, adjustment: CalibrationMap) -> CalibrationMap | AdjustedCalibrator:
    """A map followed by an adjustment is a map; a calibrator with a posterior keeps it."""
    return what.then(adjustment) if isinstance(what, CalibrationMap) else AdjustedCalibrator(what, adjustment)
