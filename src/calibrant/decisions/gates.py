"""Which rows to trust: the lowest score from which accepted rows keep a wanted precision, with a stated guarantee."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant import _validation
from calibrant._numerics.beta import clopper_pearson
from calibrant._tables import make_frame
from calibrant._typing import ArrayLike, Bools, Floats, HasPosterior
from calibrant.decisions.gate_rows import GateRows, top_score
from calibrant.errors import InvalidInputError
from calibrant.intervals import Interval
from calibrant.metrics.samples import Seed
from calibrant.tally import Tally

__all__ = ["Acceptance", "AcceptanceCurve", "acceptance"]

GUARANTEES = ("finite_sample", "posterior")
N_DRAWS = 1000


@dataclass(frozen=True, eq=False, repr=False)
class AcceptanceCurve:
    """What accepting all rows from a score on would mean, for falling scores.

    Attributes
    ----------
    thresholds, shares : ndarray of shape (m,)
        The scores, and the share of rows from each of them up.
    precision, low, high : ndarray of shape (m,)
        The share of right rows among them and the ends of its interval: exact for labelled rows, of the draws for a
        posterior. Each holds for its own score; none is corrected for a search among them.

    Examples
    --------
    >>> from calibrant.decisions import acceptance
    >>> curve = acceptance([0, 1, 1, 1], [0.2, 0.4, 0.6, 0.8], precision=0.5).curve
    >>> curve.shares.tolist(), curve.precision.tolist()
    ([0.25, 0.5, 0.75, 1.0], [1.0, 1.0, 1.0, 0.75])
    """

    thresholds: Floats
    shares: Floats
    precision: Floats
    low: Floats
    high: Floats

    def to_frame(self) -> Any:
        """A pandas data frame with a row for each score."""
        return make_frame({name: getattr(self, name) for name in self.__dataclass_fields__})

    def __repr__(self) -> str:
        return f"AcceptanceCurve({len(self.thresholds)} scores, {self.thresholds[-1]:g} … {self.thresholds[0]:g})"


@dataclass(frozen=True, eq=False, repr=False)
class Acceptance:
    """A gate: rows with a score of at least `threshold` pass without being looked at.

    Attributes
    ----------
    threshold : float or None
        The lowest accepted score; None where nothing can be accepted.
    wanted : float or None
        The wanted precision; None where a budget was given instead.
    confidence : float
        The probability that the guarantee holds, and the level of the intervals.
    guarantee : {"finite_sample", "posterior"}
        What the promise rests on.
    share : float
        The share of rows that pass: of the unlabelled rows where there are any, otherwise of the labelled ones.
    n_rows : float
        How many rows `share` is a share of.
    precision : Interval or None
        The share of right rows among those that pass, as estimated by the labelled rows that pass, or by the posterior.
        In a finite-sample gate its interval takes the threshold as given; what was promised is `wanted`.
    errors : Interval or None
        How many of the rows that pass are wrong.
    rows_needed : int or None
        Where nothing is accepted: about how many labelled rows like these would let something pass, in one of two
        cases; None where no part of them has the precision.
    probability : float or None
        The calibrated probability at the threshold, where a calibrator was given or fitted.
    curve : AcceptanceCurve
        Share and precision at every score.

    Examples
    --------
    >>> from calibrant import simulate
    >>> from calibrant.decisions import acceptance
    >>> data = simulate.from_truth("D1", 3000)
    >>> gate = acceptance(data.labels, data.scores, precision=0.8)
    >>> gate.passes([gate.threshold, 0.01]).tolist()
    [True, False]
    """

    threshold: float | None
    wanted: float | None
    confidence: float
    guarantee: str
    share: float
    n_rows: float
    precision: Interval | None
    errors: Interval | None
    rows_needed: int | None
    probability: float | None
    curve: AcceptanceCurve

    @property
    def n_accepted(self) -> float:
        """How many rows pass, of those that `share` speaks of."""
        return self.share * self.n_rows

    def passes(self, scores: ArrayLike) -> Bools:
        """Tell which rows pass; with a column for each of several classes, by their top class."""
        checked = _validation.check_scores(top_score(scores))
        return checked >= self.threshold if self.threshold is not None else np.zeros(len(checked), dtype=bool)

    def to_sql(self, column: str = "score") -> str:
        """The condition of a row that passes, in SQL.

        Examples
        --------
        >>> import numpy as np
        >>> from calibrant.decisions import acceptance
        >>> acceptance(np.ones(100), np.arange(100) / 100, precision=0.9).to_sql("confidence")
        '"confidence" >= 0.0'
        """
        if self.threshold is None:
            return "FALSE"
        return '"{}" >= {!r}'.format(column.replace('"', '""'), self.threshold)

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON; without the curve."""
        names = [name for name in self.__dataclass_fields__ if name != "curve"]
        values = {name: getattr(self, name) for name in names}
        return {name: value.to_dict() if isinstance(value, Interval) else value for name, value in values.items()}

    def __str__(self) -> str:
        return _in_words(self)

    def __repr__(self) -> str:
        return f"Acceptance({self})"


