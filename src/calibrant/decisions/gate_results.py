"""What a gate is: the score from which rows pass, how many do, and what is promised of them; for segments, one each."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant import _validation
from calibrant._tables import align, make_frame
from calibrant._typing import ArrayLike, Bools, Floats
from calibrant.decisions.gate_rows import top_score
from calibrant.intervals import Interval, plain
from calibrant.maps.keys import as_columns
from calibrant.tally import row_count

__all__ = ["Acceptance", "AcceptanceCurve", "SegmentAcceptance"]


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
    unlabelled : bool
        Whether these are rows without labels.
    precision : Interval or None
        The share of right rows among those that pass, as estimated by the labelled rows that pass, or by the posterior.
        In a finite-sample gate its interval takes the threshold as given; what was promised is `wanted`.
    rows_needed : int or None
        Where nothing is accepted: about how many labelled rows like these would let something pass in most
        cases; None where no part of them has the precision.
    instead : float or None
        Where nothing is accepted: the highest precision, in steps of half a point from 50 % on, that would have let
        rows pass, with this confidence, had it been asked for.
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
    unlabelled: bool
    precision: Interval | None
    rows_needed: int | None
    instead: float | None
    probability: float | None
    curve: AcceptanceCurve

    @property
    def n_accepted(self) -> float:
        """How many rows pass, of those that `share` speaks of."""
        return self.share * self.n_rows

    @property
    def errors(self) -> Interval | None:
        """How many of the rows that pass are wrong; None where nothing passes."""
        if self.precision is None:
            return None
        ends = (self.precision.value, self.precision.high, self.precision.low)
        value, low, high = (self.n_accepted * (1.0 - end) for end in ends)
        return Interval(value, low, high, self.confidence)

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
        return {name: plain(getattr(self, name)) for name in (*names, "errors")}

    def __str__(self) -> str:
        return _nothing_in_words(self) if self.precision is None else _in_words(self, self.precision)

    def __repr__(self) -> str:
        return f"Acceptance({self})"


@dataclass(frozen=True, eq=False, repr=False)
class SegmentAcceptance:
    """Gates of segments: with the stated confidence, all of them keep the wanted precision at once.

    Attributes
    ----------
    gates : dict of segment to Acceptance
        The gate of each segment; its `confidence` is higher than the one of all of them together.
    wanted, confidence : float
        The wanted precision in every segment, and the probability that all have it.
    guarantee : {"finite_sample", "posterior"}
        What the promise rests on.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.decisions import acceptance
    >>> gates = acceptance(np.ones(200), np.arange(200) / 200, segment=["a", "b"] * 100, precision=0.9)
    >>> gates.passes([0.9, 0.9], ["a", "unknown"]).tolist()
    [True, False]
    """

    gates: dict[Any, Acceptance]
    wanted: float
    confidence: float
    guarantee: str

    def passes(self, scores: ArrayLike, segment: Any) -> Bools:
        """Tell which rows pass; those of a segment without a gate do not."""
        checked = _validation.check_scores(top_score(scores))
        keys = [column.tolist() for column in as_columns(segment).values()]
        names: list[Any] = list(zip(*keys, strict=True)) if len(keys) > 1 else keys[0]
        _validation.check_same_length(len(checked), len(names), "segment")
        lowest = {name: gate.threshold for name, gate in self.gates.items() if gate.threshold is not None}
        return checked >= np.array([lowest.get(name, np.inf) for name in names])

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON."""
        gates = [{"segment": name} | gate.to_dict() for name, gate in self.gates.items()]
        return {"wanted": self.wanted, "confidence": self.confidence, "guarantee": self.guarantee, "gates": gates}

    def to_frame(self) -> Any:
        """A pandas data frame with a row for each segment."""
        return make_frame(self.to_dict()["gates"])

    def __str__(self) -> str:
        level, wanted = f"{100 * self.confidence:g} %", f"{100 * self.wanted:g} %"
        head = f"With a confidence of {level}, at least {wanted} of the accepted rows of every segment are right."
        rows = [("segment", "accept from", "rows that pass", "right")]
        for name, gate in self.gates.items():
            cells = ("nothing", "0 %", "–")
            if gate.threshold is not None and gate.precision is not None:
                cells = f"{gate.threshold:.4g}", f"{100 * gate.share:.3g} %", f"{100 * gate.precision.value:.3g} %"
            rows.append((str(name), *cells))
        return "\n".join((head, *align(rows)))

    def __repr__(self) -> str:
        return f"SegmentAcceptance({len(self.gates)} segments)"


def _in_words(gate: Acceptance, precision: Interval) -> str:
    level, exact = f"{100 * gate.confidence:g} %", gate.guarantee == "finite_sample"
    value, low, high = (f"{100 * end:.3g} %" for end in (precision.value, precision.low, precision.high))
    named = "" if gate.probability is None else f" (a calibrated probability of {gate.probability:.3g})"
    rows = f"the {row_count(gate.n_rows)} rows without labels" if gate.unlabelled else "rows"
    text = f"Accept from a score of {gate.threshold:.6g}{named}: {100 * gate.share:.3g} % of {rows}"
    if gate.wanted is None:
        source = "labelled rows that pass" if exact else "rows that pass, by the posterior,"
        return f"{text}. Of the {source} {value} are right ({level} interval {low} to {high})."
    text += f", at least {100 * gate.wanted:g} % of them right.\n"
    if gate.probability is not None and gate.probability < 0.5:
        text += "The promise is about all rows that pass; those with the lowest scores are mostly wrong.\n"
    if exact:
        return text + (
            f"This holds with a confidence of {level} for rows like the labelled ones, without a model of the truth. "
            f"Of the labelled rows that pass, {value} are right."
        )
    return text + (
        f"This holds with a probability of {level} if the truth is one that the posterior can draw. By the posterior, "
        f"{value} of the rows that pass are right ({level} interval {low} to {high})."
    )


def _nothing_in_words(gate: Acceptance) -> str:
    wanted = "" if gate.wanted is None else f"{100 * gate.wanted:g} %"
    level = f"{100 * gate.confidence:g} %"
    shown = f"with a confidence of {level}, without a model of the truth"
    shown = shown if gate.guarantee == "finite_sample" else f"with a probability of {level} by the posterior"
    text = f"Nothing can be accepted: from no score up is it shown, {shown}, that {wanted} of the rows are right."
    if gate.instead is not None:
        text += f" Had {100 * gate.instead:g} % or less been asked for, some rows would pass."
    if gate.rows_needed is None:
        return f"{text} No part of the labelled rows that is large enough to tell has that precision."
    return f"{text} About {gate.rows_needed} labelled rows like these would let some pass in most cases."
