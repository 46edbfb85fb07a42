"""Replay a history: what standing still, refits that forget and an adaptive calibrator would have brought."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant import _validation
from calibrant._numerics import links
from calibrant._tables import align, make_frame
from calibrant._typing import ArrayLike, Floats
from calibrant.calibrators import registry
from calibrant.errors import InvalidInputError
from calibrant.intervals import Interval, PlainResult
from calibrant.metrics.samples import RowSample, number_times, read_columns, read_panel
from calibrant.monitoring.adaptive import AdaptiveCalibrator
from calibrant.monitoring.forecast_pool import log_likelihood
from calibrant.tally import Tally, row_count

STATIC, ADAPTIVE = "static", "adaptive"
#: The ways that are compared, and which of the forecasts each of them is: the reference, or the refit so forgetting.
REFITS = {STATIC: 0, "all rows": 1, "forgetting 0.97": 2, "forgetting 0.7": 4}
WAYS = (*REFITS, ADAPTIVE)
HEADERS = ("way", "log-loss", "Brier score", "log-loss − static", "Brier − static")


@dataclass(frozen=True)
class WalkForwardResult(PlainResult):
    """What one way reached on periods that it had not seen.

    Attributes
    ----------
    name : str
        "static", "all rows", "forgetting 0.97", "forgetting 0.7" or "adaptive".
    log_loss, brier_score : Interval
        Mean over rows; the intervals take each period as one draw.
    log_loss_difference, brier_difference : Interval
        Against "static"; negative is better.

    Examples
    --------
    >>> from calibrant import simulate
    >>> from calibrant.monitoring import walk_forward
    >>> data = simulate.from_truth("underconfident", 2000)
    >>> walk_forward(data.scores, data.labels, [row // 250 for row in range(2000)])["static"].log_loss_difference.value
    0.0
    """

    name: str
    log_loss: Interval
    brier_score: Interval
    log_loss_difference: Interval
    brier_difference: Interval


@dataclass(frozen=True, repr=False, eq=False)
class WalkForward:
    """A replayed history; print it, plot it with `calibrant.displays.WalkForwardDisplay`, or look ways up by name.

    Attributes
    ----------
    results : tuple of WalkForwardResult
        One for each way.
    periods : tuple
        The periods that were predicted, in order.
    rows : ndarray of shape (periods,)
        Their numbers of rows.
    log_losses : dict of str to ndarray of shape (periods,)
        Mean log-loss of each way in each period.
    adaptive : AdaptiveCalibrator
        After the last period, ready for the next one.

    Examples
    --------
    >>> from calibrant import simulate
    >>> from calibrant.monitoring import walk_forward
    >>> data = simulate.from_truth("underconfident", 2000)
    >>> walk_forward(data.scores, data.labels, [row // 250 for row in range(2000)])
    WalkForward(7 periods, 1750 rows, delay 0, 5 ways)
    """

    results: tuple[WalkForwardResult, ...]
    periods: tuple[Any, ...]
    rows: Floats
    log_losses: dict[str, Floats]
    adaptive: AdaptiveCalibrator

    def __getitem__(self, name: str) -> WalkForwardResult:
        found = {result.name: result for result in self.results}
        return found[_validation.check_choice("name", name, list(found))]

    def to_frame(self) -> Any:
        """A pandas data frame with a row for each way."""
        return make_frame([result.to_dict() for result in self.results])

    def __repr__(self) -> str:
        periods, rows = len(self.periods), row_count(float(self.rows.sum()))
        return f"WalkForward({periods} periods, {rows} rows, delay {self.adaptive.delay}, {len(self.results)} ways)"

    def __str__(self) -> str:
        span, delay = f"{self.periods[0]} … {self.periods[-1]}", self.adaptive.delay
        late = f"labels known {delay} period{'s' * (delay != 1)} late"
        title = f"{len(self.periods)} periods ({span}), {row_count(float(self.rows.sum()))} rows, {late}"
        table = [HEADERS] + [tuple(str(cell) for cell in vars(result).values()) for result in self.results]
        return "\n".join((title, *align(table), "", self.advice, str(self.adaptive)))

    @property
    def advice(self) -> str:
        """What to do, in a sentence."""
        gain, better = -self[ADAPTIVE].log_loss_difference, self.adaptive.promote()
        if gain.low > 0.0 and better:
            return f"Adapting pays: the log-loss is {gain.value:.4f} lower per row than that of the static map."
        if gain.high < 0.0:
            return "Adapting would have cost more than it brought: keep the map."
        change = f"{-gain.value:.4f} per row" if gain.low > 0.0 else "no more than chance"
        now = ", but the new map is better by its e-value" if better else ": keep the map, and go on watching"
        return f"Over these periods adapting would have changed the log-loss by {change}{now}."


def walk_forward(
    scores: ArrayLike | Mapping[str, Any],
    y: ArrayLike,
    time: ArrayLike,
    *,
    every: str | None = None,
    delay: int = 0,
    n_reference: int = 1,
    reference: Any = None,
    clustered: bool = False,
    level: float = 0.9,
    pos_label: Any = None,
) -> WalkForward:
    """Replay a history: predict each period from the labels that were known before it.

    Parameters
    ----------
    scores : array-like of shape (n,), or dict of columns
        Scores of the rows; a dictionary has several scores of each row by name, as `PanelCalibrator` takes them.
    y : array-like of shape (n,)
        Labels.
    time : array-like of shape (n,)
        The period of each row, such as its month: numbers, dates or text, in whose order periods follow each other.
    every : {"day", "week", "month", "quarter", "year"}, optional
        The length of a period, where `time` has dates; by default each value of `time` is a period.
    delay : int
        How many periods late labels are: those of a period are known before the next one is predicted if 0.
    n_reference : int
        The first periods, to which the map that stands still is fitted; they are not predicted.
    reference : Calibrator, optional
        The method of that map, not fitted; by default Blend, and `PanelCalibrator` for several scores.
    clustered : bool
        Whether rows of a period may share their outcome; see `AdaptiveCalibrator`.
    level : float
        Confidence level of the intervals.
    pos_label : label, optional
        The positive class, where the labels are not bool, {0, 1} or {-1, 1}.

    Returns
    -------
    WalkForward

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.monitoring import walk_forward
    >>> rng = np.random.default_rng(0)
    >>> month = np.repeat(np.arange(12), 400)
    >>> scores = rng.random(4800)
    >>> found = walk_forward(scores, rng.random(4800) < np.where(month < 6, scores, scores**2), month)
    >>> found["adaptive"].log_loss_difference.high < 0
    True
    """
    several, names, pos_label = isinstance(scores, Mapping), ("y", "scores"), _validation.choose_positive(y, pos_label)
    if reference is None:
        reference = registry.create("panel", "panel") if several else registry.create(registry.DEFAULT_METHOD)
    if isinstance(scores, Mapping):
        beside = {"sample_weight": None, "groups": None, "time": None, "space": reference.space}
        rows: RowSample = read_panel(y, scores, pos_label, names=names, **beside)
    else:
        values, positive, weights = read_columns(y, scores, pos_label=pos_label, names=names)
        rows = RowSample(values, positive.astype(np.intp), weights, np.arange(2))
    periods, period_of_row = number_times(time, len(rows.labels), every)
    order = np.argsort(period_of_row, kind="stable")
    rows_of = np.split(order, np.searchsorted(period_of_row[order], np.arange(1, len(periods))))
    first = _validation.check_count("n_reference", n_reference)
    if len(periods) < first + 2:
        raise InvalidInputError(
            f"`time` must have at least two periods after the {first} of the reference; got {len(periods)} in all. "
            "Make shorter periods, or lower `n_reference`."
        )
    parts = [(rows.scores_of(own), rows.labels[own]) for own in (np.concatenate(rows_of[:first]), *rows_of[first:])]
    known = None if several else Tally.from_arrays(*parts[0])  # a panel left each row out
    adaptive = AdaptiveCalibrator(reference.fit(*parts[0]), known, delay=delay, clustered=clustered)
    tallies = [adaptive.tally_of(*part) for part in parts[1:]]
    losses = []
    for number in range(len(tallies) + delay):
        if number < len(tallies):
            losses.append(_losses(adaptive, tallies[number]))
        if number >= delay:  # whose labels are known before the next period is predicted
            adaptive = adaptive.after(tallies[number - delay], periods[first + number - delay])
    sums, totals = np.array(losses), np.array([tally.total for tally in tallies])
    results = _results(sums, totals, _validation.check_level(level))
    log_losses = {name: sums[:, 0, way] / totals for way, name in enumerate(WAYS)}
    return WalkForward(results, tuple(periods[first:]), totals, log_losses, adaptive)


def _losses(adaptive: AdaptiveCalibrator, rows: Tally) -> Floats:
    """Summed log-loss and Brier score of each way, (2, ways)."""
    forecasts = adaptive.forecasts_at(rows.scores)
    ways = links.clip(np.vstack((forecasts[list(REFITS.values())], adaptive.weights @ forecasts)))
    brier = (1.0 - ways) ** 2 @ rows.positives + ways**2 @ rows.negatives
    return np.array((-log_likelihood(ways, rows), brier))


def _results(sums: Floats, rows: Floats, level: float) -> tuple[WalkForwardResult, ...]:
    """The results from sums over the rows of each period, (periods, 2, ways)."""
    columns = np.concatenate((sums, sums - sums[:, :, :1]), axis=1)  # the losses, and less those of the static map
    lowest = (0.0, 0.0, -np.inf, -np.inf)
    results = []
    for way, name in enumerate(WAYS):
        pairs = zip(columns[:, :, way].T, lowest, strict=True)
        results.append(WalkForwardResult(name, *(_mean_by_period(column, rows, level, low) for column, low in pairs)))
    return tuple(results)


def _mean_by_period(sums: Floats, rows: Floats, level: float, lowest: float) -> Interval:
    """Mean over rows, with the error of a ratio of sums over periods: rows of a period may depend on each other."""
    mean, n_periods = float(sums.sum() / rows.sum()), len(rows)
    spread = float(np.sqrt(((sums - mean * rows) ** 2).sum() * n_periods / (n_periods - 1.0)))
    return Interval.normal(mean, spread / float(rows.sum()), level, lowest, degrees=n_periods - 1.0)