def acceptance(
    y_true: ArrayLike | Tally,
    scores: ArrayLike | None = None,
    *,
    precision: float | None = None,
    budget: float | None = None,
    confidence: float = 0.9,
    guarantee: str = "finite_sample",
    calibrator: Any = None,
    unlabelled: ArrayLike | Tally | None = None,
    space: str = "probability",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    rng: Seed = 0,
) -> Acceptance:
    """Find the lowest score from which rows can be accepted without being looked at.

    A threshold at which labelled rows happen to have the wanted precision breaks its promise about every second time:
    it was searched for. This one keeps it with the stated confidence.

    Parameters
    ----------
    y_true : array-like of shape (n,) or Tally
        Whether each row is right; or a tally in place of all data. With several classes, the classes.
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
        "finite_sample" holds for every truth: exact tests at all scores, none of which passes by chance with more than
        the probability that `confidence` leaves. "posterior" accepts more and assumes more: it holds on average over
        the posterior of `calibrator`.
    calibrator : calibrator or map, optional
        A Bayesian method, or a map with its posterior, for the draws of "posterior"; fitted to the labelled rows unless
        it is. By default Blend. The other guarantee only asks it for the probability at the threshold.
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

    Notes
    -----
    Both guarantees are for independent rows, labelled at random among those that will come. The finite-sample one says:
    over repeated samples of labelled rows, the true precision from the threshold up lies below `precision` in at most
    1 − `confidence` of them. Under "posterior" the labelled rows that pass must also have the precision themselves, and
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
    """
    _validation.check_choice("guarantee", guarantee, GUARANTEES)
    _validation.check_number("confidence", confidence, "level")
    if (precision is None) == (budget is None):
        raise InvalidInputError("Pass either `precision`, the wanted one, or `budget`, the rows people can look at.")
    if precision is not None:
        _validation.check_number("precision", precision, "rate")
    rows = GateRows.read(
        y_true, scores, sample_weight=sample_weight, pos_label=pos_label, space=space, unlabelled=unlabelled
    )
    posterior = guarantee == "posterior"
    model = rows.fitted(calibrator, space) if posterior or calibrator is not None else None
    draws = None
    if posterior and model is not None:
        draws = rows.precision_draws(model.sample_maps(rows.cells.scores, N_DRAWS, rng), rng)
    if precision is None:
        threshold: float | None = rows.budget_threshold(budget or 0.0)
    elif draws is None:
        threshold = rows.exact_threshold(precision, 1.0 - confidence)
    else:
        threshold = rows.posterior_threshold(draws, precision, confidence)
    return make_acceptance(rows, threshold, draws=draws, model=model, wanted=precision, confidence=confidence)


