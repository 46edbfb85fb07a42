"""`compare`: all methods on the same folds, judged by proper scores on rows not seen; and the rule that recommends."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, TypeAlias

import numpy as np

from calibrant import _validation
from calibrant._typing import ArrayLike
from calibrant.calibrators.registry import DEFAULT_METHOD
from calibrant.comparison.candidates import PANEL, RAW, Methods, name_candidates, title_of
from calibrant.comparison.problems import Problem, read_problem
from calibrant.comparison.result import Comparison, MethodFit, MethodResult
from calibrant.errors import InvalidInputError
from calibrant.intervals import Interval
from calibrant.metrics.curve_errors import smooth_calibration_error
from calibrant.metrics.folds import OutOfFold
from calibrant.metrics.samples import Seed
from calibrant.metrics.verdict import judge_calibration
from calibrant.tally import Tally

REFERENCES = (RAW, "platt", PANEL)  # what differences are taken to: the first that could be fitted


@dataclass(frozen=True)
class Recommendation:
    """A method, the reason in a sentence, the methods that are as good, and the gain on which it rests.

    `gain` is how much lower the log-loss is than the reference's; where nothing is recommended, that of the method
    that came nearest. For a method that was picked because it did best, the interval allows for having tried so many.
    """

    name: str
    reason: str
    tied: tuple[str, ...]
    notes: tuple[str, ...]
    gain: Interval | None


def recommend(
    ranking: Sequence[str],
    predictions: Mapping[str, OutOfFold],
    reference: str,
    level: float,
    barred: Sequence[str] = (),
) -> Recommendation:
    """Recommend one of the methods in `ranking`, lowest log-loss first, against the `reference`; `barred` ones never.

    1. The default method, if it is better than the reference beyond chance, and no other is better than it by more
       than the best of so many would be by chance (Bonferroni). It was named beforehand, so it has the whole level.
    2. Otherwise the best, if it is better than the reference by more than the best of so many would be by chance.
    3. Otherwise the default, if it is better than the reference beyond chance.
    4. Otherwise the reference: do nothing, where that is the raw score.
    """
    rivals = [name for name in ranking if name != reference and name not in barred]
    tried = max(len(rivals), 1)

    def gain_of(name: str) -> Interval:
        own_level = _shared(level, 1 if name == DEFAULT_METHOD else tried)
        return lower_log_loss(predictions[name], predictions[reference], own_level)

    def is_tied(name: str, other: str, level: float) -> bool:
        """Whether a method is not worse than the other beyond chance."""
        return lower_log_loss(predictions[other], predictions[name], level).low <= 0.0

    order = rivals[:1]
    if DEFAULT_METHOD in rivals:
        first = all(is_tied(DEFAULT_METHOD, rival, _shared(level, tried)) for rival in rivals)
        order = [DEFAULT_METHOD, *order] if first else [*order, DEFAULT_METHOD]
    chosen = next((name for name in order if gain_of(name).low > 0.0), reference)
    gain = gain_of(chosen if chosen != reference else order[0]) if order else None
    alone = lower_log_loss(predictions[chosen], predictions[reference], level)
    tied = tuple(n for n in ranking if n not in barred and n != chosen and is_tied(n, chosen, level))
    notes = _explain(ranking, chosen, tied, barred)
    return Recommendation(chosen, reason_of(chosen, reference, alone, tied), tied, notes, gain)


def lower_log_loss(own: OutOfFold, other: OutOfFold, level: float) -> Interval:
    """By how much the log-loss is lower than the other's on the same rows."""
    return own.interval(other.losses("log") - own.losses("log"), level)


def _shared(level: float, tried: int) -> float:
    """The level of one interval of several, so that all hold together with at least `level`."""
    return 1.0 - (1.0 - level) / tried


def reason_of(
    chosen: str, reference: str, gain: object, tied: tuple[str, ...], title: Callable[[str], str] = str
) -> str:
    """Why a method is recommended, in a sentence that calls methods by their names or titles."""
    if chosen == reference:
        if reference == RAW:
            return "do nothing yet: no method lowers the log-loss of the raw score by more than chance."
        as_good = f" These rows cannot tell it from {', '.join(map(title, tied))}." if tied else ""
        return f"{title(reference)}: no other method lowers its log-loss by more than chance.{as_good}"
    than = "the raw score" if reference == RAW else title(reference)
    others = f"; these rows cannot tell it from {', '.join(map(title, tied))}" if tied else ", the lowest of all"
    return f"{title(chosen)}: its log-loss is {gain} lower than that of {than}{others}."


