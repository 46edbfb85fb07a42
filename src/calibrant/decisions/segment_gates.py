"""A gate for each segment, such as a prompt, a language or a system, with one guarantee for all of them together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant import _validation
from calibrant._numerics.piecewise import halve
from calibrant._tables import align, make_frame
from calibrant._typing import ArrayLike, Bools, Floats
from calibrant.decisions.gate_rows import GateRows
from calibrant.decisions.gates import GUARANTEES, N_DRAWS, Acceptance, make_acceptance
from calibrant.metrics.samples import Seed
from calibrant.segments.calibrator import SegmentedCalibrator
from calibrant.tally import Tally

__all__ = ["SegmentAcceptance", "acceptance_by_segment"]

HALVINGS = 12  # of the range of the probability that is left to each segment


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
    >>> from calibrant.decisions import acceptance_by_segment
    >>> gates = acceptance_by_segment(np.ones(200), np.arange(200) / 200, ["a", "b"] * 100, precision=0.9)
    >>> gates.passes([0.9, 0.9], ["a", "unknown"]).tolist()
    [True, False]
    """

    gates: dict[Any, Acceptance]
    wanted: float
    confidence: float
    guarantee: str

    def passes(self, scores: ArrayLike, segment: ArrayLike) -> Bools:
        """Tell which rows pass; those of a segment without a gate do not."""
        checked = _validation.check_scores(scores)
        lowest = {name: gate.threshold for name, gate in self.gates.items() if gate.threshold is not None}
        return checked >= np.array([lowest.get(name, np.inf) for name in np.asarray(segment).tolist()])

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


def acceptance_by_segment(
    y_true: ArrayLike | Mapping[Any, Tally],
    scores: ArrayLike | None = None,
    segment: ArrayLike | None = None,
    *,
    precision: float,
    confidence: float = 0.9,
    guarantee: str = "finite_sample",
    calibrator: Any = "blend",
    rng: Seed = 0,
    pos_label: Any = None,
) -> SegmentAcceptance:
    """Find the lowest accepted score of each segment, so that all segments keep a precision at once.

    Parameters
    ----------
    y_true, scores : array-like of shape (n,)
        Whether each row is right, and its score; or the tally of each segment in place of all data.
    segment : array-like of shape (n,)
        The segment of each row.
    precision : float
        The wanted share of right rows among the accepted ones of every segment.
    confidence : float
        The probability with which all segments keep it.
    guarantee : {"finite_sample", "posterior"}
        "finite_sample" tests each segment by its own rows, at a level divided by the number of segments. "posterior"
        lets segments learn from each other, by the draws of a `SegmentedCalibrator`.
    calibrator : str or calibrator
        The method of its pooled curve.
    rng : int, numpy.random.Generator or None
        The seed of the draws.
    pos_label : label, optional
        The label of right rows, where labels are not bool, {0, 1} or {-1, 1}.

    Returns
    -------
    SegmentAcceptance

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.decisions import acceptance_by_segment
    >>> r = np.random.default_rng(0)
    >>> scores, language = r.beta(4, 1.2, 3000), r.choice(["en", "de"], 3000)
    >>> right = r.random(3000) < scores - 0.05 * (language == "de")
    >>> gates = acceptance_by_segment(right, scores, language, precision=0.8).gates
    >>> gates["en"].threshold < gates["de"].threshold
    True
    """
    _validation.check_choice("guarantee", guarantee, GUARANTEES)
    _validation.check_number("confidence", confidence, "level")
    _validation.check_number("precision", precision, "rate")
    tallies = y_true if isinstance(y_true, Mapping) else _count(y_true, scores, segment, pos_label)
    rows = {name: GateRows(tally, tally) for name, tally in tallies.items()}
    if guarantee == "posterior":
        gates = _posterior_gates(rows, calibrator, precision, confidence, rng)
    else:
        each, gates = 1.0 - (1.0 - confidence) / len(rows), {}
        for name, own in rows.items():
            threshold = own.exact_threshold(precision, 1.0 - each)
            gates[name] = make_acceptance(own, threshold, draws=None, model=None, wanted=precision, confidence=each)
    return SegmentAcceptance(gates, precision, confidence, guarantee)


def _count(y_true: Any, scores: Any, segment: Any, pos_label: Any) -> dict[Any, Tally]:
    """The tally of each segment."""
    column, names = _validation.check_scores(scores), np.asarray(segment)
    labels, _ = _validation.encode_labels(y_true, pos_label, "y_true")
    _validation.check_same_length(len(column), len(labels), "y_true")
    _validation.check_same_length(len(column), len(names), "segment")
    parts = {name: names == name for name in np.unique(names).tolist()}
    return {name: Tally.from_arrays(column[own], labels[own]) for name, own in parts.items()}


def _posterior_gates(
    rows: Mapping[Any, GateRows], calibrator: Any, precision: float, confidence: float, rng: Seed
) -> dict[Any, Acceptance]:
    """The gates that all keep the precision in a share `confidence` of the draws, each in the same larger share."""
    model = SegmentedCalibrator(calibrator).fit_tallies({name: own.labelled for name, own in rows.items()})
    cells = {name: own.cells.scores for name, own in rows.items()}
    segment = [name for name, scores in cells.items() for _ in scores]
    maps = model.sample_maps(np.concatenate(list(cells.values())), N_DRAWS, rng, segment=segment)
    parts = np.split(maps, np.cumsum([len(scores) for scores in cells.values()])[:-1], axis=1)
    draws = {name: own.precision_draws(part, rng) for (name, own), part in zip(rows.items(), parts, strict=True)}

    def thresholds(each: float) -> dict[Any, float | None]:
        return {name: own.posterior_threshold(draws[name], precision, each) for name, own in rows.items()}

    low, high = confidence, 1.0 - (1.0 - confidence) / len(rows)  # what each would need if all went wrong together, …
    _, high = halve(lambda x: _all_kept(rows, draws, thresholds(x), precision) < confidence, low, high, HALVINGS)
    found = thresholds(high)
    return {
        name: make_acceptance(
            own, found[name], draws=draws[name], model=model.map_for(name), wanted=precision, confidence=float(high)
        )
        for name, own in rows.items()
    }


def _all_kept(
    rows: Mapping[Any, GateRows], draws: Mapping[Any, Floats], thresholds: Mapping[Any, float | None], precision: float
) -> float:
    """In which share of the draws all segments keep the precision from their thresholds up."""
    kept = np.ones(N_DRAWS, dtype=bool)
    for name, threshold in thresholds.items():
        if threshold is not None:
            kept &= draws[name][:, int(np.flatnonzero(rows[name].candidates == threshold)[0])] >= precision
    return float(kept.mean())
