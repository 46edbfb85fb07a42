"""Is the calibration of every segment still right? One error rate over all segments and all looks."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calibrant._typing import Floats
from calibrant.errors import InvalidInputError
from calibrant.maps.keys import name_columns
from calibrant.maps.score import CalibrationMap
from calibrant.maps.segments import SegmentedMap
from calibrant.monitoring.monitor import CalibrationMonitor, TallyComparison, compare_tallies
from calibrant.tally import Tally

__all__ = ["NEW", "SegmentComparison", "SegmentMonitor", "adjust_e_values", "compare_segments", "name_of"]

#: The name under which rows of segments are counted that were not there at the start.
NEW = "(new)"
HEADERS = ("segment", "rows now", "predicted", "happened", "evidence")
MOST_PRINTED = 20
Map = CalibrationMap | SegmentedMap
Tallies = Mapping[Any, Tally]


def adjust_e_values(e_values: Floats) -> Floats:
    """Evidence against each of several segments that allows for having looked at all of them.

    The adjusted e-value of a segment is the smallest mean over sets of segments with it among them. If at least one
    of the segments that are still right has an adjusted value of 1 / alpha or more, then so has the mean over all
    that are still right, which happens with a probability of at most alpha (closed testing with averaged e-values,
    Vovk and Wang 2021). As each e-value may be looked at every day, so may these.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.monitoring.segments import adjust_e_values
    >>> adjust_e_values(np.array([60.0, 0.5, 0.1])).round(2).tolist()
    [20.2, 0.3, 0.1]
    """
    order = np.argsort(e_values, kind="stable")
    values = e_values[order]
    sums, count = np.cumsum(values), np.arange(1, len(values) + 1)
    # The worst set for a segment is itself and the smallest others; with i of them below it, their mean.
    below = np.concatenate(([np.inf], sums))
    adjusted = np.empty(len(values))
    for place, value in enumerate(values.tolist()):
        means = (below[1 : place + 1] + value) / (count[:place] + 1)
        adjusted[place] = min(value, float(means.min(initial=np.inf)))
    out = np.empty(len(values))
    out[order] = adjusted
    return out


@dataclass(frozen=True, eq=False)
class SegmentMonitor:
    """A running test of calibration in every segment: feed it each day's tallies, alarm at 1 / alpha.

    The segments are fixed at the start, because evidence is averaged over them; rows of other segments are counted
    together as one more. While the probabilities of all segments are right, the chance of ever naming any of them is
    at most alpha, over all segments and all looks together.

    Parameters
    ----------
    segments : sequence of segments
        Those to watch, as the tallies name them: values, or tuples with several keys.
    map_ : CalibrationMap or SegmentedMap, optional
        Turns scores into the probabilities that are tested.

    Examples
    --------
    >>> from calibrant import Tally
    >>> from calibrant.monitoring.segments import SegmentMonitor
    >>> monitor = SegmentMonitor(["de", "fr"])
    >>> for day in range(3):
    ...     good, bad = (Tally.from_arrays([0.1] * 100, [0] * n + [1] * (100 - n)) for n in (90, 60))
    ...     monitor = monitor.updated({"de": good, "fr": bad})
    >>> monitor.alarms(alpha=0.05)
    ['fr']
    """

    segments: Sequence[Hashable]
    map_: Map | None = None
    _monitors: Mapping[Any, CalibrationMonitor] | None = None
    _largest: Floats | None = None

    @property
    def monitors(self) -> dict[Any, CalibrationMonitor]:
        """The monitor of each segment, and that of new ones."""
        if self._monitors is not None:
            return dict(self._monitors)
        names = [*self.segments, NEW]
        if len(set(names)) != len(names):
            raise InvalidInputError(f"`segments` must be distinct and none of them {NEW!r}.")
        map_ = None if isinstance(self.map_, SegmentedMap) else self.map_
        return {name: CalibrationMonitor(map_) for name in names}

    def updated(self, tallies: Tallies) -> SegmentMonitor:
        """The monitor after one more look, with the tallies of the new rows of each segment."""
        monitors = self.monitors
        for name, tally in _gather(tallies, monitors, self.map_).items():
            monitors[name] = monitors[name].updated(tally)
        now = adjust_e_values(np.array([one.e_value for one in monitors.values()]))
        largest = now if self._largest is None else np.maximum(self._largest, now)
        return replace(self, _monitors=monitors, _largest=largest)

    def e_values(self) -> dict[Any, float]:
        """The largest evidence so far against each segment, adjusted for having looked at all of them."""
        largest = np.ones(len(self.monitors)) if self._largest is None else self._largest
        return dict(zip(self.monitors, largest.tolist(), strict=True))

    def alarms(self, alpha: float = 0.05) -> list[Any]:
        """The segments whose probabilities no longer hold."""
        if not 0.0 < alpha < 1.0:
            raise InvalidInputError(f"`alpha` must lie between 0 and 1; got {alpha!r}.")
        return [name for name, e_value in self.e_values().items() if e_value >= 1.0 / alpha]


@dataclass(frozen=True)
class SegmentComparison:
    """Changes in each segment.

    Attributes
    ----------
    segments : dict of segment to TallyComparison
        Each segment with rows now and in the reference; ``"(new)"`` are rows of segments that the reference lacks,
        compared with all of it.
    e_values : dict of segment to float
        Evidence against the calibration of each, adjusted for having looked at all of them.

    Examples
    --------
    >>> from calibrant import Tally
    >>> from calibrant.monitoring.segments import compare_segments
    >>> rows = {name: Tally.from_arrays([0.5] * 40, [0, 1] * 20) for name in "ab"}
    >>> compare_segments(rows, rows).p_value
    1.0
    """

    segments: dict[Any, TallyComparison]
    e_values: dict[Any, float]

    @property
    def e_value(self) -> float:
        """Evidence that the probabilities of any segment no longer hold."""
        return max(self.e_values.values(), default=1.0)

    @property
    def p_value(self) -> float:
        """1 / e_value, at most 1: below 0.05 in at most 5 % of all series of looks at all segments."""
        return min(1.0, 1.0 / self.e_value) if self.e_value > 0 else 1.0

    def alarms(self, alpha: float = 0.05) -> list[Any]:
        """The segments whose probabilities no longer hold, those with most evidence first."""
        ranked = sorted(self.e_values.items(), key=lambda item: -item[1])
        return [name for name, e_value in ranked if e_value >= 1.0 / alpha]

    def __str__(self) -> str:
        ranked = sorted(self.segments, key=lambda name: -self.e_values[name])
        lines = [HEADERS]
        for name in ranked[:MOST_PRINTED]:
            one = self.segments[name]
            shares = (f"{one.mean_predicted:.4f}", f"{one.base_rates[1]:.4f}")
            lines.append((name_of(name), f"{one.rows[1]:g}", *shares, f"{self.e_values[name]:.3g}"))
        widths = [max(len(line[i]) for line in lines) for i in range(len(HEADERS))]
        shown = ["  ".join(t.ljust(w) for t, w in zip(line, widths, strict=True)).rstrip() for line in lines]
        if len(ranked) > MOST_PRINTED:
            shown.append(f"… and {len(ranked) - MOST_PRINTED} more")
        return "\n".join(shown)


def name_of(segment: Any) -> str:
    """A segment as people read it."""
    words = segment if isinstance(segment, tuple) else (segment,)
    return " · ".join("(missing)" if word is None else str(word) for word in words)


def compare_segments(reference: Tallies, current: Tallies, *, map_: Map | None = None) -> SegmentComparison:
    """Compare the current rows of each segment with a reference; see `compare_tallies`.

    Parameters
    ----------
    reference : dict of segment to Tally
        Rows at the time of deployment. It says which segments there are.
    current : dict of segment to Tally
        All unweighted rows since then.
    map_ : CalibrationMap or SegmentedMap, optional
        Turns scores into the probabilities that are tested.

    Returns
    -------
    SegmentComparison

    Examples
    --------
    >>> from calibrant import Tally
    >>> from calibrant.monitoring.segments import compare_segments
    >>> before = {name: Tally.from_arrays([0.5] * 40, [0, 1] * 20) for name in "ab"}
    >>> now = {"a": Tally.from_arrays([0.5] * 200, [0, 1] * 100), "b": Tally.from_arrays([0.5] * 200, [1] * 200)}
    >>> compare_segments(before, now).alarms()
    ['b']
    """
    watched = [name for name, tally in reference.items() if len(tally)]
    if not watched:
        raise InvalidInputError("`reference` must have at least one segment with rows; it has none.")
    monitors = SegmentMonitor(watched, map_).monitors
    before, now = (_gather(tallies, monitors, map_) for tallies in (reference, current))
    whole = sum(before.values(), Tally.empty())
    own = None if isinstance(map_, SegmentedMap) else map_
    compared = {name: compare_tallies(before.get(name, whole), now[name], map_=own) for name in monitors if name in now}
    # A segment without rows has an e-value of 1, and counts among those that were looked at.
    values = np.array([compared[name].e_value if name in compared else 1.0 for name in monitors])
    return SegmentComparison(compared, dict(zip(monitors, adjust_e_values(values).tolist(), strict=True)))


def _gather(tallies: Tallies, known: Mapping[Any, Any], map_: Map | None) -> dict[Any, Tally]:
    """The tallies of known segments, and the sum of all others under one name.

    A map of segments is applied here, where each row's own segment is known, also that of a new combination of keys.
    """
    found: dict[Any, Tally] = {}
    for segment, tally in tallies.items():
        name = segment if segment in known else NEW
        if len(tally):
            found[name] = found.get(name, Tally.empty()) + _apply(map_, segment, tally)
    return found


def _apply(map_: Map | None, segment: Any, tally: Tally) -> Tally:
    if not isinstance(map_, SegmentedMap):
        return tally
    columns = name_columns([segment], map_.keys.names)
    own = {key: np.repeat(column, len(tally)) for key, column in columns.items()}
    return tally.rescored(map_(tally.scores, own))
