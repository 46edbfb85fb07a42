"""`compare`: all methods on the same folds, judged by proper scores on rows that they have not seen."""

import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from calibrant import _limits, _validation
from calibrant._typing import ArrayLike
from calibrant.calibrators.base import Calibrator
from calibrant.comparison.candidates import DECISION_SCORES, RAW, Methods, name_candidates, title_of
from calibrant.comparison.crossfit import crossfit
from calibrant.comparison.matrix_compare import compare_matrix
from calibrant.comparison.recommend import recommend
from calibrant.comparison.table import Comparison, MethodFit, MethodResult
from calibrant.errors import InvalidInputError
from calibrant.metrics.base import Seed
from calibrant.metrics.curve_errors import smooth_calibration_error
from calibrant.metrics.folds import Fold, split_rows, split_tally
from calibrant.metrics.grouped_rows import check_grouped_rows
from calibrant.metrics.out_of_fold import OutOfFold
from calibrant.metrics.resampling import Sample, read_sample
from calibrant.metrics.reversal import describe_reversal
from calibrant.metrics.scores import brier_loss, logarithmic_loss
from calibrant.metrics.verdict import judge_calibration
from calibrant.tally import Tally

Progress: TypeAlias = Callable[[str], object] | None


def compare(
    scores: ArrayLike | Tally,
    y: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    methods: Methods | None = None,
    cv: int = 5,
    repeats: int = 1,
    groups: ArrayLike | None = None,
    level: float = 0.9,
    rng: Seed = 0,
    progress: Progress = None,
) -> Comparison:
    """Compare calibration methods, "do nothing" among them, by cross-validation.

    Every method is fitted on the same folds and judged on the rows left out, by proper scores first. Differences to
    the raw score are paired, row by row, so they are far more certain than the scores themselves.

    The default method is recommended if its log-loss is lower than that of the raw score beyond chance and no other
    method is better still beyond chance. Otherwise it is the method with the lowest log-loss, if that is lower than the
    best of so many methods would reach by chance; otherwise the advice is to do nothing. A curve that is only for
    measuring is never recommended.

    More than 4096 distinct scores are first joined to as many cells of equal mass, so the time does not grow with the
    number of rows, except for their sort.

    Parameters
    ----------
    scores : array-like of shape (n,) or (n, K), or Tally
        Scores; or a tally in place of all data. With a column for each of three or more classes, methods for several
        classes are compared, by `compare_matrix`, which also takes logits.
    y : array-like of shape (n,)
        Labels: bool, {0, 1}, {-1, 1}, or any two values of which `pos_label` is the positive one. With several
        classes, the sorted labels of the columns.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights, counted as numbers of rows: scale them so that they add up to the number of rows.
    pos_label : label, optional
        The positive one of two classes. Text labels need it.
    methods : iterable of str and calibrators, or dict of name to calibrator, optional
        Names of methods and calibrators, mixed; by default every method that is known by name. A calibrator has the
        name of its method, or of its class where that has none; a dict gives other names. The raw score is always
        added.
    cv : int
        Number of folds, at least 2.
    repeats : int
        How many times to split anew.
    groups : array-like of shape (n,), optional
        The group of each row, such as a patient, a match or a day: rows of one group stay in one fold, and all
        intervals and the test behind the verdict allow for their dependence. It takes some twenty groups at least.
    level : float
        Confidence level of the intervals.
    rng : int, numpy.random.Generator or None
        The seed or generator of the folds; the same seed gives the same table.
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
    if not isinstance(scores, Tally) and y is not None and _validation.is_class_matrix(scores):
        if pos_label is not None:
            raise InvalidInputError("`pos_label` is for scores of two classes; got a column for each of several.")
        return compare_matrix(
            scores, y, sample_weight=sample_weight, methods=methods, cv=cv, repeats=repeats, groups=groups, level=level,
            rng=rng, progress=progress,
        )  # fmt: skip
    _validation.check_level(level)
    _validation.check_count("cv", cv, 2)
    _validation.check_count("repeats", repeats)
    sample = _check_rows(scores, y, sample_weight, groups, pos_label)
    tally = sample.tally
    probabilities = _validation.are_probabilities(tally.scores)
    candidates = name_candidates(methods, probabilities=probabilities)
    splits = _split(sample, cv, repeats, np.random.default_rng(rng))
    run = partial(_run, splits=splits, repeats=repeats, probabilities=probabilities, progress=progress)
    runs = {name: run(name, calibrator) for name, calibrator in candidates.items()}
    predictions = {name: run.out_of_fold for name, run in runs.items() if run.out_of_fold is not None}
    if not predictions:
        raise InvalidInputError(f"No method could be fitted to these data. {RAW}: {runs[RAW].note}")
    # Decision scores have no log-loss of their own: the simplest map that makes probabilities of them takes that place.
    reference = next((name for name in (RAW, "platt") if name in predictions), next(iter(predictions)))
    results = [_judge(name, runs[name], predictions[reference], candidates[name], level) for name in runs]
    results.sort(key=lambda result: result.log_loss.value if result.log_loss is not None else np.inf)
    ranking = [result.name for result in results if result.log_loss is not None]
    barred = [name for name in ranking if getattr(candidates[name], "measures_only", False)]
    choice = recommend(ranking, predictions, reference, level, barred)
    kept = tally.coarsen(_limits.REPORT_CELLS)
    facts = (reference, tally.total, tally.base_rate, level, cv, repeats)
    general = (None if probabilities else DECISION_SCORES, describe_reversal(tally))
    remarks = (*(remark for remark in general if remark), *sample.remarks, *choice.notes)
    fits = {name: MethodFit(candidates[name], one, kept) for name, one in predictions.items()}
    verdict = judge_calibration(tally, choice.gain, rows=sample.rows)
    return Comparison(tuple(results), choice.name, choice.reason, *facts, choice.tied, remarks, verdict, fits)


def _check_rows(
    scores: ArrayLike | Tally,
    y: ArrayLike | None,
    sample_weight: ArrayLike | None,
    groups: ArrayLike | None,
    pos_label: Any,
) -> Sample:
    if isinstance(scores, Tally):
        sample = read_sample(scores, y, sample_weight, pos_label, groups=groups, probabilities=False)
    elif y is None:
        raise InvalidInputError("`y` must be given together with `scores`; or pass a Tally alone.")
    elif groups is None:
        sample = Sample(Tally.from_arrays(scores, y, sample_weight, _validation.choose_positive(y, pos_label)))
    else:
        how: dict[str, Any] = {"pos_label": _validation.choose_positive(y, pos_label), "names": ("y", "scores")}
        rows = check_grouped_rows(y, scores, groups, sample_weight=sample_weight, **how)
        sample = Sample(rows.tally(), rows)
    tally = sample.tally
    rarer = min(tally.total_positive, tally.total - tally.total_positive)
    if rarer < 2.0:
        raise InvalidInputError(
            f"A comparison needs at least 2 rows of each class, better 20; the rarer class has {rarer:g}. Add rows."
        )
    return sample


def _split(sample: Sample, cv: int, repeats: int, generator: np.random.Generator) -> list[Fold]:
    if sample.rows is not None:
        splits = (split_rows(sample.rows, cv, _limits.COMPARISON_CELLS, generator) for _ in range(repeats))
    else:
        cells = sample.tally.coarsen(_limits.COMPARISON_CELLS)
        splits = (split_tally(cells, cv, generator) for _ in range(repeats))
    return [fold for folds in splits for fold in folds]


class Run(NamedTuple):
    """Predictions of one method, or None where it failed; mean time of a fit; and a warning or the reason."""

    out_of_fold: OutOfFold | None
    seconds: float
    note: str


def _run(
    name: str, calibrator: Calibrator, *, splits: list[Fold], repeats: int, probabilities: bool, progress: Progress
) -> Run:
    if progress is not None:
        progress(name)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        start = time.perf_counter()
        try:
            predictions = crossfit(calibrator, splits, repeats)
        except Exception as error:  # whatever breaks one method must not take the others down
            return Run(None, 0.0, _explain_failure(name, calibrator, error, probabilities=probabilities))
        seconds = (time.perf_counter() - start) / len(splits)
    return Run(predictions, seconds, str(caught[0].message) if caught else "")


def _explain_failure(name: str, calibrator: Calibrator, error: Exception, *, probabilities: bool) -> str:
    if not probabilities and name == RAW:
        return "the scores are not probabilities (some lie outside [0, 1]), so they cannot be used as they are."
    if not probabilities and calibrator.space == "probability":
        return "it needs probabilities; some of these scores lie outside [0, 1]."
    return str(error) if isinstance(error, InvalidInputError) else f"failed ({type(error).__name__}: {error})"


def _judge(name: str, run: Run, reference: OutOfFold, calibrator: Calibrator, level: float) -> MethodResult:
    title, own = title_of(calibrator, name), run.out_of_fold
    if own is None:
        return MethodResult(name, note=run.note, title=title)
    log, brier = own.losses(logarithmic_loss), own.losses(brier_loss)
    return MethodResult(
        name,
        own.interval(log, level, lowest=0.0),
        own.interval(brier, level, lowest=0.0),
        smooth_calibration_error(own.tally()),
        None if own is reference else own.interval(log - reference.losses(logarithmic_loss), level),
        None if own is reference else own.interval(brier - reference.losses(brier_loss), level),
        run.seconds,
        run.note,
        title,
    )
