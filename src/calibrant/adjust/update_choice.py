"""How much of a model's probabilities must be changed for new data, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from calibrant import _validation
from calibrant._numerics import links
from calibrant._typing import ArrayLike, Floats
from calibrant.errors import InvalidInputError
from calibrant.maps.functions import Identity, LogitLinear, MapFunction, Sigmoid
from calibrant.maps.score import CalibrationMap
from calibrant.metrics.samples import as_tally, both_classes
from calibrant.tally import Tally

__all__ = ["Update", "UpdateChoice", "choose_update"]

QUANTILES = (0.25, 0.5, 0.75)
SENTENCES = {
    "keep": "Keep the probabilities as they are: no update improves them beyond chance",
    "intercept": "Shift all log-odds by {intercept:+.2f}: the level is wrong, and nothing else beyond chance",
    "intercept and slope": "Move the log-odds to {intercept:.2f} + {slope:.2f} logit(p): level and spread are wrong",
    "flexible": "Refit the curve: level and spread alone do not explain how the probabilities are wrong",
}


@dataclass(frozen=True)
class Update:
    """One way to update, from the least to the most extensive.

    Attributes
    ----------
    name : {"keep", "intercept", "intercept and slope", "flexible"}
        The way.
    parameters : int
        How many numbers it estimates.
    deviance : float
        −2 ln likelihood on these rows.
    p_value : float
        Of the test whether the flexible curve fits better than this update; 1 for the flexible curve itself.
    map_ : CalibrationMap
        The updated probabilities as a function of the old ones.

    Examples
    --------
    >>> from calibrant import simulate
    >>> from calibrant.adjust import choose_update
    >>> data = simulate.from_truth("D1", 500)
    >>> [update.parameters for update in choose_update(data.labels, data.scores).updates]
    [0, 1, 2, 5]
    """

    name: str
    parameters: int
    deviance: float
    p_value: float
    map_: CalibrationMap


@dataclass(frozen=True, repr=False)
class UpdateChoice:
    """All updates, and the one that the closed test chose.

    Attributes
    ----------
    updates : tuple of Update
        From "keep" to "flexible".
    chosen : Update
        The least extensive one that the flexible curve does not beat.
    alpha : float
        Significance level of each test and of the procedure.
    sentence : str
        What to do and why.

    Examples
    --------
    >>> from calibrant import simulate
    >>> from calibrant.adjust import choose_update
    >>> data = simulate.from_truth("D1", 500)
    >>> choose_update(data.labels, data.probabilities).chosen.name
    'keep'
    """

    updates: tuple[Update, ...]
    chosen: Update
    alpha: float
    sentence: str

    def __repr__(self) -> str:
        return f"UpdateChoice({self.chosen.name}, alpha {self.alpha:g})"

    def __str__(self) -> str:
        return self.sentence


def choose_update(
    y_true: ArrayLike | Tally,
    y_prob: ArrayLike | None = None,
    *,
    alpha: float = 0.05,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> UpdateChoice:
    """Choose between keeping a model, shifting it, recalibrating it and refitting its curve, by a closed test.

    The updates are nested logistic models of logit(p): nothing; an intercept; intercept and slope; and a curve of
    straight pieces that may bend at the quartiles of logit(p). The flexible curve is tested by likelihood ratio first
    against the model as it is, then against the intercept, then against intercept and slope, and the first that it does
    not beat is chosen. Because every test must be passed before the next, all of them together keep the
    level: a model that needs no update is changed with probability `alpha` at most, for large samples.

    Parameters
    ----------
    y_true : array-like of shape (n,) or Tally
        Labels; or a tally in place of all data.
    y_prob : array-like of shape (n,)
        Probabilities of the positive class, by a model fitted to other data.
    alpha : float
        Significance level.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights, counted as numbers of rows.
    pos_label : label, optional
        The positive class, where the labels are not bool, {0, 1} or {-1, 1}.

    Returns
    -------
    UpdateChoice

    References
    ----------
    Vergouwe, Nieboer, Oostenbrink, Debray, Murray, Kattan, Koffijberg, Moons, Steyerberg 2017, "A closed testing
    procedure to select an appropriate method for updating prediction models". Their most extensive update refits the
    model's coefficients; here, where only probabilities are known, it is a curve of them.

    Examples
    --------
    >>> from calibrant import simulate
    >>> from calibrant.adjust import choose_update
    >>> data = simulate.from_truth("underconfident", 3000)  # the truth is 1.8 logit(p) + 0.3
    >>> print(choose_update(data.labels, data.scores).chosen.name)
    intercept and slope
    """
    tally = as_tally(y_true, y_prob, sample_weight, pos_label)
    both_classes(tally, "Choosing an update")
    _validation.check_number("alpha", alpha, "rate")
    z = links.logit(tally.scores)
    knots = _knots(tally, z)
    fits = _fits(tally, z, knots)
    best = fits[-1][2]
    updates = tuple(
        Update(name, parameters, deviance, _p_value(deviance - best, fits[-1][1] - parameters), map_)
        for name, parameters, deviance, map_ in fits
    )
    chosen = next((update for update in updates[:-1] if update.p_value > alpha), updates[-1])
    return UpdateChoice(updates, chosen, float(alpha), _sentence(chosen, updates[0], alpha))


def _knots(tally: Tally, z: Floats) -> Floats:
    """The quartiles of the logits, over rows."""
    if len(z) < 5:
        raise InvalidInputError(
            f"Choosing an update needs at least five different probabilities; got {len(z)}. With so few, compare the "
            "share of positives at each with a table."
        )
    quartiles = np.searchsorted(np.cumsum(tally.totals) / tally.total, QUANTILES)
    knots = np.unique(z[np.minimum(quartiles, len(z) - 2)])
    out: Floats = knots[knots > z[0]]
    return out if len(out) else z[len(z) // 2 : len(z) // 2 + 1]  # three rows of four at the lowest probability


def _fits(tally: Tally, z: Floats, knots: Floats) -> list[tuple[str, int, float, CalibrationMap]]:
    from calibrant._numerics.logistic import fit_logistic

    ones = np.ones((len(z), 1))
    line = np.column_stack((ones, z))
    hinges = np.column_stack((line, *(np.maximum(z - knot, 0.0) for knot in knots)))
    shift = fit_logistic(ones, tally.positives, tally.totals, offsets=z).coefficients
    both = fit_logistic(line, tally.positives, tally.totals).coefficients
    curve = fit_logistic(hinges, tally.positives, tally.totals).coefficients
    functions: list[tuple[str, int, MapFunction]] = [
        ("keep", 0, Identity()),
        ("intercept", 1, Sigmoid(1.0, float(shift[0]), "logit")),
        ("intercept and slope", 2, Sigmoid(float(both[1]), float(both[0]), "logit")),
        ("flexible", 2 + len(knots), _curve_function(curve, knots)),
    ]
    return [(name, number, _deviance(tally, function), _map(function, name)) for name, number, function in functions]


def _curve_function(coefficients: Floats, knots: Floats) -> LogitLinear:
    """The straight pieces as points: at the knots, with the slopes outside them."""
    intercept, slopes = coefficients[0], np.cumsum(coefficients[1:])
    heights = intercept + coefficients[1] * knots[0] + np.append(0.0, np.cumsum(slopes[1:-1] * np.diff(knots)))
    return LogitLinear(knots, heights, float(slopes[0]), float(slopes[-1]))


def _map(function: MapFunction, name: str) -> CalibrationMap:
    rising = True
    if isinstance(function, Sigmoid):
        rising = function.slope >= 0.0
    elif isinstance(function, LogitLinear):
        rising = bool(min(function.slope_below, function.slope_above, *np.diff(function.y)) >= 0.0)
    return CalibrationMap(function, "probability", rising, f"update: {name}")


def _deviance(tally: Tally, function: MapFunction) -> float:
    z = links.logit(function(tally.scores))
    return float(2.0 * (tally.positives @ np.logaddexp(0.0, -z) + tally.negatives @ np.logaddexp(0.0, z)))


def _p_value(gain: float, degrees: int) -> float:
    return float(special.chdtrc(degrees, max(gain, 0.0))) if degrees else 1.0


def _sentence(chosen: Update, first: Update, alpha: float) -> str:
    function = chosen.map_.function
    numbers = {"intercept": getattr(function, "intercept", 0.0), "slope": getattr(function, "slope", 1.0)}
    what = SENTENCES[chosen.name].format(**numbers)
    if chosen is first:
        return f"{what} (p = {first.p_value:.2g} against a flexible curve, alpha {alpha:g})."
    return f"{what} (p = {first.p_value:.2g} for the probabilities as they are, alpha {alpha:g})."
