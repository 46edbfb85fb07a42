"""`compare`: all methods on the same folds, judged by proper scores on rows that they have not seen."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from scipy.special import ndtri

from calibrant import _validation
from calibrant._typing import ArrayLike
from calibrant.calibrators import registry
from calibrant.calibrators.base import Calibrator
from calibrant.comparison.crossfit import Fold, OutOfFold, crossfit, folds
from calibrant.comparison.table import Comparison, MethodResult
from calibrant.errors import InvalidInputError
from calibrant.metrics.base import as_tally, check_level
from calibrant.metrics.bootstrap import Interval
from calibrant.metrics.scores import brier_loss, logarithmic_loss
from calibrant.metrics.smooth import smooth_calibration_error
from calibrant.tally import Tally

__all__ = ["compare"]

MOST_CELLS = 4096
RAW = "identity"


def compare(
    scores: ArrayLike | Tally,
    y: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    methods: Iterable[str] | Mapping[str, Calibrator] | None = None,
    cv: int = 5,
    repeats: int = 1,
    level: float = 0.9,
    random_state: int | None = 0,
    progress: Callable[[str], object] | None = None,
) -> Comparison:
    """Compare calibration methods, "do nothing" among them, by cross-validation.

    Every method is fitted on the same folds and judged on the rows left out, by proper scores first. Differences to
    the raw score are paired, row by row, so they are far more certain than the scores themselves. The method with the
    lowest log-loss is recommended if that is lower than the raw score's beyond what the best of so many methods would
    reach by chance. If it is not, the default method, which nobody picked for these results, is recommended if its own
    interval excludes zero; otherwise the advice is to do nothing.

    More than 4096 distinct scores are first joined to as many cells of equal mass, so the time does not grow with the
    number of rows, except for their sort.

    Parameters
    ----------
    scores : array-like of shape (n,), or Tally
        Scores; or a tally in place of all data.
    y : array-like of shape (n,)
        Two classes; the larger label is the positive one.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights, counted as numbers of rows: scale them so that they add up to the number of rows.
    methods : iterable of str, or dict of name to calibrator, optional
        What to compare; by default every method of the library. The raw score is always added.
    cv : int
        Number of folds, at least 2.
    repeats : int
        How many times to split anew.
    level : float
        Confidence level of the intervals.
    random_state : int or None
        The seed of the folds; the same seed gives the same table.
    progress : callable, optional
        Called with the name of each method before its turn.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> import calibrant
    >>> from calibrant import simulate
    >>> data = simulate.from_truth("underconfident", 2000)
    >>> table = calibrant.compare(data.scores, data.labels, methods=["platt", "isotonic"])
    >>> [result.name for result in table.results]
    ['platt', 'isotonic', 'identity']
    >>> table.recommended, table["platt"].log_loss_difference.high < 0
    ('platt', True)
    """
    check_level(level)
    _check_counts(cv, repeats)
    tally = _checked(scores, y, sample_weight)
    decision = bool(tally.scores[0] < 0.0 or tally.scores[-1] > 1.0)
    candidates = _candidates(methods, decision)
    cells = tally.coarsen(MOST_CELLS)
    generator = np.random.default_rng(random_state)
    splits = [fold for _ in range(repeats) for fold in folds(cells, cv, generator)]
    found: dict[str, OutOfFold] = {}
    failed: list[MethodResult] = []
    facts: dict[str, tuple[float, str]] = {}
    for name, calibrator in candidates.items():
        if progress is not None:
            progress(name)
        try:
            found[name], facts[name] = _run(calibrator, splits, repeats)
        except Exception as error:  # whatever breaks one method must not take the others down
            failed.append(MethodResult(name, note=_reason(name, calibrator, error, decision)))
    if not found:
        raise InvalidInputError(f"No method could be fitted to these data. {failed[0].name}: {failed[0].note}")
    reference = _reference(found)
    results = [_judge(name, found[name], found[reference], facts[name], level) for name in found]
    results.sort(key=lambda result: result.log_loss.value if result.log_loss else np.inf)
    recommended, tied, reason = _recommend(results, found, reference, level)
    table = (*results, *failed)
    return Comparison(table, recommended, reason, reference, tally.total, tally.base_rate, level, cv, repeats, tied)


def _check_counts(cv: int, repeats: int) -> None:
    for name, value, least in (("cv", cv, 2), ("repeats", repeats, 1)):
        if isinstance(value, bool) or int(value) != value or value < least:
            raise InvalidInputError(f"`{name}` must be a whole number of at least {least}; got {value!r}.")


def _checked(scores: ArrayLike | Tally, y: ArrayLike | None, sample_weight: ArrayLike | None) -> Tally:
    if isinstance(scores, Tally):
        tally = as_tally(scores, y, sample_weight, probabilities=False)
    elif y is None:
        raise InvalidInputError("`y` must be given together with `scores`; or pass a Tally alone.")
    else:
        tally = Tally.from_arrays(scores, y, sample_weight, _validation.larger_label(y))
    rarer = min(tally.total_positive, tally.total - tally.total_positive)
    if rarer < 2.0:
        raise InvalidInputError(
            f"A comparison needs at least 2 rows of each class, better 20; the rarer class has {rarer:g}. Add rows."
        )
    return tally


def _candidates(methods: Iterable[str] | Mapping[str, Calibrator] | None, decision: bool) -> dict[str, Calibrator]:
    if isinstance(methods, str):
        methods = [methods]
    given = dict(methods) if isinstance(methods, Mapping) else dict.fromkeys(methods or registry.METHODS)
    named: dict[str, Any] = {RAW: given.pop(RAW, None)} | given
    return {name: calibrator or _create(name, decision) for name, calibrator in named.items()}


def _create(name: str, decision: bool) -> Calibrator:
    calibrator = registry.create(name)
    if decision and "space" in calibrator.get_params():
        calibrator.set_params(space="decision")
    return calibrator


def _run(calibrator: Calibrator, splits: list[Fold], repeats: int) -> tuple[OutOfFold, tuple[float, str]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        start = time.perf_counter()
        found = crossfit(calibrator, splits, repeats)
        seconds = (time.perf_counter() - start) / len(splits)
    return found, (seconds, str(caught[0].message) if caught else "")


def _reason(name: str, calibrator: Calibrator, error: Exception, decision: bool) -> str:
    if decision and name == RAW:
        return "the scores are not probabilities (some lie outside [0, 1]), so they cannot be used as they are."
    if decision and calibrator.space == "probability":
        return "it needs probabilities; some of these scores lie outside [0, 1]."
    return str(error) if isinstance(error, InvalidInputError) else f"failed ({type(error).__name__}: {error})"


def _reference(found: dict[str, OutOfFold]) -> str:
    return next((name for name in (RAW, "platt") if name in found), next(iter(found)))


def _judge(name: str, own: OutOfFold, reference: OutOfFold, facts: tuple[float, str], level: float) -> MethodResult:
    log, brier = own.losses(logarithmic_loss), own.losses(brier_loss)
    return MethodResult(
        name,
        _interval(*own.mean(log), level, lowest=0.0),
        _interval(*own.mean(brier), level, lowest=0.0),
        smooth_calibration_error(own.tally()),
        None if own is reference else _interval(*own.mean(log - reference.losses(logarithmic_loss)), level),
        None if own is reference else _interval(*own.mean(brier - reference.losses(brier_loss)), level),
        *facts,
    )


def _interval(mean: float, error: float, level: float, lowest: float = -np.inf) -> Interval:
    half = float(ndtri(0.5 + 0.5 * level)) * error
    return Interval(mean, max(mean - half, lowest), mean + half, level)


def _recommend(
    results: list[MethodResult], found: dict[str, OutOfFold], reference: str, level: float
) -> tuple[str, tuple[str, ...], str]:
    """The method, its equals, and the reason: the lowest log-loss, if it beats doing nothing by more than chance."""
    # The best of several is better than it seems: the level is shared out among the methods (Bonferroni). The default
    # is named beforehand, so it has the whole level.
    for name, rivals in ((results[0].name, len(results) - 1), (registry.DEFAULT_METHOD, 1)):
        gain = next((result.log_loss_difference for result in results if result.name == name), None)
        if gain is None or not _beats(found[name], found[reference], level, max(1, rivals)):
            continue
        than = "that of the raw score" if reference == RAW else f"that of {reference}"
        text = f"its log-loss is {-gain.value:.4f} [{-gain.high:.4f}, {-gain.low:.4f}] lower than {than}"
        tied = _tied(name, results, found, level)
        others = f"; these rows cannot tell it from {', '.join(tied)}" if tied else ", the lowest of all"
        return name, tied, f"{name}: {text}{others}."
    tied = _tied(reference, results, found, level)
    if reference == RAW:
        return RAW, tied, "do nothing: no method lowers the log-loss of the raw score by more than chance."
    return reference, tied, f"{reference}: no other method lowers its log-loss by more than chance."


def _beats(own: OutOfFold, reference: OutOfFold, level: float, rivals: int) -> bool:
    """Whether a method's log-loss is lower by more than chance, had it been the best of so many."""
    mean, error = _difference(own, reference)
    return mean - float(ndtri((0.5 - 0.5 * level) / rivals)) * error < 0.0


def _tied(chosen: str, results: list[MethodResult], found: dict[str, OutOfFold], level: float) -> tuple[str, ...]:
    """The methods that are not worse than the chosen one beyond chance."""
    z = float(ndtri(0.5 + 0.5 * level))
    pairs = ((r.name, *_difference(found[r.name], found[chosen])) for r in results if r.name != chosen)
    return tuple(name for name, mean, error in pairs if mean <= z * error)


def _difference(own: OutOfFold, other: OutOfFold) -> tuple[float, float]:
    return own.mean(own.losses(logarithmic_loss) - other.losses(logarithmic_loss))
