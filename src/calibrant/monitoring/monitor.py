"""A running test of calibration, for one score, several classes or many segments."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from calibrant._files import AnyPath
from calibrant._typing import ArrayLike
from calibrant.errors import InvalidInputError
from calibrant.maps.base import FrozenMap
from calibrant.maps.files import reading_kind, write_model
from calibrant.maps.loading import KINDS
from calibrant.monitoring import e_values
from calibrant.monitoring.e_values import SequentialTest
from calibrant.monitoring.named_tallies import ALL, NEW, TOP, gather, predict_tallies, read_named_tallies, whole
from calibrant.tally import Tally

KIND = "monitor"
MOST_RESIDUALS = 100  # of the last looks: more are not needed to see whether rows share their outcome


@dataclass(frozen=True, eq=False, repr=False)
class CalibrationMonitor:
    """A running test of calibration: feed it each day's rows, look as often as you like, alarm at 1 / alpha.

    It is immutable, and of every shape. One score has one test. A matrix has one of the predicted class and one of
    each class against the rest. Segments have one each, and one of all segments that were not there at the start. While
    every row has its predicted probabilities, the chance that any alarm is ever raised is at most alpha, over all
    names and all looks together. Weights of rows are not allowed: they have no martingale.

    Parameters
    ----------
    map_ : CalibrationMap, MatrixMap, SegmentedMap, PanelMap or fitted calibrator, optional
        Turns scores into the probabilities that are tested; without it the scores are the probabilities. Several scores
        are watched by the one probability that their map makes of them.
    classes : sequence, optional
        The labels of the columns of a matrix; by default those of the map, or the numbers of the columns.
    segments : sequence, optional
        The segments to watch: values, or tuples with several keys; by default those of the first look.
    clustered : bool
        Whether rows of a look may share their outcome, as all forecasts of one match do. Each look then counts as one
        piece of evidence, and a change takes more looks to show. Without it, a warning says if rows seem to.

    Attributes
    ----------
    looks : int
        Looks with rows so far.
    largest_e_value : float
        The largest e-value so far.

    Examples
    --------
    >>> from calibrant.monitoring import CalibrationMonitor
    >>> monitor = CalibrationMonitor()
    >>> for day in range(3):
    ...     monitor = monitor.updated([0.1] * 100, [0] * 60 + [1] * 40)
    >>> monitor.alarms(alpha=0.05), monitor.looks
    (['(all)'], 3)
    >>> good, bad = ([0] * n + [1] * (100 - n) for n in (90, 60))
    >>> monitor = CalibrationMonitor().updated([0.1] * 200, good + bad, segment=["de"] * 100 + ["fr"] * 100)
    >>> monitor.alarms(alpha=0.05)
    ['fr']
    >>> monitor
    CalibrationMonitor(1 look at 3 tests, e-value 2.38e+11 now, at most 2.38e+11 so far, of the scores as they are)
    """

    map_: FrozenMap | None = None
    classes: Sequence[Any] | None = None
    segments: Sequence[Hashable] | None = None
    clustered: bool = field(default=False, kw_only=True)
    looks: int = field(default=0, kw_only=True)
    largest_e_value: float = field(default=1.0, kw_only=True)
    _tests: Mapping[Any, SequentialTest] = field(default_factory=dict, kw_only=True)
    _largest: Mapping[Any, float] = field(default_factory=dict, kw_only=True)
    _residuals: tuple[float, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        if self.classes is not None and self.segments is not None:
            raise InvalidInputError("`classes` and `segments` exclude each other: rows have one shape.")
        object.__setattr__(self, "map_", getattr(self.map_, "map_", self.map_))
        if len({*(self.segments or ()), NEW}) != len(self.segments or ()) + 1:
            raise InvalidInputError(f"`segments` must be distinct, and none of them {NEW!r}.")

    def updated(
        self, rows: Any, y: ArrayLike | None = None, *, segment: Any = None, pos_label: Any = None
    ) -> CalibrationMonitor:
        """The monitor after one more look.

        Parameters
        ----------
        rows : array-like of shape (n,) or (n, K), table of several scores, Tally, or mapping of segment to Tally
            All new rows, by their scores or as tallies.
        y : array-like of shape (n,), optional
            The labels, where scores are given.
        segment : array-like or table, optional
            The segment of each row, where scores are given.
        pos_label : label, optional
            The positive class of two, where the labels are not bool, {0, 1} or {-1, 1}.

        Returns
        -------
        CalibrationMonitor
        """
        tallies = read_named_tallies(
            rows, y, map_=self.map_, segment=segment, classes=self.classes, pos_label=pos_label
        )
        tests = dict(self._tests or _start(tallies, self.segments))
        found = gather(predict_tallies(tallies, self.map_), tests)
        if not found:
            return self
        tests |= {name: tests[name].updated(tally, clustered=self.clustered) for name, tally in found.items()}
        now = {name: test.e_value for name, test in tests.items()}
        adjusted = e_values.adjust_e_values(list(now.values()), e_values.weights_of(now))
        largest = {
            name: max(self._largest.get(name, 1.0), float(value)) for name, value in zip(now, adjusted, strict=True)
        }
        rows = whole(found)
        residual = (rows.total_positive - float(rows.scores @ rows.totals)) / e_values.deviation_of(rows.scores, rows)
        residuals = (*self._residuals, residual)[-MOST_RESIDUALS:]
        if not self.clustered:
            e_values.warn_if_together(residuals)
        new = replace(self, looks=self.looks + 1, _tests=tests, _largest=largest, _residuals=residuals)
        return replace(new, largest_e_value=max(self.largest_e_value, new.e_value))

    @property
    def log_e_value(self) -> float:
        """Log of the e-value against all probabilities now: of the weighted mean of all tests."""
        if not self._tests:
            return 0.0
        logs = np.array([test.log_e_value for test in self._tests.values()])
        return float(np.logaddexp.reduce(np.log(e_values.weights_of(self._tests)) + logs))

    @property
    def e_value(self) -> float:
        """The e-value now, at most 10³⁰⁴; `log_e_value` has no limit."""
        return e_values.bounded_exp(self.log_e_value)

    def e_values(self) -> dict[Any, float]:
        """The largest e-value so far of each name, adjusted for having looked at all of them."""
        return dict(self._largest)

    def alarms(self, alpha: float = 0.05) -> list[Any]:
        """The names whose probabilities no longer hold, largest e-value first; an empty list where there is no alarm.

        In at most a share `alpha` of all series is any of them named wrongly. Where all names together alarm and no
        single one can be named, the answer is ``["(all)"]``, as it is for one score.
        """
        return e_values.alarming(self._largest, self.largest_e_value, alpha)

    def describe(self, alpha: float = 0.05) -> str:
        """How many looks there were, and what the test says at this level."""
        sentence = e_values.alarm_sentence(self.alarms(alpha), self.e_value, alpha, self.largest_e_value)
        return f"{self.looks} look{'s' * (self.looks != 1)}. {sentence}"

    def __repr__(self) -> str:
        looks = f"{self.looks} look{'s' * (self.looks != 1)}"
        tests = f" at {len(self._tests)} tests" if len(self._tests) > 1 else ""
        of = "of the scores as they are" if self.map_ is None else f"of {self.map_!r}"
        now, most = map(e_values.e_text, (self.e_value, self.largest_e_value))
        return f"CalibrationMonitor({looks}{tests}, e-value {now} now, at most {most} so far, {of})"

    __str__ = describe

    def save(self, path: AnyPath) -> None:
        """Write the monitor with its map as JSON with a checksum; `load` goes on where it was."""
        content = {
            "kind": KIND,
            "map_kind": None if self.map_ is None else self.map_.kind,
            "map": None if self.map_ is None else self.map_.to_dict(),
            "classes": None if self.classes is None else [_as_plain(name) for name in self.classes],
            "segments": None if self.segments is None else [_as_plain(name) for name in self.segments],
            "clustered": self.clustered,
            "residuals": list(self._residuals),
            "looks": self.looks,
            "largest_e_value": self.largest_e_value,
            "tests": [[_as_plain(name), self._largest[name], test.to_dict()] for name, test in self._tests.items()],
        }
        write_model(path, content)

    @classmethod
    def load(cls, path: AnyPath) -> CalibrationMonitor:
        """Read what `save` wrote."""
        with reading_kind(path, KIND) as document:
            tests = [(_as_name(name), *rest) for name, *rest in document["tests"]]
            map_, segments = document["map"], document["segments"]
            return cls(
                map_=None if map_ is None else KINDS[document["map_kind"]].from_dict(map_),
                classes=document["classes"],
                segments=None if segments is None else [_as_name(name) for name in segments],
                clustered=bool(document["clustered"]),
                looks=int(document["looks"]),
                largest_e_value=float(document["largest_e_value"]),
                _tests={name: SequentialTest.from_dict(test) for name, _, test in tests},
                _largest={name: float(largest) for name, largest, _ in tests},
                _residuals=tuple(map(float, document["residuals"])),
            )


def _start(tallies: Mapping[Any, Tally], segments: Sequence[Hashable] | None) -> dict[Any, SequentialTest]:
    """One test for each name of the first look; segments have one more, of those to come."""
    are_segments = segments is not None or not (ALL in tallies or TOP in tallies)
    names = [*(tallies if segments is None else segments), NEW] if are_segments else list(tallies)
    return dict.fromkeys(names, SequentialTest())


def _as_plain(name: Any) -> Any:
    """A name for a file: a tuple as a list, and a number of numpy as one of Python."""
    if isinstance(name, tuple):
        return [_as_plain(key) for key in name]
    plain = name.item() if isinstance(name, np.generic) else name
    if not isinstance(plain, str | int | float | None):
        raise InvalidInputError(f"Names to save must be strings, numbers or None; got {name!r}. Rename the segments.")
    return plain


def _as_name(name: Any) -> Any:
    """A name from a file: JSON has no tuples, so a segment of several keys was written as a list."""
    return tuple(name) if isinstance(name, list) else name
