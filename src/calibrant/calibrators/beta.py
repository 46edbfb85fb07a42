"""Beta calibration: the curves that are right when each class's scores follow a beta distribution."""

import numpy as np

from calibrant import _validation
from calibrant._numerics import links
from calibrant._typing import Floats
from calibrant.calibrators.base import Calibrator
from calibrant.maps.functions import Beta
from calibrant.tally import Tally

PARAMETERS = ("abm", "ab", "am")


class BetaCalibration(Calibrator):
    """The curve ``expit(a · ln s − b · ln(1 − s) + c)`` with a, b ≥ 0.

    A coefficient that would be negative is left out and the others are fitted again, so the map never decreases.
    (The package betacal does so with "abm" only, and once only.) Scores that rank the classes the wrong way round
    thus give a constant: the base rate, or ½ with "ab".

    Parameters
    ----------
    parameters : {"abm", "ab", "am"}
        All three; or c such that 0.5 (the m of the paper) keeps its place; or a = b, which is logistic
        regression on the logit.
    target_correction : bool
        Replace the labels 0 and 1 by Platt's corrected targets.

    Attributes
    ----------
    a_, b_, c_ : float
        The curve.

    Examples
    --------
    >>> from calibrant import BetaCalibration
    >>> calibrator = BetaCalibration().fit([0.1, 0.2, 0.4, 0.6, 0.7, 0.9], [0, 1, 0, 1, 0, 1])
    >>> calibrator.predict([0.1, 0.5, 0.9]).round(3).tolist()
    [0.303, 0.457, 0.838]
    """

    name = "beta"
    title = "beta calibration"
    description = "the beta family: a, b, m or two of them, monotone"
    reference = "Kull, Silva Filho and Flach 2017"
    space = "probability"
    monotone = True

    def __init__(self, *, parameters: str = "abm", target_correction: bool = False) -> None:
        self.parameters = parameters
        self.target_correction = target_correction

    def fit_map(self, tally: Tally) -> Beta:
        _validation.check_choice("parameters", self.parameters, PARAMETERS)
        log_s, minus_log_rest = links.log_odds_features(tally.scores)
        positives = links.platt_targets(tally.positives, tally.totals) if self.target_correction else tally.positives
        if self.parameters == "am":
            slopes, self.c_ = _curve([log_s + minus_log_rest], positives, tally.totals)
            self.a_ = self.b_ = slopes[0]
        elif self.parameters == "abm":
            (self.a_, self.b_), self.c_ = _curve([log_s, minus_log_rest], positives, tally.totals)
        else:
            # m = ½ makes a ln 2s − b ln 2(1−s), which is 0 at s = ½, of the same curve without intercept.
            half = [log_s + _LN2, minus_log_rest - _LN2]
            (self.a_, self.b_), _ = _curve(half, positives, tally.totals, intercept=False)
            self.c_ = (self.a_ - self.b_) * _LN2
        return Beta(self.a_, self.b_, self.c_)


def _curve(
    columns: list[Floats], positives: Floats, totals: Floats, *, intercept: bool = True
) -> tuple[list[float], float]:
    """Non-negative slopes and the intercept; as in betacal, a negative slope is dropped and the rest refitted."""
    from calibrant._numerics import logistic

    kept = list(range(len(columns)))
    while kept or intercept:
        centred = [logistic.standardise(columns[i], totals) if intercept else (0.0, 1.0) for i in kept]
        features = [(columns[i] - centre) / scale for i, (centre, scale) in zip(kept, centred, strict=True)]
        if intercept:
            features.append(np.ones(len(totals)))
        found = logistic.fit_logistic(np.stack(features).T, positives, totals).coefficients
        slopes = [float(found[j] / scale) for j, (_, scale) in enumerate(centred)]
        negative = [i for i, slope in zip(kept, slopes, strict=True) if slope < 0.0]
        if not negative:
            height = float(found[-1]) if intercept else 0.0
            all_slopes = dict(zip(kept, slopes, strict=True))
            shift = sum(slope * centre for slope, (centre, _) in zip(slopes, centred, strict=True))
            return [all_slopes.get(i, 0.0) for i in range(len(columns))], height - shift
        kept.remove(negative[0])
    return [0.0] * len(columns), 0.0


_LN2 = float(np.log(2.0))
