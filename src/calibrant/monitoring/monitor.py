"""Is a deployed calibration still right? Tests that may be looked at every day, and refits without the old rows."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import special
from sklearn.base import clone

from calibrant import _validation
from calibrant._files import AnyPath
from calibrant._numerics import bins, links
from calibrant._typing import ArrayLike, Floats
from calibrant.calibrators.base import Calibrator
from calibrant.errors import InvalidInputError, ModelFileError
from calibrant.maps.files import read_model, write_model
from calibrant.maps.score import CalibrationMap
from calibrant.tally import Tally, to_tally

__all__ = ["CalibrationMonitor", "TallyComparison", "compare_tallies", "update"]

SHIFTS = (-1.6, -0.8, -0.4, -0.2, -0.1, 0.0, 0.1, 0.2, 0.4, 0.8, 1.6)
SLOPES = (0.5, 0.7, 0.85, 1.0, 1.2, 1.45, 2.0)
LOCAL_SHIFTS = (-0.8, -0.3, 0.3, 0.8)
LOCAL_EDGES = np.array([-4.0, -2.0, -1.0, 0.0, 1.0, 2.0, 4.0])  # of the logit
ALTERNATIVES = len(SHIFTS) * len(SLOPES) - 1 + len(LOCAL_SHIFTS) * (len(LOCAL_EDGES) + 1)
FORMAT = "calibrant-monitor"
VERSION = 1


def compare_tallies(reference: Tally, current: Tally, *, map_: CalibrationMap | None = None) -> TallyComparison:
    """Compare current rows with a reference: how far they have moved, and whether their probabilities still hold.

    Parameters
    ----------
    reference : Tally
        Rows at the time of deployment.
    current : Tally
        Unweighted rows since then. When the comparison is repeated, it must be the sum of all of them: only then
        does the test stay valid however often it is looked at. `CalibrationMonitor` keeps such a sum, and notices
        a late change sooner.
    map_ : CalibrationMap, optional
        Turns scores into the probabilities that are tested. Without it the scores are the probabilities.

    Returns
    -------
    TallyComparison

    Examples
    --------
    >>> from calibrant import Tally
    >>> from calibrant.monitoring.monitor import compare_tallies
    >>> reference = Tally.from_arrays([0.1] * 90 + [0.9] * 10, [0] * 81 + [1] * 18 + [0])
    >>> current = Tally.from_arrays([0.1] * 500 + [0.9] * 500, [0] * 250 + [1] * 750)
    >>> result = compare_tallies(reference, current)
    >>> result.p_value < 0.001, round(result.score_shift, 2)
    (True, 0.4)
    """
    for name, tally in {"reference": reference, "current": current}.items():
        if len(tally) == 0:
            raise InvalidInputError(f"`{name}` must have at least one row; the tally is empty.")
    predicted = _probabilities(current, map_)
    evidence = CalibrationMonitor(map_).updated(current)
    return TallyComparison(
        rows=(reference.total, current.total),
        base_rates=(reference.base_rate, current.base_rate),
        base_rate_interval=_difference_interval(reference, current),
        mean_predicted=float(np.average(predicted, weights=current.totals)),
        score_shift=_largest_gap(reference, current),
        population_stability_index=_stability_index(reference, current),
        e_value=evidence.running_e_value,
    )


@dataclass(frozen=True, repr=False)
class TallyComparison:
    """Changes between two tallies.

    Attributes
    ----------
    rows, base_rates : tuple of float
        Of the reference and the current tally.
    base_rate_interval : tuple of float
        95 % interval of the change of the base rate (Agresti and Caffo 2000), for a single look.
    mean_predicted : float
        Mean predicted probability of the current rows, to hold against their base rate.
    score_shift : float
        Largest difference of the two distributions of scores (Kolmogorov and Smirnov).
    population_stability_index : float
        Population stability index over ten bins of equal reference mass.
    e_value : float
        Evidence against the calibration of the current rows: at most 1 on average while it holds.

    Examples
    --------
    >>> from calibrant import simulate
    >>> from calibrant.monitoring.monitor import compare_tallies
    >>> before, after = simulate.from_truth("D1", 2000, rng=1), simulate.from_truth("D1", 2000, rng=2)
    >>> result = compare_tallies(before.tally, after.tally)
    >>> result.rows, result.score_shift < 0.05
    ((2000.0, 2000.0), True)
    >>> result.p_value < 0.05  # the scores of D1 are not calibrated, before or after
    True
    """

    rows: tuple[float, float]
    base_rates: tuple[float, float]
    base_rate_interval: tuple[float, float]
    mean_predicted: float
    score_shift: float
    population_stability_index: float
    e_value: float

    @property
    def p_value(self) -> float:
        """1 / e_value, at most 1: below 0.05 in at most 5 % of all series of looks, however long (Ville 1939)."""
        return min(1.0, 1.0 / self.e_value) if self.e_value > 0 else 1.0

    def __repr__(self) -> str:
        (before, now), (low, high) = self.base_rates, self.base_rate_interval
        return (
            f"Rows: {self.rows[0]:g} in the reference, {self.rows[1]:g} now.\n"
            f"Share of positives: {before:.4f}, now {now:.4f}; 95 % interval of the change [{low:+.4f}, {high:+.4f}].\n"
            f"Mean predicted now: {self.mean_predicted:.4f}.\n"
            f"Shift of the scores: largest gap {self.score_shift:.4f}, population stability index "
            f"{self.population_stability_index:.4f}.\n"
            f"Evidence against the probabilities: {self.e_value:.3g}."
        )


@dataclass(frozen=True, eq=False, repr=False)
class CalibrationMonitor:
    """A running test of calibration: feed it each day's tally, look as often as you like, alarm at 1 / alpha.

    While every row is positive with its predicted probability, each alternative's likelihood ratio is a
    non-negative martingale, and so is their mixture: it ever exceeds 20 with a probability of at most 5 %
    (Ville's inequality). The alternatives are shifts and slopes of the logit, and shifts in one range of it. Each
    of them may begin on any day, with weight 1 / (t (t + 1)) for day t, so that a change after a long good time is
    found almost as fast as an early one. Weights of rows are not allowed: they have no martingale.

    Parameters
    ----------
    map_ : CalibrationMap, optional
        Turns scores into the probabilities that are tested.

    Examples
    --------
    >>> from calibrant import Tally
    >>> from calibrant.monitoring.monitor import CalibrationMonitor
    >>> monitor = CalibrationMonitor()
    >>> for day in range(3):
    ...     monitor = monitor.updated([0.1] * 100, [0] * 60 + [1] * 40)
    >>> monitor.alarm(alpha=0.05), monitor.looks
    (True, 3)
    >>> CalibrationMonitor().updated(Tally.from_arrays([0.5, 0.5], [0, 1]))
    CalibrationMonitor(1 look, evidence 0.936 now, at most 1 so far, of the scores as they are)
    """

    map_: CalibrationMap | None = None
    looks: int = 0
    _from_start: Floats | None = None
    _from_any: Floats | None = None
    largest_e_value: float = 1.0

    def updated(
        self, rows: Tally | ArrayLike, y: ArrayLike | None = None, *, pos_label: Any = None
    ) -> CalibrationMonitor:
        """The monitor after one more look.

        Parameters
        ----------
        rows : Tally, or array-like of shape (n,)
            All new rows, as a tally or by their scores.
        y : array-like of shape (n,), optional
            The labels, where scores are given.
        pos_label : label, optional
            The positive class, where the labels are not bool, {0, 1} or {-1, 1}.

        Returns
        -------
        CalibrationMonitor
        """
        tally = to_tally(rows, y, pos_label=pos_label)
        if len(tally) == 0:
            return self
        if (tally.totals != np.round(tally.totals)).any():
            raise InvalidInputError("`tally` must count whole rows; weighted rows have no valid sequential test.")
        ratios = _log_ratios(_probabilities(tally, self.map_), tally)
        start = np.zeros(len(ratios)) if self._from_start is None else self._from_start
        any_day = np.full(len(ratios), -np.inf) if self._from_any is None else self._from_any
        day = self.looks + 1
        # Shiryaev's recursion with a prior over the day of change: (so far + weight of today) · ratio of today.
        begun = np.logaddexp(any_day, -math.log(day * (day + 1))) + ratios
        new = replace(self, looks=day, _from_start=start + ratios, _from_any=begun)
        return replace(new, largest_e_value=max(self.largest_e_value, new.e_value))

    @property
    def e_value(self) -> float:
        """Evidence now: half for a fault since the first day, half for one that began later."""
        if self._from_start is None or self._from_any is None:
            return 1.0
        not_begun = 1.0 / (self.looks + 1)
        late = _mean_exp(self._from_any) + not_begun
        return 0.5 * self.running_e_value + 0.5 * late

    @property
    def running_e_value(self) -> float:
        """Evidence for a fault since the first day; it depends on the sum of all tallies alone."""
        return 1.0 if self._from_start is None else _mean_exp(self._from_start)

    def __repr__(self) -> str:
        looks = f"{self.looks} look{'s' * (self.looks != 1)}"
        tested = "the scores as they are" if self.map_ is None else self.map_.method
        now, most = self.e_value, self.largest_e_value
        return f"CalibrationMonitor({looks}, evidence {now:.3g} now, at most {most:.3g} so far, of {tested})"

    def save(self, path: AnyPath) -> None:
        """Write the state as JSON, with the map; `CalibrationMonitor.load` reads it."""
        state = {
            "map": None if self.map_ is None else self.map_.to_dict(),
            "looks": self.looks,
            "from_start": None if self._from_start is None else self._from_start.tolist(),
            "from_any": None if self._from_any is None else self._from_any.tolist(),
            "largest_e_value": self.largest_e_value,
        }
        write_model(path, FORMAT, VERSION, state)

    @classmethod
    def load(cls, path: AnyPath) -> CalibrationMonitor:
        """Read a saved monitor; no code from the file is run."""
        state = read_model(path, {FORMAT: VERSION})
        try:
            map_ = None if state["map"] is None else CalibrationMap.from_dict(state["map"])
            start, any_day = (
                None if state[key] is None else np.array(state[key]) for key in ("from_start", "from_any")
            )
            loaded = cls(map_, int(state["looks"]), start, any_day, float(state["largest_e_value"]))
        except (KeyError, TypeError, ValueError) as error:
            raise ModelFileError(f"{path} is not a sound monitor: {error!r}.") from error
        if any(logs is not None and logs.shape != (ALTERNATIVES,) for logs in (start, any_day)):
            raise ModelFileError(f"{path} is of a version with other alternatives; start a new monitor.")
        return loaded

    def alarm(self, alpha: float = 0.05) -> bool:
        """Whether the evidence has ever reached 1 / alpha."""
        if not 0.0 < alpha < 1.0:
            raise InvalidInputError(f"`alpha` must lie between 0 and 1; got {alpha!r}.")
        return self.largest_e_value >= 1.0 / alpha


def update(
    calibrator: Calibrator, old: Tally, new: Tally, *, forgetting: float = 1.0, max_cells: int | None = 4096
) -> tuple[Any, Tally]:
    """Fit again to old and new rows without having the old rows.

    Parameters
    ----------
    calibrator : Calibrator
        The method; it is copied, not changed.
    old, new : Tally
        What was counted before, and what came since.
    forgetting : float
        What an old row counts now, above 0 and at most 1. With one update a day, 0.97 halves a row's weight in
        about three weeks.
    max_cells : int, optional
        Bound on the cells of the sum.

    Returns
    -------
    calibrator : Calibrator
        Fitted to the sum.
    tally : Tally
        The sum, to be the `old` of the next update.

    Examples
    --------
    >>> from calibrant import IsotonicCalibration, Tally
    >>> from calibrant.monitoring.monitor import update
    >>> old, new = Tally.from_arrays([1, 2], [0, 1]), Tally.from_arrays([1, 2], [1, 1])
    >>> calibrator, tally = update(IsotonicCalibration(target_correction=False), old, new, forgetting=0.5)
    >>> tally.totals.tolist(), calibrator.predict([1]).round(3).tolist()
    ([1.5, 1.5], [0.667])
    """
    if not 0.0 < forgetting <= 1.0:
        raise InvalidInputError(f"`forgetting` must lie above 0 and be at most 1; got {forgetting!r}.")
    total = old.scaled(forgetting) + new
    if max_cells is not None:
        total = total.coarsen(max_cells)
    return clone(calibrator).fit_tally(total), total


def _probabilities(tally: Tally, map_: CalibrationMap | None) -> Floats:
    if map_ is not None:
        return map_(tally.scores)
    _validation.check_unit_interval(tally.scores, "scores", "A test of calibration")
    return tally.scores


def _log_ratios(predicted: Floats, tally: Tally) -> Floats:
    """Log likelihood ratio of each alternative to the predicted probabilities, for all rows of a tally."""
    z = links.logit(predicted)
    lines = [a + b * z for a in SHIFTS for b in SLOPES if (a, b) != (0.0, 1.0)]
    place = np.searchsorted(LOCAL_EDGES, z)
    local = [z + a * (place == i) for a in LOCAL_SHIFTS for i in range(len(LOCAL_EDGES) + 1)]
    other = np.array(lines + local)
    positive = special.log_expit(other) - special.log_expit(z)
    negative = special.log_expit(-other) - special.log_expit(-z)
    out: Floats = positive @ tally.positives + negative @ tally.negatives
    return out


def _mean_exp(logs: Floats) -> float:
    # Evidence beyond any use need not overflow.
    return float(np.exp(min(special.logsumexp(logs) - math.log(len(logs)), 700.0)))


def _difference_interval(reference: Tally, current: Tally) -> tuple[float, float]:
    totals = np.array([reference.total, current.total]) + 2.0
    rates = (np.array([reference.total_positive, current.total_positive]) + 1.0) / totals
    middle, half = float(rates[1] - rates[0]), 1.959964 * math.sqrt((rates * (1.0 - rates) / totals).sum())
    return middle - half, middle + half


def _largest_gap(reference: Tally, current: Tally) -> float:
    grid = np.union1d(reference.scores, current.scores)
    return float(np.abs(_shares_up_to(reference, grid) - _shares_up_to(current, grid)).max())


def _shares_up_to(tally: Tally, grid: Floats) -> Floats:
    sums = np.concatenate(([0.0], np.cumsum(tally.totals)))
    return sums[np.searchsorted(tally.scores, grid, side="right")] / tally.total


def _stability_index(reference: Tally, current: Tally, n_bins: int = 10) -> float:
    """Σ (q - p) ln(q / p) over bins of equal reference mass, each bin with half a row more to keep it finite."""
    edges = reference.scores[bins.equal_mass_starts(reference.totals, n_bins)[1:] - 1]
    n = len(edges) + 1
    p, q = (
        (np.bincount(bins.bin_of(t.scores, edges), t.totals, n) + 0.5) / (t.total + 0.5 * n)
        for t in (reference, current)
    )
    return float(((q - p) * np.log(q / p)).sum())
