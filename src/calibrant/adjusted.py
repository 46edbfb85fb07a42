"""A Bayesian calibrator whose probabilities were adjusted afterwards, with its posterior kept."""

from __future__ import annotations

from calibrant._typing import ArrayLike, Floats, RandomState
from calibrant.calibrators.base import BayesianCalibrator
from calibrant.errors import InvalidInputError
from calibrant.maps import CalibrationMap

__all__ = ["AdjustedCalibrator"]


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
    >>> from calibrant.adjusted import AdjustedCalibrator
    >>> from calibrant.map_functions import Sigmoid
    >>> from calibrant.maps import CalibrationMap
    >>> data = simulate.from_truth("D1", 300)
    >>> shift = CalibrationMap(Sigmoid(1.0, -1.0, "logit"), "probability", True, "prior shift")
    >>> adjusted = AdjustedCalibrator(BayesIso().fit(data.scores, data.labels), shift)
    >>> low, high = adjusted.predict_interval([0.5])
    >>> bool(low[0] < adjusted.predict([0.5])[0] < high[0]), adjusted.sample_maps([0.5], n_draws=7).shape
    (True, (7, 1))
    """

    def __init__(self, calibrator: BayesianCalibrator, adjustment: CalibrationMap) -> None:
        if not hasattr(calibrator, "sample_maps") or not hasattr(calibrator, "map_"):
            raise InvalidInputError(
                f"`calibrator` must be a fitted Bayesian calibrator, such as ABB; got {type(calibrator).__name__}. For "
                "others adjust the map itself, `calibrator.map_.then(adjustment)`."
            )
        if not adjustment.monotone:
            raise InvalidInputError("`adjustment` must never decrease, or intervals would not stay intervals.")
        self.calibrator = calibrator
        self.adjustment = adjustment
        self.map_ = calibrator.map_.then(adjustment)

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
