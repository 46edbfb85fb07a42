"""Is calibration needed? One verdict with one criterion, computed here and worded wherever it is shown."""

from dataclasses import dataclass
from typing import Any, Literal

from calibrant import _validation
from calibrant.errors import InvalidInputError
from calibrant.intervals import Interval
from calibrant.metrics.grouped_rows import GroupedRows
from calibrant.metrics.hypothesis_tests import kuiper_of
from calibrant.metrics.resampling import Sample
from calibrant.tally import Tally, row_count

State = Literal["needed", "not_repaired", "miscalibrated", "no_evidence", "not_probabilities", "undecided"]
CLEAR, SOME = 0.001, 0.05  # p-values of Kuiper's test
SMALL_POINTS, SMALL_SHARE = 0.01, 0.1  # an average error below both is small
LARGE_POINTS = 0.1


@dataclass(frozen=True)
class Verdict:
    """Whether probabilities need calibration: the evidence, and what follows from it.

    There are two kinds of evidence. Calibrated probabilities have the lowest log-loss that any map of them can reach,
    so a map that lowers it on rows that it has not seen proves an error, and is worth using; its gain counts where the
    whole interval is above 0. Kuiper's test needs no map and sees gaps of either sign, but neither says what to do
    about them nor sees many small waves. Either is enough to doubt the probabilities; only the gain is a reason to
    calibrate. With intervals of 90 %, each is wrong about calibrated probabilities once in twenty times.

    Attributes
    ----------
    n_rows, base_rate : float
        (Weighted) number of rows, and share of positives.
    p_value : float or None
        Of Kuiper's test of the raw probabilities; None where it has no value.
    gain : Interval or None
        By how much calibrating lowers the log-loss on rows that the fit has not seen, paired row by row; None where
        nothing was fitted.
    error : Interval or None
        How far a probability is from the truth on average, where that was measured.
    probabilities : bool
        Whether all scores lie in [0, 1].

    Examples
    --------
    >>> from calibrant import metrics
    >>> from calibrant.metrics import Interval, Verdict
    >>> verdict = Verdict(800, 0.4, p_value=0.02, gain=Interval(0.001, -0.001, 0.003, 0.9))
    >>> verdict.state
    'not_repaired'
    >>> print(verdict)
    The probabilities are off (Kuiper's test, p = 0.020), but calibrating does not lower the log-loss beyond chance.
    """

    n_rows: float
    base_rate: float
    p_value: float | None
    gain: Interval | None = None
    error: Interval | None = None
    probabilities: bool = True

    @property
    def state(self) -> State:
        """The conclusion in a word.

        "needed": calibrating lowers the log-loss beyond chance. "not_repaired": the test finds an error, but
        calibrating does not lower the log-loss beyond chance. "miscalibrated": the test finds an error, and nothing
        was fitted. "no_evidence": neither. "not_probabilities": the scores cannot be used without calibration.
        "undecided": the test has no value, and nothing was fitted.
        """
        if not self.probabilities:
            return "not_probabilities"
        if self.improves:
            return "needed"
        if self.rejected:
            return "miscalibrated" if self.gain is None else "not_repaired"
        return "undecided" if self.p_value is None and self.gain is None else "no_evidence"

    @property
    def improves(self) -> bool:
        """Whether calibrating lowers the log-loss beyond chance."""
        return self.gain is not None and self.gain.low > 0.0

    @property
    def rejected(self) -> bool:
        """Whether Kuiper's test rejects the raw probabilities."""
        return self.p_value is not None and self.p_value < SOME

    @property
    def calibrate(self) -> bool:
        """Whether to calibrate."""
        return self.state in ("needed", "not_probabilities")

    @property
    def strength(self) -> int:
        """Evidence of an error: 0 none, 1 some (one of the two kinds), 2 clear (both, or a p-value below 0.001)."""
        clear = self.p_value is not None and self.p_value < CLEAR
        return 2 if clear else int(self.rejected) + int(self.probabilities and self.improves)

    @property
    def small(self) -> bool:
        """Whether the error surely hardly matters: under a point, and under a tenth of the rarer class."""
        if self.error is None:
            return False
        return self.error.high < min(SMALL_POINTS, SMALL_SHARE * min(self.base_rate, 1.0 - self.base_rate))

    @property
    def large(self) -> bool:
        """Whether the error is surely so large that the probabilities say little."""
        return self.error is not None and self.error.low > LARGE_POINTS

    @property
    def test(self) -> str:
        """The result of the test in brackets."""
        if self.p_value is None:
            return "(Kuiper's test has no value: all probabilities are 0 or 1)"
        return f"(Kuiper's test, p {f'= {self.p_value:.3f}' if self.p_value >= CLEAR else '< 0.001'})"

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON."""
        intervals = {key: getattr(self, key) for key in ("gain", "error")}
        plain = {key: None if one is None else one.to_dict() for key, one in intervals.items()}
        return {"state": self.state, "calibrate": self.calibrate, "p_value": self.p_value} | plain

    def __str__(self) -> str:
        return {
            "needed": f"Calibration is needed: on rows not seen, it lowers the log-loss by {self.gain}.",
            "not_repaired": f"The probabilities are off {self.test}, but calibrating does not lower the log-loss "
            "beyond chance.",
            "miscalibrated": f"Miscalibrated beyond chance {self.test}.",
            "no_evidence": f"No evidence against the probabilities in {row_count(self.n_rows)} rows {self.test}.",
            "not_probabilities": "The scores are not probabilities: some lie outside [0, 1].",
            "undecided": f"These rows cannot tell whether the probabilities are calibrated {self.test}.",
        }[self.state]


def judge_calibration(
    tally: Tally, gain: Interval | None = None, error: Interval | None = None, rows: GroupedRows | None = None
) -> Verdict:
    """Judge whether the raw probabilities of a tally need calibration; see `Verdict` for the criterion.

    Parameters
    ----------
    tally : Tally
        The raw scores.
    gain : Interval, optional
        By how much calibrating lowers the log-loss on rows that the fit has not seen.
    error : Interval, optional
        How far a probability is from the truth on average.
    rows : GroupedRows, optional
        The rows of the tally with their groups, where they depend on each other; the test allows for that.

    Returns
    -------
    Verdict

    Examples
    --------
    >>> from calibrant import simulate
    >>> from calibrant.metrics import judge_calibration
    >>> judge_calibration(simulate.from_truth("wave", 1000).tally).state
    'miscalibrated'
    """
    try:
        _validation.check_unit_interval(tally.scores, "scores")
    except InvalidInputError:
        return Verdict(tally.total, tally.base_rate, None, gain, error, probabilities=False)
    try:
        p_value: float | None = kuiper_of(Sample(tally, rows)).p_value
    except InvalidInputError:
        p_value = None  # all probabilities are 0 or 1
    return Verdict(tally.total, tally.base_rate, p_value, gain, error)
