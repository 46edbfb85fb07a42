"""How much of a model's probabilities must be changed for new data, and why."""

from dataclasses import dataclass

import numpy as np
from scipy import special

from calibrant import _validation
from calibrant._numerics import links
from calibrant._numerics.logistic import Fit, fit_logistic
from calibrant._tables import align
from calibrant._typing import Floats
from calibrant.errors import InvalidInputError
from calibrant.maps.functions import Identity, LogitLinear, MapFunction, Sigmoid
from calibrant.maps.score import CalibrationMap
from calibrant.metrics.reading import of_sample
from calibrant.metrics.samples import GroupedRows, ScoreSample, both_classes
from calibrant.metrics.validation import Odds, cluster_covariance, cluster_p_value
from calibrant.tally import Tally

QUANTILES = (0.25, 0.5, 0.75)
NAMES = ("keep", "intercept", "slope", "curve")
SENTENCES = {
    "keep": "Keep the probabilities as they are",
    "intercept": "Shift all log-odds by {intercept:+.2f}",
    "slope": "Move the log-odds to {intercept:.2f} + {slope:.2f} logit(p)",
    "curve": "Refit the curve",
}


@dataclass(frozen=True)
class Update:
    """One way to update, from the least to the most extensive.

    Attributes
    ----------
    name : {"keep", "intercept", "slope", "curve"}
        The way; "slope" has an intercept too, and "curve" bends at the quartiles.
    parameters : int
        How many numbers it estimates.
    deviance : float
        −2 ln likelihood on these rows.
    p_values : dict of str to float
        Of the tests whether each of the more extensive updates fits better than this one.
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
    p_values: dict[str, float]
    map_: CalibrationMap


@dataclass(frozen=True, repr=False)
class UpdateChoice:
    """All updates, and the one that the closed test chose.

    Attributes
    ----------
    updates : tuple of Update
        From "keep" to the largest that was allowed.
    chosen : Update
        The least extensive one that the largest does not beat.
    alpha : float
        Significance level of each test and of the procedure.
    sentence : str
        What to do and why.
    remarks : tuple of str
        What to know about groups of rows, where there are some.

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
    remarks: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"UpdateChoice({self.chosen.name}, alpha {self.alpha:g})"

    def __str__(self) -> str:
        larger = [update.name for update in self.updates[1:]]
        rows = [["update", "parameters", "deviance", *(f"p against {name}" for name in larger)]]
        for update in self.updates:
            p_values = [f"{update.p_values[name]:.2g}" if name in update.p_values else "" for name in larger]
            rows.append([update.name, str(update.parameters), f"{update.deviance:.1f}", *p_values])
        return "\n".join([self.sentence, *align(rows), *self.remarks])


@of_sample
def choose_update(sample: ScoreSample, *, largest: str = "curve", alpha: float = 0.05) -> UpdateChoice:
    """Choose between keeping a model, shifting it, recalibrating it and refitting its curve, by a closed test.

    The updates are nested logistic models of logit(p): nothing; an intercept; intercept and slope; and a curve of
    straight pieces that may bend at the quartiles of logit(p). The largest is tested by likelihood ratio first against
    the model as it is, then against the intercept, then against intercept and slope, and the first that it does not
    beat is chosen. Because every test must be passed before the next, all of them together keep the level: a model that
    needs no update is changed with probability `alpha` at most, for large samples. A curve spreads its power over many
    shapes, so it can miss an error of the level alone; `largest`, chosen before looking at the rows, says which errors
    are worth looking for. All tests between two updates are printed.

    Parameters
    ----------
    y_true : array-like of shape (n,) or Tally
        Labels; or a tally in place of all data.
    y_prob : array-like of shape (n,)
        Probabilities of the positive class, by a model fitted to other data.
    largest : {"curve", "slope", "intercept"}
        The most extensive update that is considered.
    alpha : float
        Significance level.
    groups : array-like of shape (n,), optional
        The group of each row, such as a patient: the tests are then Wald tests with the covariance of sums over groups,
        and NaN where they are for more numbers than there are groups less one.
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
    slope
    """
    _validation.check_choice("largest", largest, NAMES[1:])
    _validation.check_number("alpha", alpha, "rate")
    both_classes(sample.tally, "Choosing an update")
    updates = _updates(sample, NAMES[: NAMES.index(largest) + 1])
    chosen = next((update for update in updates[:-1] if not update.p_values[largest] <= alpha), updates[-1])
    sentence, remarks = _sentence(chosen, updates, alpha), tuple(sample.remarks)
    return UpdateChoice(updates=updates, chosen=chosen, alpha=float(alpha), sentence=sentence, remarks=remarks)


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


