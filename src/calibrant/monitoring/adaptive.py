"""A calibration that follows a changing world: refits that forget at several rates, pooled with the reference map."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from calibrant import _validation
from calibrant._files import AnyPath
from calibrant._numerics import links
from calibrant._numerics.piecewise import interpolate
from calibrant._tables import make_frame
from calibrant._typing import ArrayLike, Floats
from calibrant.calibrators import registry
from calibrant.calibrators.base import quantile_ends
from calibrant.errors import InvalidInputError, ModelFileError
from calibrant.estimates.rows import labelled_rows
from calibrant.maps.base import ends_like
from calibrant.maps.files import read_model, reading, write_model
from calibrant.maps.functions import Chain, Identity, MapFunction
from calibrant.maps.score import CalibrationMap
from calibrant.maps.tabulate import tabulate_mixture
from calibrant.monitoring.e_values import deviation_of, warn_if_together
from calibrant.monitoring.forecast_pool import SHARE, ForecastPool, log_likelihood
from calibrant.tally import Tally, row_count, to_tally

KIND = "adaptive"
FORGETTING = (1.0, 0.97, 0.9, 0.7, 0.3)  # what a row counts a period later, in each refit
CELLS = 128  # of a tally that is kept: a smooth curve is decided by fewer, and the file stays below 100 kB
MOST_PERIODS = 400  # of the history that is kept
INTERVAL_DRAWS = 1000
# Intervals allow for change to come: that of the last periods, beyond what chance and posteriors explain of residuals.
CHANGE_PERIODS, EXPLAINED, LEAST_PERIODS = 12, 1.25, 2
NORMAL_MEDIAN = 0.6745  # of the absolute value of a standard normal variable


class Period(NamedTuple):
    """What one period brought.

    Attributes
    ----------
    period : str or number
        Its name.
    rows : float
        Number of rows.
    observed : float
        Share of positives.
    reference, adaptive : float
        Mean probability by the reference map, and by the adaptive calibrator before it had seen the period.
    deviation : float
        Standard deviation of the number of positives, if rows are independent.
    log_loss : float
        Mean log-loss of what the adaptive calibrator forecast.
    log_e_value : float
        Log of the e-value against the reference map after the period.

    Examples
    --------
    >>> from calibrant.monitoring.adaptive import Period
    >>> Period("2026-01", 500.0, 0.2, 0.1, 0.15, 3.1, 0.5, 2.0).observed
    0.2
    """

    period: Any
    rows: float
    observed: float
    reference: float
    adaptive: float
    deviation: float
    log_loss: float
    log_e_value: float

    @property
    def residual(self) -> float:
        """Positives less the number that the adaptive calibrator expected, in standard deviations."""
        return self.rows * (self.observed - self.adaptive) / self.deviation


@dataclass(frozen=True, eq=False, repr=False)
class AdaptiveCalibrator:
    """A calibration that follows a changing world, and stays at the reference map while nothing changes.

    Feed it the labels of each period as they arrive. Five refits of a method, which forget old rows at different
    rates, forecast every period before its labels are seen; they are pooled by the likelihood of what they forecast,
    and the pool is mixed with the reference map, which keeps half of the prior weight. It is immutable: `updated`
    gives a new one.

    Parameters
    ----------
    reference : CalibrationMap, or fitted calibrator of one score
        The map in use.
    rows : Tally, optional
        The rows to which the reference was fitted; by default what a Bayesian calibrator remembers of them. Without
        them, or if scores are not probabilities, refits take what the reference makes of a score.
    method : str
        The method of the refits.
    delay : int
        How many periods late labels are: those of a period are known before the next one is predicted if 0.
    clustered : bool
        Whether rows of a period may share their outcome; the e-value then takes each period as one piece of evidence.

    Attributes
    ----------
    history : tuple of Period
        The last 400 periods; `to_frame` gives them as a table.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant import Blend
    >>> from calibrant.monitoring import AdaptiveCalibrator
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.random(2000)
    >>> adaptive = AdaptiveCalibrator(Blend().fit(scores, rng.random(2000) < scores))
    >>> for month in range(6):  # a score of 0.5 has come to mean 0.25
    ...     scores = rng.random(300)
    ...     adaptive = adaptive.updated(scores, rng.random(300) < scores**2, month)
    >>> adaptive.promote(alpha=0.05), bool(adaptive.predict([0.5])[0] < 0.35)
    (True, True)
    """

    reference: Any
    rows: Tally | None = None
    method: str = "spline"
    delay: int = field(default=0, kw_only=True)
    clustered: bool = field(default=False, kw_only=True)
    history: tuple[Period, ...] = field(default=(), kw_only=True)
    _pool: ForecastPool = field(default=ForecastPool.start(len(FORGETTING)), kw_only=True)
    _tallies: tuple[Tally, ...] = field(default=(), kw_only=True)
    _behind: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        if self._tallies:
            return
        _validation.check_count("delay", self.delay, least=0)
        map_ = getattr(self.reference, "map_", self.reference)
        if not isinstance(map_, CalibrationMap):
            raise InvalidInputError(
                f"`reference` must be a map or a fitted calibrator of one score; got {map_!r}. "
                "Of several classes or segments, adapt each; of several scores, Identity over their probability."
            )
        registry.get(self.method)
        remembered = labelled_rows(self.reference)
        rows = remembered.cells if self.rows is None and remembered is not None else self.rows
        behind = rows is None or map_.space != "probability"
        start = Tally.empty() if rows is None else _behind(map_, rows) if behind else rows
        facts = {"reference": map_, "rows": None, "_behind": behind}
        for name, value in (facts | {"_tallies": (start.coarsen(CELLS),) * (len(FORGETTING) + 1)}).items():
            object.__setattr__(self, name, value)

    def updated(
        self, rows: ArrayLike | Tally, y: ArrayLike | None = None, period: Any = None, *, pos_label: Any = None
    ) -> AdaptiveCalibrator:
        """The calibrator after the labels of one more period; periods come in order, each in one call.

        Parameters
        ----------
        rows : array-like of shape (n,), or Tally
            Scores of the period, or a tally of scores and labels.
        y : array-like of shape (n,), optional
            The labels, where scores are given.
        period : str or number, optional
            Its name in the history; by default its number.
        pos_label : label, optional
            The positive class, where the labels are not bool, {0, 1} or {-1, 1}.

        Returns
        -------
        AdaptiveCalibrator
        """
        tally = to_tally(rows, y, pos_label=pos_label)
        if len(tally) == 0:
            return self
        if (tally.totals != np.round(tally.totals)).any():
            raise InvalidInputError("`rows` must count whole rows; weighted rows have no valid e-value.")
        if period is not None and any(one.period == _validation.plain(period) for one in self.history):
            raise InvalidInputError(
                f"`period` must be new, since rows that are counted twice look like evidence; got {period!r} again."
            )
        forecasts = self.forecasts(tally.scores)
        base = forecasts[0]
        pool = self._pool.updated(forecasts[1:], base, tally, delay=self.delay, clustered=self.clustered)
        mixed = self.weights @ forecasts
        now = Period(
            period=self._pool.periods + 1 if period is None else _validation.plain(period),
            rows=tally.total,
            observed=tally.base_rate,
            reference=float(np.average(base, weights=tally.totals)),
            adaptive=float(np.average(mixed, weights=tally.totals)),
            deviation=deviation_of(mixed, tally),
            log_loss=-float(log_likelihood(links.clip(mixed), tally)) / tally.total,
            log_e_value=pool.log_e_value,
        )
        history = (*self.history, now)[-MOST_PERIODS:]
        if not self.clustered:
            residuals = [one.residual for one in history]
            warn_if_together(residuals[:-1], residuals)
        new = _behind(self.reference, tally) if self._behind else tally
        forgetful = zip(self._tallies, FORGETTING, strict=False)
        kept = [*(old.scaled(factor) + new for old, factor in forgetful), new]  # the last one knows this period alone
        return replace(self, history=history, _pool=pool, _tallies=tuple(one.coarsen(CELLS) for one in kept))

    @cached_property
    def _members(self) -> tuple[Any, ...]:
        """The refits; None where there are not yet rows of both classes, and the reference stands in."""
        if not self.history:  # all tallies are one
            return (self._refit(self._tallies[0]),) * len(FORGETTING)
        return tuple(map(self._refit, self._tallies[:-1]))

    def _refit(self, tally: Tally) -> Any:
        both = 0.0 < tally.total_positive < tally.total
        return registry.create(self.method).fit_tally(tally) if both else None

    @property
    def weights(self) -> Floats:
        """Weights of the reference and of the refits, in the order of `FORGETTING`, for the coming period."""
        share = self._pool.share
        return np.append(1.0 - share, share * self._pool.weights)

    def forecasts(self, scores: ArrayLike) -> Floats:
        """What the reference and each refit forecast, (1 + refits, n)."""
        array = self.reference.check_scores(scores)
        base = self.reference.function(array)
        inputs = base if self._behind else array
        return np.array([base, *(base if refit is None else refit.map_.function(inputs) for refit in self._members)])

    @cached_property
    def map_(self) -> CalibrationMap:
        """The map for the coming period: the weighted mean of reference and refits, tabulated; it can be saved."""
        first: MapFunction = Identity() if self._behind else self.reference.function
        functions = [first, *(first if refit is None else refit.map_.function for refit in self._members)]
        table: MapFunction = tabulate_mixture(self.weights, functions)
        return CalibrationMap(
            Chain((self.reference.function, table)) if self._behind else table,
            space=self.reference.space,
            method=type(self).__name__,
            fitted_range=self.reference.fitted_range,
        )

    def predict(self, scores: ArrayLike) -> Floats:
        """Calibrated probabilities for the coming period, (n,)."""
        return self.map_.predict(scores)

    @cached_property
    def _draws(self) -> Floats:
        """Draws of the map of the coming period at the scores of the refit on all rows, for intervals.

        They are from the posterior of each refit, by its weight (the reference has that of the refit on all rows), and
        from that of a refit to the last period alone, by the probability that the world changed with it; moved by as
        much as periods have lately moved.
        """
        if not all(hasattr(refit, "sample_maps") for refit in self._members):
            raise InvalidInputError(
                "Intervals and draws need refits by a Bayesian method, such as 'spline', with rows of both classes; "
                f"got {self.method!r} after {len(self.history)} periods. Choose another method, or add rows."
            )
        weights, nodes, rng = self.weights[1:], self._tallies[0].scores, _validation.generator(0)
        weights[0] += self.weights[0]
        anew = self._refit(self._tallies[-1])
        changed = 0.0 if anew is None or not self.history else self._probability_of_change(anew)
        counts = rng.multinomial(INTERVAL_DRAWS, np.append((1.0 - changed) * weights, changed)).tolist()
        refits = zip((*self._members, anew), counts, strict=True)
        drawn = [refit.sample_maps(nodes, n, rng) for refit, n in refits if n]
        return links.expit(links.logit(np.concatenate(drawn)) + self._change * rng.standard_normal((INTERVAL_DRAWS, 1)))

    def _probability_of_change(self, anew: Any) -> float:
        """The posterior probability that the last period began something new, from how well it forecasts itself.

        A refit to the period alone, each row left out in turn, stands against what was forecast before; a change has
        the prior probability that the pool gives to it, and the evidence counts at the pool's rate.
        """
        last = self.history[-1]
        evidence = last.rows * (last.log_loss - anew.left_out_log_loss())
        return float(special.expit(special.logit(SHARE) + self._pool.rate_of(last.rows, self.delay) * evidence))

    @property
    def _change(self) -> float:
        """By how much logits lately moved from forecast to outcome; a median, so that one jump is none."""
        last = self.history[-CHANGE_PERIODS:]
        if len(last) < LEAST_PERIODS:
            return 0.0
        scale = float(np.median([abs(one.residual) for one in last])) / NORMAL_MEDIAN
        steps = 1.0 + self.delay  # since the labels that are known
        return math.sqrt(steps * max(scale**2 - EXPLAINED, 0.0)) / float(np.median([one.deviation for one in last]))

    def predict_interval(self, scores: ArrayLike, level: float = 0.9) -> tuple[Floats, Floats]:
        """Lower and upper ends of the interval of each probability in the coming period.

        Quantiles of the mixture of the refits' posteriors at up to 128 scores, joined by lines.
        """
        array = self.reference.check_scores(scores)
        inputs, predicted = self.reference.function(array) if self._behind else array, self.map_(array)
        ends = quantile_ends(_validation.check_level(level), self._draws, self._draws)
        low, high = (interpolate(inputs, self._tallies[0].scores, end) for end in ends)
        return ends_like(scores, (np.minimum(low, predicted), np.maximum(high, predicted)))

    def correction(self, scores: ArrayLike) -> Floats:
        """How far the map for the coming period is from the reference at each score; `history` has it over time."""
        return self.map_(scores) - self.reference(scores)

    @property
    def log_e_value(self) -> float:
        """Log of the e-value against the reference map; never below −ln 2."""
        return self._pool.log_e_value

    def promote(self, alpha: float = 0.05) -> bool:
        """Whether a better map than the reference is available: whether the e-value has ever reached 1 / alpha.

        While every row is positive with the probability that the reference gives it, the chance that this is ever true
        is at most `alpha`. It says that `map_` is better, not why: the world may have changed, or the reference may
        have been fitted to few rows.
        """
        return self._pool.largest_log_e_value >= -math.log(_validation.check_number("alpha", alpha, "rate"))

    def to_frame(self) -> Any:
        """The history as a pandas data frame, a row for each period."""
        return make_frame([one._asdict() | {"residual": one.residual} for one in self.history])

    def __repr__(self) -> str:
        rows = row_count(sum(period.rows for period in self.history))
        return (
            f"AdaptiveCalibrator({self._pool.periods} periods, {rows} rows, "
            f"ln e-value {self.log_e_value:.3g}, reference weight {self.weights[0]:.2g})"
        )

    def __str__(self) -> str:
        after = f"After {self._pool.periods} period{'s' * (self._pool.periods != 1)}"
        largest = self._pool.largest_log_e_value / math.log(10.0)
        if self.promote():
            return f"{after} a better map is available: the e-value for it has reached 10 to the {largest:.1f}."
        return f"{after} keep the reference map: the largest e-value against it is {10.0**largest:.3g}, less than 20."

    def save(self, path: AnyPath) -> None:
        """Write the state as JSON of less than 100 kB with a checksum; `load` goes on where it was."""
        content = {
            "kind": KIND,
            "map": self.reference.to_dict(),
            "method": self.method,
            "delay": self.delay,
            "clustered": self.clustered,
            "behind": self._behind,
            "history": [list(period) for period in self.history],
            "pool": self._pool.to_dict(),
            "tallies": [tally.to_dict() for tally in self._tallies],
        }
        write_model(path, content)

    @classmethod
    def load(cls, path: AnyPath) -> AdaptiveCalibrator:
        """Read what `save` wrote."""
        document = read_model(path)
        if document["kind"] != KIND:
            raise ModelFileError(f"{path} holds no adaptive calibrator; it is of the kind {document['kind']!r}.")
        with reading(path):
            pool, tallies = ForecastPool.from_dict(document["pool"]), tuple(map(Tally.from_dict, document["tallies"]))
            if not len(pool.weights) == len(tallies) - 1 == len(FORGETTING):
                raise ModelFileError("This adaptive calibrator is of a version with other refits; start a new one.")
            return cls(
                reference=CalibrationMap.from_dict(document["map"]),
                method=document["method"],
                delay=int(document["delay"]),
                clustered=bool(document["clustered"]),
                history=tuple(Period(*period) for period in document["history"]),
                _pool=pool,
                _tallies=tallies,
                _behind=bool(document["behind"]),
            )


def _behind(map_: CalibrationMap, rows: Tally) -> Tally:
    """The rows with what the map makes of their scores."""
    return rows.rescored(map_(rows.scores))
