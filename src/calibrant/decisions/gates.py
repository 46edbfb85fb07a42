"""Which rows to trust: the lowest score from which accepted rows keep a wanted precision, with a stated guarantee."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from calibrant import _validation
from calibrant._numerics.beta import clopper_pearson
from calibrant._typing import ArrayLike, Floats, HasPosterior
from calibrant.decisions.gate_results import Acceptance, AcceptanceCurve, SegmentAcceptance
from calibrant.decisions.gate_rows import GateRows
from calibrant.errors import InvalidInputError
from calibrant.intervals import Interval
from calibrant.maps.keys import name_columns
from calibrant.metrics.samples import Seed
from calibrant.segments.calibrator import SegmentedCalibrator
from calibrant.tally import Tally

__all__ = ["acceptance"]

GUARANTEES = ("finite_sample", "posterior")
N_DRAWS = 1000


def acceptance(
    y_true: ArrayLike | Tally | Mapping[Any, Tally],
    scores: ArrayLike | None = None,
    *,
    precision: float | None = None,
    budget: float | None = None,
    confidence: float = 0.9,
    guarantee: str = "finite_sample",
    calibrator: Any = None,
    segment: Any = None,
    unlabelled: ArrayLike | Tally | None = None,
    space: str = "probability",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    rng: Seed = 0,
) -> Any:
    """Find the lowest score from which rows can be accepted without being looked at.

    A threshold at which labelled rows happen to have the wanted precision breaks its promise about every second time:
    it was searched for. This one keeps it with the stated confidence.

    Parameters
    ----------
    y_true : array-like of shape (n,), Tally or dict of segment to Tally
        Whether each row is right; or a tally in place of all data, or one of each segment. With several classes, the
        classes.
    scores : array-like of shape (n,) or (n, K)
        Scores, the higher the surer. A column for each of several classes stands for the largest of each row, and a
        row is right if its top class is.
    precision : float
        The wanted share of right rows among accepted ones, such as 0.95.
    budget : float, optional
        In place of `precision`: how many rows people can look at, as a share below 1 or a number of rows. The others
        are accepted, and the result says how many of them are right.
    confidence : float
        The probability with which the precision is kept.
    guarantee : {"finite_sample", "posterior"}
        "finite_sample" needs no model of the truth: exact tests at all scores, none of which passes by chance with more
        than the probability that `confidence` leaves. "posterior" accepts and assumes more: it holds on average over
        the posterior of `calibrator`.
    calibrator : str, calibrator or map, optional
        A Bayesian method, or a map with its posterior, for the draws of "posterior"; fitted to the labelled rows unless
        it is. By default Blend. The other guarantee only asks it for the probability at the threshold. With segments,
        the method of the pooled curve of a `SegmentedCalibrator`.
    segment : array-like of shape (n,) or (n, keys), table, or dict of columns, optional
        The segment of each row, by one key or several: each gets its own gate, and with the stated confidence all of
        them keep the precision: each may be wrong with an equal part of the probability that is left. "finite_sample"
        tests each by its own rows; "posterior" lets segments learn from each other.
    unlabelled : array-like of shape (m,) or Tally, optional
        Scores of the rows that the gate is for; otherwise it is for rows like the labelled ones.
    space : {"probability", "decision"}
        What scores are: probabilities, or any finite numbers.
    sample_weight : array-like of shape (n,), optional
        Whole numbers of rows; the posterior also takes others.
    pos_label : label, optional
        The label of right rows, where labels are not bool, {0, 1} or {-1, 1}.
    rng : int, numpy.random.Generator or None
        The seed of the draws.

    Returns
    -------
    Acceptance
        With segments a `SegmentAcceptance`.

    Notes
    -----
    Both guarantees are for independent rows, labelled at random among those that will come. The finite-sample one says:
    over repeated samples of labelled rows, the true precision from the threshold up lies below `precision` in at most
    1 − `confidence` of them. That is proved where the precision of all rows from a score up falls below the wanted one
    at most once as the score is lowered, as it does wherever higher scores are right at least as often as lower ones.
    Under "posterior" the labelled rows that pass must also have the precision themselves, and
    be as many as could show it at a given score.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.decisions import acceptance
    >>> r = np.random.default_rng(0)
    >>> stated = r.beta(4, 1.2, 2000)
    >>> right = r.random(2000) < stated
    >>> gate = acceptance(right, stated, precision=0.9)
    >>> print(gate)  # doctest: +ELLIPSIS
    Accept from a score of 0.8...: ... % of rows, at least 90 % of them right.
    ...
    >>> more = acceptance(right, stated, precision=0.9, guarantee="posterior")
    >>> bool(more.threshold < gate.threshold)
    True
    >>> print(acceptance(right[:50], stated[:50], precision=0.95).threshold)
    None
    >>> language = r.choice(["en", "de"], 2000)
    >>> right &= (language == "en") | (r.random(2000) < 0.9)
    >>> gates = acceptance(right, stated, precision=0.8, segment=language).gates
    >>> gates["en"].threshold < gates["de"].threshold
    True
    """
    _validation.check_choice("guarantee", guarantee, GUARANTEES)
    _validation.check_number("confidence", confidence, "level")
    if (precision is None) == (budget is None):
        raise InvalidInputError("Pass either `precision`, the wanted one, or `budget`, the rows people can look at.")
    if precision is not None:
        _validation.check_number("precision", precision, "rate")
    by_segment = segment is not None or isinstance(y_true, Mapping)
    if by_segment and (precision is None or unlabelled is not None):
        raise InvalidInputError("A gate for each segment needs `precision` and takes no `budget` and no `unlabelled`.")
    options = {"sample_weight": sample_weight, "pos_label": pos_label, "space": space}
    rows = GateRows.read(y_true, scores, segment, unlabelled, **options)
    if space == "probability" and unlabelled is not None:
        _validation.check_unit_interval(rows[None].target.scores, "unlabelled")
    models: dict[Any, Any] = dict.fromkeys(rows)
    draws: dict[Any, Any] = dict.fromkeys(rows)
    if guarantee == "posterior" or calibrator is not None:
        models, joint = _fit(rows, calibrator, space)
        draws = _draw_precisions(rows, joint, rng) if guarantee == "posterior" else draws
    # To share out the chance of a mistake is enough even if no two segments go wrong together.
    each = 1.0 - (1.0 - confidence) / len(rows)
    gates = {
        name: _gate(own, draws[name], models[name], wanted=precision, budget=budget, confidence=each)
        for name, own in rows.items()
    }
    if by_segment and precision is not None:
        return SegmentAcceptance(gates, precision, confidence, guarantee)
    return gates[None]


def _fit(rows: Mapping[Any, GateRows], calibrator: Any, space: str) -> tuple[dict[Any, HasPosterior], Any]:
    """The model of each segment, and the one that draws maps of all of them together."""
    if len(rows) == 1:
        ((name, own),) = rows.items()
        model = own.fitted(calibrator, space)
        return {name: model}, model
    joint = SegmentedCalibrator("blend" if calibrator is None else calibrator, space=space)
    joint.fit_tallies({name: own.labelled for name, own in rows.items()})
    return {name: joint.map_for(name) for name in rows}, joint


def _draw_precisions(rows: Mapping[Any, GateRows], model: Any, rng: Seed) -> dict[Any, Floats]:
    """Draws of the precision from each candidate of each segment up."""
    draws = {}
    for name, own in rows.items():
        scores = own.cells.scores
        segment = {"segment": name_columns([name] * len(scores))} if len(rows) > 1 else {}
        draws[name] = own.precision_draws(model.sample_maps(scores, N_DRAWS, rng, **segment), rng)
    return draws


def _gate(
    rows: GateRows,
    draws: Floats | None,
    model: HasPosterior | None,
    *,
    wanted: float | None,
    budget: float | None,
    confidence: float,
) -> Acceptance:
    """One gate, or the answer that nothing can pass, with all that is said of it."""
    by_budget = None if budget is None else rows.budget_threshold(budget)
    threshold = by_budget if wanted is None else rows.threshold(draws, wanted, confidence)
    precision = needed = probability = less = None
    passing = 0.0
    if threshold is not None:
        passing = rows.passing([threshold]).item()
        value, low, high = (end.item() for end in _precisions(rows, np.array([threshold]), draws, confidence))
        precision = Interval(value, low, high, confidence)
        probability = None if model is None else float(model.predict(np.array([threshold]))[0])
    elif wanted is not None:
        needed = rows.rows_needed(wanted, 1.0 - confidence)
        less = rows.best_precision(draws, wanted, confidence)
    at, total = rows.candidates, rows.target.total
    return Acceptance(
        threshold=threshold,
        wanted=wanted,
        confidence=confidence,
        guarantee="finite_sample" if draws is None else "posterior",
        share=passing / total,
        n_rows=total,
        unlabelled=rows.target is not rows.labelled,
        precision=precision,
        rows_needed=needed,
        instead=less,
        probability=probability,
        curve=AcceptanceCurve(at, rows.passing(at) / total, *_precisions(rows, at, draws, confidence)),
    )


def _precisions(
    rows: GateRows, thresholds: Floats, draws: Floats | None, confidence: float
) -> tuple[Floats, Floats, Floats]:
    """The precision from each score up and the ends of its interval: of the draws, or of the labelled rows there."""
    if draws is None:
        right, wrong = rows.counts_from(thresholds)
        return right / np.maximum(right + wrong, 1.0), *clopper_pearson(right, right + wrong, confidence)
    drawn = draws[:, rows.place(thresholds)]
    low, high = np.quantile(drawn, [0.5 - 0.5 * confidence, 0.5 + 0.5 * confidence], axis=0)
    return drawn.mean(axis=0), low, high