def _updates(sample: ScoreSample, names: tuple[str, ...]) -> tuple[Update, ...]:
    """All updates with the tests between them; each estimates how far it moves logit(p), and keeping moves nothing."""
    tally, z = sample.tally, links.logit(sample.tally.scores)
    knots = _knots(tally, z)
    features = _features(z, knots)
    sizes = (0, 1, 2, features.shape[1])[: len(names)]
    fits = [fit_logistic(features[:, :k], tally.positives, tally.totals, offsets=z) for k in sizes[1:]]
    moves = [np.empty(0), *(fit.coefficients for fit in fits)]
    maps = [_map(name, own, knots) for name, own in zip(names, moves, strict=True)]
    odds = Odds.of(tally.scores, tally.positives, tally.totals)
    deviances = [-2.0 * odds.log_likelihood(links.logit(map_.function(tally.scores))[:, None]) for map_ in maps]

    def p_value(small: int, large: int) -> float:
        if sample.rows is None:
            return float(special.chdtrc(sizes[large] - sizes[small], max(deviances[small] - deviances[large], 0.0)))
        return _wald_p_value(sample.rows, fits[large - 1], knots, sizes[small])

    against = [{names[j]: p_value(i, j) for j in range(i + 1, len(names))} for i in range(len(names))]
    return tuple(
        Update(name=name, parameters=sizes[i], deviance=deviances[i], p_values=against[i], map_=maps[i])
        for i, name in enumerate(names)
    )


def _features(z: Floats, knots: Floats) -> Floats:
    return np.column_stack((np.ones(len(z)), z, *(np.maximum(z - knot, 0.0) for knot in knots)))


def _wald_p_value(rows: GroupedRows, fit: Fit, knots: Floats, n_free: int) -> float:
    """The test that all coefficients behind the first few are 0, for rows in groups."""
    odds = Odds.of(rows.scores, rows.weights * rows.labels, rows.weights)
    features = _features(odds.logits[:, 0], knots)[None, :, : len(fit.coefficients)]
    covariance = cluster_covariance(odds, rows.groups, features, fit)[n_free:, n_free:]
    return cluster_p_value(fit.coefficients[n_free:], covariance, rows.groups)


def _map(name: str, moves: Floats, knots: Floats) -> CalibrationMap:
    """The update by how far it moves logit(p); a curve as points at the knots, with the slopes outside them."""
    function: MapFunction = Identity()
    slopes = 1.0 + np.cumsum(moves[1:])
    if len(moves) > 2:
        heights = moves[0] + slopes[0] * knots[0] + np.append(0.0, np.cumsum(slopes[1:-1] * np.diff(knots)))
        function = LogitLinear(knots, heights, float(slopes[0]), float(slopes[-1]))
    elif len(moves):
        function = Sigmoid(float(slopes[0]) if len(slopes) else 1.0, float(moves[0]), "logit")
    return CalibrationMap(function, "probability", bool((slopes >= 0.0).all()), f"update: {name}")


def _sentence(chosen: Update, updates: tuple[Update, ...], alpha: float) -> str:
    function, largest = chosen.map_.function, updates[-1]
    numbers = {"intercept": getattr(function, "intercept", 0.0), "slope": getattr(function, "slope", 1.0)}
    what = SENTENCES[chosen.name].format(**numbers)
    if chosen is not updates[0]:
        what += f" (p = {updates[0].p_values[largest.name]:.2g} for the probabilities as they are)"
    if chosen is largest:
        return f"{what}: nothing less than the largest update that was allowed is enough (alpha {alpha:g})."
    test = f"p = {chosen.p_values[largest.name]:.2g}, alpha {alpha:g}"
    stop = f"{what}: the closed test stops here, as there is no evidence for the {largest.name} instead ({test})."
    seen = [name for name, p in chosen.p_values.items() if p <= alpha]
    if not seen:
        return stop
    alone = " and ".join(f"{name} (p = {chosen.p_values[name]:.2g})" for name in seen)
    return f"{stop} Tested alone there is evidence for: {alone}; `largest` restricts the test to such updates."
