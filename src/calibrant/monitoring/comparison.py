"""Current rows against a reference: how far they have moved, and whether their probabilities still hold."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._numerics import bins
from calibrant._tables import align
from calibrant._typing import Floats
from calibrant.errors import InvalidInputError
from calibrant.intervals import Interval
from calibrant.maps.base import FrozenMap
from calibrant.monitoring import named_tallies
from calibrant.monitoring.e_values import SequentialTest, adjust_e_values, alarm_sentence, alarming, e_text, weights_of
from calibrant.monitoring.named_tallies import ALL, NEW, TOP, gather, whole
from calibrant.tally import Tally, row_count

HEADERS = ("", "rows now", "predicted", "happened", "e-value")
MOST_PRINTED = 20
LEVEL = 0.9
N_BINS = 10


@dataclass(frozen=True)
class TallyChange:
    """Changes between two tallies.

    Attributes
    ----------
    rows, base_rates : tuple of float
        Of the reference and the current rows.
    base_rate_change : Interval
        Of the change of the base rate (Agresti and Caffo 2000), for a single look.
    mean_predicted : float
        Mean predicted probability of the current rows, to hold against their base rate.
    score_shift : float
        Largest difference of the two distributions of scores (Kolmogorov and Smirnov).
    population_stability_index : float
        Population stability index over ten bins of equal reference mass.
    e_value : float
        Against the probabilities of the current rows: at most 1 on average while they hold.

    Examples
    --------
    >>> from calibrant import simulate
    >>> from calibrant.monitoring import compare_tallies
    >>> before, after = simulate.from_truth("D1", 2000, rng=1), simulate.from_truth("D1", 2000, rng=2)
    >>> change = compare_tallies(before.tally, after.tally).whole
    >>> change.rows, change.score_shift < 0.05
    ((2000.0, 2000.0), True)
    """

    rows: tuple[float, float]
    base_rates: tuple[float, float]
    base_rate_change: Interval
    mean_predicted: float
    score_shift: float
    population_stability_index: float
    e_value: float


@dataclass(frozen=True, repr=False)
class TallyComparison:
    """Changes of one score, of several classes or of many segments, with one rate of false alarms.

    Attributes
    ----------
    whole : TallyChange
        Of all rows; of several classes, of the predicted class: its probability, and whether it was right.
    changes : dict of name to TallyChange
        ``"(all)"`` of one score; ``"(predicted class)"`` and each class against the rest; or each segment with rows
        now, where ``"(new)"`` are rows of segments that the reference lacks, compared with all of it.
    e_values : dict of name to float
        Adjusted for having looked at all names.
    e_value : float
        Against all probabilities of the current rows: the weighted mean over all names.

    Examples
    --------
    >>> from calibrant import simulate
    >>> from calibrant.monitoring import compare_tallies
    >>> data = simulate.from_truth("D1", 2000)
    >>> compare_tallies(data.tally, data.tally).p_value < 0.05  # the scores of D1 are not calibrated, before or after
    True
    """

    whole: TallyChange
    changes: dict[Any, TallyChange]
    e_values: dict[Any, float]
    e_value: float

    @property
    def p_value(self) -> float:
        """1 / e_value, at most 1: below 0.05 in at most 5 % of all series of looks, however long (Ville 1939)."""
        return min(1.0, 1.0 / self.e_value) if self.e_value > 0 else 1.0

    def alarms(self, alpha: float = 0.05) -> list[Any]:
        """The names whose probabilities no longer hold, largest e-value first; see `CalibrationMonitor.alarms`."""
        return alarming(self.e_values, self.e_value, alpha)

    def describe(self, alpha: float = 0.05) -> str:
        """All changes for people, and what the test says at this level."""
        return f"{self.describe_changes()}\n{alarm_sentence(self.alarms(alpha), self.e_value, alpha)}"

    def describe_changes(self) -> str:
        """All changes for people."""
        whole, change = self.whole, self.whole.base_rate_change
        share = "Predicted class right" if TOP in self.changes else "Share of positives"
        interval = f"{100 * change.level:g} % interval of the change [{change.low:+.4f}, {change.high:+.4f}]"
        index = f"population stability index {whole.population_stability_index:.4f}"
        lines = [
            f"Rows: {row_count(whole.rows[0])} in the reference, {row_count(whole.rows[1])} now.",
            f"{share}: {whole.base_rates[0]:.4f}, now {whole.base_rates[1]:.4f}; {interval}.",
            f"Mean predicted probability now: {whole.mean_predicted:.4f}.",
            f"Shift of the scores: largest gap {whole.score_shift:.4f}, {index}.",
            *(_table(self.changes, self.e_values) if ALL not in self.changes else ()),
        ]
        return "\n".join(lines)

    __str__ = describe

    def __repr__(self) -> str:
        rows = f"{row_count(self.whole.rows[0])} rows, now {row_count(self.whole.rows[1])}"
        return f"TallyComparison({rows}, {len(self.e_values)} tests, e-value {e_text(self.e_value)})"


def compare_tallies(
    reference: Any, current: Any, *, map_: FrozenMap | None = None, classes: Sequence[Any] | None = None
) -> TallyComparison:
    """Compare current rows with a reference: how far they have moved, and whether their probabilities still hold.

    Parameters
    ----------
    reference : Tally, (scores, y), or mapping of segment to Tally
        Rows at the time of deployment. Scores are of shape (n,), or (n, K) for several classes. A mapping says which
        segments there are.
    current : the same
        Unweighted rows since then. When the comparison is repeated, it must be all of them: only then does the test
        stay valid however often it is looked at. `CalibrationMonitor` keeps such a sum, and notices a late change
        sooner.
    map_ : CalibrationMap, MatrixMap, SegmentedMap or fitted calibrator, optional
        Turns scores into the probabilities that are tested. Without it the scores are the probabilities.
    classes : sequence, optional
        The labels of the columns of a matrix; by default those of the map, or the numbers of the columns.

    Returns
    -------
    TallyComparison

    Examples
    --------
    >>> from calibrant import Tally
    >>> from calibrant.monitoring import compare_tallies
    >>> reference = Tally.from_arrays([0.1] * 90 + [0.9] * 10, [0] * 81 + [1] * 18 + [0])
    >>> current = Tally.from_arrays([0.1] * 500 + [0.9] * 500, [0] * 250 + [1] * 750)
    >>> result = compare_tallies(reference, current)
    >>> result.p_value < 0.001, round(result.whole.score_shift, 2)
    (True, 0.4)
    >>> before = {name: Tally.from_arrays([0.5] * 40, [0, 1] * 20) for name in "ab"}
    >>> now = {"a": Tally.from_arrays([0.5] * 200, [0, 1] * 100), "b": Tally.from_arrays([0.5] * 200, [1] * 200)}
    >>> compare_tallies(before, now).alarms()
    ['b']
    """
    map_ = getattr(map_, "map_", map_)
    before, now = _read("reference", reference, map_, classes), _read("current", current, map_, classes)
    watched = before if ALL in before or TOP in before else before | {NEW: Tally.empty()}
    predicted = gather(named_tallies.predict_tallies(now, map_), watched)
    now = gather(now, watched)
    all_before = whole(before)
    changes = {
        name: _compare(before.get(name, all_before), now[name], predicted[name]) for name in watched if name in now
    }
    # A segment without rows has an e-value of 1, and counts among those that were looked at.
    e_values = [changes[name].e_value if name in changes else 1.0 for name in watched]
    weights = weights_of(watched)
    adjusted = adjust_e_values(e_values, weights)
    return TallyComparison(
        whole=_compare(all_before, whole(now), whole(predicted)),
        changes=changes,
        e_values=dict(zip(watched, adjusted.tolist(), strict=True)),
        e_value=float(weights @ e_values),
    )


def _read(name: str, rows: Any, map_: FrozenMap | None, classes: Sequence[Any] | None) -> named_tallies.NamedTallies:
    pair = rows if isinstance(rows, tuple) else (rows,)
    tallies = named_tallies.read_named_tallies(*pair, map_=map_, classes=classes)
    filled = {key: tally for key, tally in tallies.items() if len(tally)}
    if not filled:
        raise InvalidInputError(f"`{name}` must have at least one row; got none.")
    return filled


def _compare(reference: Tally, current: Tally, predicted: Tally) -> TallyChange:
    return TallyChange(
        rows=(reference.total, current.total),
        base_rates=(reference.base_rate, current.base_rate),
        base_rate_change=_difference(reference, current),
        mean_predicted=float(np.average(predicted.scores, weights=predicted.totals)),
        score_shift=_largest_gap(reference, current),
        population_stability_index=_stability_index(reference, current),
        e_value=SequentialTest().updated(predicted).e_value_from_start,
    )


def _difference(reference: Tally, current: Tally) -> Interval:
    totals = np.array([reference.total, current.total]) + 2.0
    rates = (np.array([reference.total_positive, current.total_positive]) + 1.0) / totals
    around = Interval.normal(float(rates[1] - rates[0]), math.sqrt((rates * (1.0 - rates) / totals).sum()), LEVEL)
    value = current.base_rate - reference.base_rate
    return Interval(value, min(around.low, value), max(around.high, value), LEVEL)


def _largest_gap(reference: Tally, current: Tally) -> float:
    grid = np.union1d(reference.scores, current.scores)
    return float(np.abs(_shares_up_to(reference, grid) - _shares_up_to(current, grid)).max())


def _shares_up_to(tally: Tally, grid: Floats) -> Floats:
    sums = np.concatenate(([0.0], np.cumsum(tally.totals)))
    return sums[np.searchsorted(tally.scores, grid, side="right")] / tally.total


def _stability_index(reference: Tally, current: Tally) -> float:
    """Σ (q - p) ln(q / p) over bins of equal reference mass, each bin with half a row more to keep it finite."""
    edges = reference.scores[bins.equal_mass_starts(reference.totals, N_BINS)[1:] - 1]
    n = len(edges) + 1
    p, q = (
        (np.bincount(bins.bin_of(t.scores, edges), t.totals, n) + 0.5) / (t.total + 0.5 * n)
        for t in (reference, current)
    )
    return float(((q - p) * np.log(q / p)).sum())


def _table(changes: dict[Any, TallyChange], e_values: dict[Any, float]) -> list[str]:
    ranked = sorted(changes, key=lambda name: -e_values[name])
    lines = [HEADERS]
    for name in ranked[:MOST_PRINTED]:
        change = changes[name]
        shares = (f"{change.mean_predicted:.4f}", f"{change.base_rates[1]:.4f}")
        lines.append((named_tallies.name_of(name), row_count(change.rows[1]), *shares, e_text(e_values[name])))
    more = [f"… and {len(ranked) - MOST_PRINTED} more"] if len(ranked) > MOST_PRINTED else []
    return [*align(lines), *more]
