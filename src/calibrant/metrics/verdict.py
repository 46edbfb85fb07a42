"""Is calibration needed? One verdict with one criterion, computed here and worded wherever it is shown."""

from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

from calibrant import _validation
from calibrant.errors import InvalidInputError
from calibrant.intervals import Interval, plain
from calibrant.metrics.cumulative import kuiper_test
from calibrant.metrics.multiclass import full_calibration_test
from calibrant.metrics.samples import PanelSample, Sample, ScoreSample, Seed
from calibrant.tally import Tally, row_count

State = Literal["needed", "not_repaired", "miscalibrated", "no_evidence", "not_probabilities", "undecided"]
CLEAR, SOME = 0.001, 0.05  # p-values of the test
BEYOND_DOUBT = 3.0  # nats of evidence, odds of 20 to 1
SMALL_POINTS, SMALL_SHARE = 0.01, 0.1  # an average error below both is small
LARGE_POINTS = 0.1
# The test of each shape, and why it may have no value.
TESTS = {
    "score": ("Kuiper's test", "Kuiper's test has no value: all probabilities are 0 or 1"),
    "matrix": ("test of full calibration", "the test of full calibration needs independent rows"),
    "panel": ("a test", "several scores of a row have no test"),
}


@dataclass(frozen=True)
class Verdict:
    """Whether probabilities need calibration: the evidence, and what follows from it.

    There are two kinds of evidence. Calibrated probabilities have the lowest log-loss that any map of them can reach,
    so a map that lowers it on rows that it has not seen proves an error, and is worth using; its gain counts where the
    whole interval is above 0. A test, Kuiper's of one score and `full_calibration_test` of a matrix, needs no map, but
    neither says what to do about an error nor sees many small waves. Either is enough to doubt the probabilities; only
    the gain is a reason to calibrate. With intervals of 90 %, each is wrong about calibrated probabilities once in
    twenty times.

    Attributes
    ----------
    n_rows, base_rate : float
        (Weighted) number of rows, and share of positives; with several classes that of the most frequent one.
    p_value : float or None
        Of the test of the raw probabilities; None where it has no value.
    gain : Interval or None
        By how much calibrating lowers the log-loss on rows that the fit has not seen, paired row by row; None where
        nothing was fitted.
    error : Interval or None
        How far a probability is from the truth on average, where that was measured.
    probabilities : bool
        Whether the scores are probabilities.
    shape : {"score", "matrix", "panel"}
        Of the probabilities, which decides on the test.
    log_odds : float or None
        In place of a gain: how much more probable the labels are under a calibrated model than under the raw
        probabilities, as a logarithm of marginal likelihoods; it counts where the odds are above 20 to 1.

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
    shape: str = "score"
    log_odds: float | None = None

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
            return "not_repaired" if self.fitted else "miscalibrated"
        return "no_evidence" if self.fitted or self.p_value is not None else "undecided"

    @property
    def fitted(self) -> bool:
        """Whether something was fitted, so that its gain is known."""
        return self.gain is not None or self.log_odds is not None

    @property
    def improves(self) -> bool:
        """Whether calibrating lowers the log-loss beyond chance."""
        if self.log_odds is not None:
            return self.log_odds > BEYOND_DOUBT
        return self.gain is not None and self.gain.low > 0.0

    @property
    def rejected(self) -> bool:
        """Whether the test rejects the raw probabilities."""
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
        name, why_none = TESTS[self.shape]
        if self.p_value is None:
            return f"({why_none})"
        return f"({name}, p {f'= {self.p_value:.3f}' if self.p_value >= CLEAR else '< 0.001'})"

    @property
    def change(self) -> str:
        """What calibrating does to the log-loss, in words; empty where nothing was fitted."""
        if self.log_odds is not None:
            gain = self.log_odds / self.n_rows
            return f"the prequential log-loss is {abs(gain):.4f} {'lower' if gain > 0.0 else 'higher'} per row"
        return "" if self.gain is None else f"on rows not seen, it lowers the log-loss by {self.gain}"

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON."""
        conclusion = {"state": self.state, "calibrate": self.calibrate, "p_value": self.p_value}
        return conclusion | {"gain": plain(self.gain), "error": plain(self.error)}

    def __str__(self) -> str:
        several = "Several scores of a row are not one probability"
        what = several if self.shape == "panel" else "The scores are not probabilities"
        return {
            "needed": f"Calibration is needed: {self.change}.",
            "not_repaired": f"The probabilities are off {self.test}, but calibrating does not lower the log-loss "
            "beyond chance.",
            "miscalibrated": f"Miscalibrated beyond chance {self.test}.",
            "no_evidence": "The test finds no evidence against the probabilities in "
            f"{row_count(self.n_rows)} rows {self.test}.",
            "not_probabilities": f"{what}, so they cannot be used as they are.",
            "undecided": f"These rows cannot tell whether the probabilities are calibrated {self.test}.",
        }[self.state]


def judge_calibration(
    data: Tally | Sample, gain: Interval | None = None, error: Interval | None = None, rng: Seed = 0
) -> Verdict:
    """Judge whether raw probabilities need calibration; see `Verdict` for the criterion.

    Parameters
    ----------
    data : Tally or Sample
        The raw scores; the test allows for groups of rows that depend on each other, where a sample has some.
    gain : Interval, optional
        By how much calibrating lowers the log-loss on rows that the fit has not seen.
    error : Interval, optional
        How far a probability is from the truth on average.
    rng : int, numpy.random.Generator or None
        The seed or generator of the test, where it simulates.

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
    sample: Any = ScoreSample(data) if isinstance(data, Tally) else data
    probabilities, p_value = True, None
    if isinstance(sample, ScoreSample):
        probabilities = sample.space == "probability" and _validation.are_probabilities(sample.tally.scores)
        if probabilities:
            with suppress(InvalidInputError):  # all probabilities are 0 or 1
                p_value = kuiper_test(sample).p_value
    elif isinstance(sample, PanelSample):
        probabilities = False
    elif sample.groups is None:  # labels drawn one by one are no chance that rows in groups could be compared with
        p_value = full_calibration_test(sample, rng=rng).p_value
    return Verdict(
        n_rows=sample.n_rows,
        base_rate=sample.base_rate,
        p_value=p_value,
        gain=gain,
        error=error,
        probabilities=probabilities,
        shape=sample.shape,
    )