def make_acceptance(
    rows: GateRows,
    threshold: float | None,
    *,
    draws: Floats | None,
    model: HasPosterior | None,
    wanted: float | None,
    confidence: float,
) -> Acceptance:
    """The gate from a threshold up, or that lets nothing pass, with all that is said of it."""
    curve = _curve(rows, draws, confidence)
    precision = errors = needed = probability = None
    passing = 0.0
    if threshold is None:
        needed = None if wanted is None else rows.rows_needed(wanted, 1.0 - confidence)
    else:
        passing = rows.passing([threshold]).item()
        precision = _precision_at(rows, threshold, draws, confidence)
        value, low, high = (passing * (1.0 - end) for end in (precision.value, precision.high, precision.low))
        errors = Interval(value, low, high, confidence)
        probability = None if model is None else float(model.predict(np.array([threshold]))[0])
    return Acceptance(
        threshold=threshold,
        wanted=wanted,
        confidence=confidence,
        guarantee="finite_sample" if draws is None else "posterior",
        share=passing / rows.target.total,
        n_rows=rows.target.total,
        precision=precision,
        errors=errors,
        rows_needed=needed,
        probability=probability,
        curve=curve,
    )


def _precision_at(rows: GateRows, threshold: float, draws: Floats | None, confidence: float) -> Interval:
    """The precision from a score up: of the draws, or of the labelled rows there."""
    if draws is None:
        right, wrong = (count.item() for count in rows.counts_from([threshold]))
        low, high = clopper_pearson(right, right + wrong, confidence)
        return Interval(right / max(right + wrong, 1.0), float(low), float(high), confidence)
    at = min(int(np.searchsorted(-rows.candidates, -threshold)), len(rows.candidates) - 1)
    low, high = np.quantile(draws[:, at], [0.5 - 0.5 * confidence, 0.5 + 0.5 * confidence])
    return Interval(float(draws[:, at].mean()), float(low), float(high), confidence)


def _curve(rows: GateRows, draws: Floats | None, confidence: float) -> AcceptanceCurve:
    thresholds = rows.candidates
    right, wrong = rows.counts_from(thresholds)
    if draws is None:
        value, (low, high) = right / np.maximum(right + wrong, 1.0), clopper_pearson(right, right + wrong, confidence)
    else:
        value = draws.mean(axis=0)
        low, high = np.quantile(draws, [0.5 - 0.5 * confidence, 0.5 + 0.5 * confidence], axis=0)
    return AcceptanceCurve(thresholds, rows.passing(thresholds) / rows.target.total, value, low, high)


def _in_words(gate: Acceptance) -> str:
    if gate.threshold is None or gate.precision is None:
        return _nothing_in_words(gate)
    level, exact = f"{100 * gate.confidence:g} %", gate.guarantee == "finite_sample"
    value, low, high = (f"{100 * end:.3g} %" for end in (gate.precision.value, gate.precision.low, gate.precision.high))
    named = "" if gate.probability is None else f" (a calibrated probability of {gate.probability:.3g})"
    text = f"Accept from a score of {gate.threshold:.6g}{named}: {100 * gate.share:.3g} % of rows"
    if gate.wanted is None:
        source = "labelled rows that pass" if exact else "rows that pass, by the posterior,"
        return f"{text}. Of the {source} {value} are right ({level} interval {low} to {high})."
    text += f", at least {100 * gate.wanted:g} % of them right.\n"
    if exact:
        return text + (
            f"This holds with a confidence of {level} for rows like the labelled ones, whatever the truth. Of the "
            f"labelled rows that pass, {value} are right."
        )
    return text + (
        f"This holds with a probability of {level} if the truth is one that the posterior can draw. By the posterior, "
        f"{value} of the rows that pass are right ({level} interval {low} to {high})."
    )


def _nothing_in_words(gate: Acceptance) -> str:
    wanted = "" if gate.wanted is None else f"{100 * gate.wanted:g} %"
    text = f"Nothing can be accepted: from no score up is it shown that {wanted} of the rows are right."
    if gate.rows_needed is None:
        return f"{text} No part of the labelled rows that is large enough to tell has that precision."
    return f"{text} About {gate.rows_needed} labelled rows like these would let some pass, in one of two cases."