def _explain(ranking: Sequence[str], chosen: str, tied: tuple[str, ...], barred: Sequence[str]) -> tuple[str, ...]:
    """Notes for a reader of the ranking on methods that stand higher than a tied one and are not called tied."""
    places = {name: place for place, name in enumerate(ranking)}
    last = max(places[name] for name in (chosen, *tied))
    above = [name for name in ranking[:last] if name != chosen and name not in tied]
    worse = [name for name in above if name not in barred]
    notes = [f"{name} is a curve for measuring, so it is never recommended." for name in above if name in barred]
    if worse:
        notes.append(
            f"{', '.join(worse)}: not among the tied, though ranked above {ranking[last]}, because paired row by "
            f"row the difference to {chosen} is certain."
        )
    return tuple(notes)


Progress: TypeAlias = Callable[[str], object] | None


def compare(
    scores: ArrayLike | Tally | Mapping[str, Any],
    y: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    methods: Methods | str | None = None,
    space: str | Mapping[str, str] = "probability",
    cv: int = 5,
    repeats: int = 1,
    groups: ArrayLike | None = None,
    time: ArrayLike | None = None,
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
    scores : array-like of shape (n,) or (n, K), Tally, or dict of columns
        Scores; or a tally in place of all data. With a column for each of three or more classes, methods for several
        classes are compared, by proper scores of the whole row; SmoothECE is then that of the predicted class. A
        dictionary has several scores of each row by name, as `PanelCalibrator` takes them: the panel is compared with
        the mean of their logits and with each score alone, and a note says what each adds.
    y : array-like of shape (n,)
        Labels: bool, {0, 1}, {-1, 1}, or any two values of which `pos_label` is the positive one. With several
        classes, the sorted labels of the columns, or 0 … K − 1 where some have no rows.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights, counted as numbers of rows: scale them so that they add up to the number of rows.
    pos_label : label, optional
        The positive one of two classes. Text labels need it.
    methods : iterable of str and calibrators, or dict of name to calibrator, optional
        Names of methods and calibrators, mixed; by default every method that is known by name. A calibrator has the
        name of its method, or of its class where that has none; a dict gives other names. The raw score is always
        added; of several scores the panel is, and "mean_logit" and "anna alone" are names. With several classes,
        "one_vs_rest" and "top_label" are names, too: the default method for one score, fitted to each class against the
        rest or to the predicted class; methods with a matrix of coefficients are tried unasked up to 30 classes.
    space : {"probability", "decision"} or dict
        What the scores are: probabilities, or decision scores such as margins and logits. Decision scores of two
        classes cannot be used as they are, so methods are compared with Platt scaling in place of the raw score.
        Of several scores it may be a dict by name.
    cv : int
        Number of folds, at least 2.
    repeats : int
        Number of repeated cross-validations.
    groups : array-like of shape (n,), optional
        The group of each row, such as a patient, a match or a day: rows of one group stay in one fold, and all
        intervals and the test behind the verdict allow for their dependence. It takes some twenty groups at least. The
        test of full calibration, of several classes, needs independent rows and is left out.
    time : array-like of shape (n,), optional
        When each row was scored: numbers, dates or text that can be ordered. Rows then fall into `cv` + 1 blocks, one
        after the other, and each but the first is judged by fits to the rows before it, as they are used. Rows of one
        time stay in one block; without `groups` the intervals take them as one.
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
    >>> over_time = calibrant.compare(data.scores, data.labels, methods=["platt"], time=[i // 50 for i in range(2000)])
    >>> over_time.fits["platt"].out_of_fold.tally().total  # the first of six blocks is not judged
    1650.0
    """
    _validation.check_level(level)
    _validation.check_count("cv", cv, 2)
    _validation.check_count("repeats", repeats)
    if time is not None and repeats > 1:
        raise InvalidInputError(f"`repeats` must be 1 with `time`, which has one order; got {repeats}.")
    beside = {"sample_weight": sample_weight, "pos_label": pos_label, "groups": groups, "time": time}
    problem = read_problem(scores, y, **beside, space=space)
    problem.check(cv)
    sample = problem.sample
    candidates = name_candidates(methods, sample.shape, space, sample.n_classes, problem.names)
    generator = np.random.default_rng(rng)
    folds = [fold for _ in range(repeats) for fold in problem.split(cv, generator)]
    runs = {
        name: _run(name, method, problem, folds=folds, repeats=repeats, progress=progress)
        for name, method in candidates.items()
    }
    predictions = {name: unseen for name, (_, unseen) in runs.items() if unseen is not None}
    if not predictions:
        first, _ = next(iter(runs.values()))
        raise InvalidInputError(f"No method could be fitted to these data. {first.name}: {first.note}")
    reference = next((name for name in REFERENCES if name in predictions), next(iter(predictions)))
    results = [_judge(*run, predictions[reference], level) for run in runs.values()]
    results.sort(key=lambda result: result.log_loss.value if result.log_loss is not None else np.inf)
    ranking = [result.name for result in results if result.log_loss is not None]
    barred = [name for name in ranking if getattr(candidates[name], "measures_only", False)]
    choice = recommend(ranking, predictions, reference, level, barred)
    fits = {name: MethodFit(candidates[name], unseen, problem) for name, unseen in predictions.items()}
    return Comparison(
        results=tuple(results),
        recommended=choice.name,
        reason=choice.reason,
        reference=reference,
        n_rows=sample.n_rows,
        base_rate=sample.base_rate,
        level=level,
        cv=cv,
        repeats=repeats,
        over_time=time is not None,
        tied=choice.tied,
        remarks=(*problem.remarks, *_worth_of_scores(fits.get(PANEL)), *choice.notes),
        verdict=judge_calibration(sample, choice.gain),
        n_classes=sample.n_classes,
        fits=fits,
    )


def _worth_of_scores(panel: MethodFit | None) -> list[str]:
    """What it costs to be without each of several scores, as the fit to all rows says."""
    worth = sorted(panel.fitted.scores_, key=lambda one: -one.cost) if panel is not None else []
    costs = ", ".join(f"{one.name} {one.cost:+.4f}" for one in worth)
    return [f"Were a score missing in every row, the log-loss of the panel would change: {costs}."] if worth else []


def _run(
    name: str, calibrator: Any, problem: Problem, *, folds: list[Any], repeats: int, progress: Progress
) -> tuple[MethodResult, OutOfFold | None]:
    """The row of one method with its time and its note, and its predictions, or None where it failed."""
    title = title_of(calibrator, name)
    if progress is not None:
        progress(name)
    if name == RAW and not problem.has_raw:
        note = "decision scores are not probabilities, so they cannot be used as they are."
        return MethodResult(name, note=note, title=title), None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        start = perf_counter()
        try:
            predictions = problem.crossfit(calibrator, folds, repeats)
        except Exception as error:  # whatever breaks one method must not take the others down
            return MethodResult(name, note=_explain_failure(problem, calibrator, error), title=title), None
        seconds = (perf_counter() - start) / len(folds)
    note = str(caught[0].message) if caught else ""
    return MethodResult(name, seconds=seconds, note=note, title=title), predictions


def _explain_failure(problem: Problem, calibrator: Any, error: Exception) -> str:
    """Why a method could not be fitted, in words."""
    one_score = problem.sample.shape == "score"
    if one_score and not problem.has_raw and getattr(calibrator, "space", None) == "probability":
        return "it needs probabilities, and these are decision scores."
    return str(error) if isinstance(error, InvalidInputError) else f"failed ({type(error).__name__}: {error})"


def _judge(row: MethodResult, unseen: OutOfFold | None, reference: OutOfFold, level: float) -> MethodResult:
    """Fill the row of a method that has predictions."""
    if unseen is None:
        return row
    log_loss, brier = unseen.losses("log"), unseen.losses("brier")
    itself = unseen is reference
    return replace(
        row,
        log_loss=unseen.interval(log_loss, level, lowest=0.0),
        brier_score=unseen.interval(brier, level, lowest=0.0),
        smooth_error=smooth_calibration_error(unseen.tally()),
        log_loss_difference=None if itself else unseen.interval(log_loss - reference.losses("log"), level),
        brier_difference=None if itself else unseen.interval(brier - reference.losses("brier"), level),
    )
