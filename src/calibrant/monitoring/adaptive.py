"""A calibration that follows a changing world: refits that forget at several rates, pooled with the reference map."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from calibrant import _validation
from calibrant._files import AnyPath
from calibrant._numerics import links
from calibrant._tables import make_frame
from calibrant._typing import ArrayLike, Floats
from calibrant.calibrators import registry
from calibrant.errors import InvalidInputError, ModelFileError
from calibrant.estimates.rows import labelled_rows
from calibrant.maps.base import FrozenMap, ends_like
from calibrant.maps.files import plain_fields, reading_kind, write_model
from calibrant.maps.functions import Chain, Identity, MapFunction
from calibrant.maps.loading import KINDS
from calibrant.maps.matrix import MatrixMap
from calibrant.maps.score import CalibrationMap
from calibrant.maps.segments import SegmentedMap
from calibrant.maps.tabulate import tabulate_mixture
from calibrant.monitoring.e_values import deviation_of, warn_if_together
from calibrant.monitoring.forecast_pool import ForecastPool, log_likelihood
from calibrant.monitoring.named_tallies import predict_tallies, read_named_tallies, whole
from calibrant.tally import Tally

KIND = "adaptive calibrator"
FORGETTING = (1.0, 0.97, 0.9, 0.7, 0.3)  # what a row counts a period later, in each refit
CELLS = 128  # of a tally that is kept: a smooth curve is decided by fewer, and the file stays below 100 kB
MOST_PERIODS = 400  # of the history that is kept
INTERVAL_DRAWS = 1000
LAST_PERIODS = 12  # whose residuals say how far periods lately lay off their forecasts
OFF = np.array([0.0] * 5 + [0.2] * 3 + [1.0, 1.0, 3.0])  # by how many logits, equally likely: often not at all
LASTING = np.array([0.9] * 9 + [0.0] * 2)  # what of it is left a period later: nothing, where rows share an outcome
JUMP = 0.05  # probability that a period is off by a jump of about a logit, which says nothing of the next ones


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

    Feed it the labels of each period as they arrive. Five refits of a method to what the reference makes of scores,
    which forget old rows at different rates, forecast every period before its labels are seen; they are pooled by the
    likelihood of what they forecast, and the pool is mixed with the reference map, which keeps half of the prior
    weight. It is immutable: `updated` gives a new one.

    Of several scores, or of a score and a segment, the reference makes one probability, and refits correct that.

    Parameters
    ----------
    reference : CalibrationMap, PanelMap, SegmentedMap, or fitted calibrator with such a map
        The map in use.
    rows : Tally, or mapping of segment to Tally, optional
        The rows to which the reference was fitted, as `updated` takes them; by default what a Bayesian calibrator
        remembers of them, and a panel of rows that it left out. Without them refits begin with the first period.
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

    def __post_init__(self) -> None:
        if self._tallies:
            return
        _validation.check_count("delay", self.delay, least=0)
        map_ = getattr(self.reference, "map_", self.reference)
        if not isinstance(map_, FrozenMap) or isinstance(map_, MatrixMap):
            raise InvalidInputError(
                f"`reference` must be a map or a fitted calibrator of one probability for each row; got {map_!r}. "
                "Of several classes, adapt each against the rest."
            )
        registry.get(self.method)
        left_out, known = getattr(self.reference, "left_out_", None), labelled_rows(self.reference)
        object.__setattr__(self, "reference", map_)
        if self.rows is not None or left_out is None:
            cells = Tally.empty() if known is None else known.cells
            left_out = self.tally_of(cells if self.rows is None else self.rows)
        object.__setattr__(self, "rows", None)
        object.__setattr__(self, "_tallies", (left_out.coarsen(CELLS),) * (len(FORGETTING) + 1))

    def updated(
        self, rows: Any, y: ArrayLike | None = None, period: Any = None, *, segment: Any = None, pos_label: Any = None
    ) -> AdaptiveCalibrator:
        """The calibrator after the labels of one more period; periods come in order, each in one call.

        Parameters
        ----------
        rows : array-like of shape (n,), table of several scores, Tally, or mapping of segment to Tally
            Scores of the period, or a tally of scores and labels; of several scores, of the reference's probability.
        y : array-like of shape (n,), optional
            The labels, where scores are given.
        period : str or number, optional
            Its name in the history; by default its number.
        segment : array-like or table, optional
            The segment of each row, where the reference knows segments.
        pos_label : label, optional
            The positive class, where the labels are not bool, {0, 1} or {-1, 1}.

        Returns
        -------
        AdaptiveCalibrator
        """
        return self.after(self.tally_of(rows, y, segment=segment, pos_label=pos_label), period)

    def tally_of(self, rows: Any, y: ArrayLike | None = None, *, segment: Any = None, pos_label: Any = None) -> Tally:
        """The tally of what the reference makes of rows: all that is learned from, whatever the shape of scores."""
        tallies = read_named_tallies(rows, y, map_=self.reference, segment=segment, pos_label=pos_label)
        return whole(predict_tallies(tallies, self.reference))

    def after(self, tally: Tally, period: Any = None) -> AdaptiveCalibrator:
        """The same as `updated`, of a tally of what the reference makes of the rows."""
        if len(tally) == 0:
            return self
        if period is not None and any(one.period == _validation.plain(period) for one in self.history):
            raise InvalidInputError(
                f"`period` must be new, since rows that are counted twice look like evidence; got {period!r} again."
            )
        forecasts = self.forecasts_at(tally.scores)
        pool = self._pool.updated(forecasts, tally, delay=self.delay, clustered=self.clustered)
        mixed = self.weights @ forecasts
        now = Period(
            period=self._pool.periods + 1 if period is None else _validation.plain(period),
            rows=tally.total,
            observed=tally.base_rate,
            reference=float(np.average(forecasts[0], weights=tally.totals)),
            adaptive=float(np.average(mixed, weights=tally.totals)),
            deviation=deviation_of(mixed, tally),
            log_loss=-float(log_likelihood(links.clip(mixed), tally)) / tally.total,
            log_e_value=pool.log_e_value,
        )
        history = (*self.history, now)[-MOST_PERIODS:]
        if not self.clustered:
            warn_if_together([one.residual for one in history])
        forgetful = [old.scaled(factor) + tally for old, factor in zip(self._tallies, FORGETTING, strict=False)]
        tallies = tuple(one.coarsen(CELLS) for one in (*forgetful, tally))  # the last one knows this period alone
        return replace(self, history=history, _pool=pool, _tallies=tallies)

    @cached_property
    def _members(self) -> tuple[Any, ...]:
        """The refits; None where there are not yet rows of both classes, and the reference stands in."""
        return tuple(map(self._refit, self._tallies[:-1]))

    def _refit(self, tally: Tally) -> Any:
        return registry.create(self.method).fit_tally(tally) if 0.0 < tally.total_positive < tally.total else None

    @property
    def weights(self) -> Floats:
        """Weights of the reference and of the refits, in the order of `FORGETTING`, for the coming period."""
        share = self._pool.share
        return np.append(1.0 - share, share * self._pool.weights)

    def forecasts(self, scores: Any, segment: Any = None) -> Floats:
        """What the reference and each refit forecast, (1 + refits, n)."""
        return self.forecasts_at(self._said(scores, segment))

    def forecasts_at(self, base: Floats) -> Floats:
        """The same where the reference says `base`."""
        return np.array([function(base) for function in self._functions])

    def _said(self, scores: Any, segment: Any) -> Floats:
        """What the reference makes of rows, (n,)."""
        if segment is not None and not isinstance(self.reference, SegmentedMap):
            raise InvalidInputError("`segment` is for a reference with segments; a panel has it among its columns.")
        beside = () if segment is None else (segment,)
        return np.atleast_1d(self.reference(scores, *beside))

    @property
    def _functions(self) -> list[MapFunction]:
        """From what the reference makes of a score to what it and each refit forecast."""
        return [Identity(), *(Identity() if refit is None else refit.map_.function for refit in self._members)]

    @cached_property
    def _follower(self) -> MapFunction:
        """From what the reference says to the weighted mean of reference and refits, tabulated."""
        return tabulate_mixture(self.weights, self._functions)

    @property
    def map_(self) -> CalibrationMap:
        """The map for the coming period: the weighted mean of reference and refits; it can be saved."""
        if not isinstance(self.reference, CalibrationMap):
            raise InvalidInputError(
                f"`map_` is for a reference of one score; of a {type(self.reference).__name__}, predict with the "
                "adaptive calibrator itself, which `save` keeps."
            )
        return CalibrationMap(
            Chain((self.reference.function, self._follower)),
            space=self.reference.space,
            method=type(self).__name__,
            fitted_range=self.reference.fitted_range,
        )

    def predict(self, scores: Any, segment: Any = None) -> Any:
        """Calibrated probabilities for the coming period, (n,); of a single score, a number."""
        return _validation.like(scores, self._follower(self._said(scores, segment)))

    def correction(self, scores: Any, segment: Any = None) -> Any:
        """How far forecasts for the coming period are from the reference's; `history` has it over time."""
        base = self._said(scores, segment)
        return _validation.like(scores, self._follower(base) - base)

    @cached_property
    def _draws(self) -> Floats:
        """Draws of the logit of the coming period, where the rows of the refit on all rows lie, for intervals.

        They are from the posterior of each refit, by its weight (the reference has that of the refit on all rows), and
        from that of a refit to the last period alone, by the probability that the world changed with it; moved as
        periods have lately moved from their forecasts.
        """
        if not all(hasattr(refit, "sample_maps") for refit in self._members):
            raise InvalidInputError(
                "Intervals and draws need refits by a Bayesian method, such as 'spline', with rows of both classes; "
                f"got {self.method!r} after {len(self.history)} periods. Choose another method, or add rows."
            )
        nodes, rng, anew = self._tallies[0].scores, _validation.generator(0), self._refit(self._tallies[-1])
        changed = self._pool.probability_of_change(self.history[-1], anew, self.delay) if self.history and anew else 0.0
        counts = rng.multinomial(INTERVAL_DRAWS, np.append((1.0 - changed) * self.weights, changed)).tolist()
        refits = zip((self._members[0], *self._members, anew), counts, strict=True)
        drawn = np.concatenate([refit.sample_maps(nodes, n, rng) for refit, n in refits if n])
        return links.logit(drawn) + (self._moves(rng)[:, None] if self.history else 0.0)

    def _moves(self, rng: np.random.Generator) -> Floats:
        """Draws of how far the logits of the coming period lie off their forecast.

        For each standard deviation in `OFF`, a filter of an autoregression that the last residuals show, unless they
        show a jump; they are weighed by their likelihoods. Where labels are late, what moves goes on, or turns back,
        in the periods between.
        """
        mean, variance, logs = np.zeros(len(OFF)), OFF**2, np.zeros(len(OFF))
        for one in self.history[-LAST_PERIODS:]:
            total, missed = 1.0 + one.deviation**2 * variance, one.residual - one.deviation * mean
            usual = np.exp(-0.5 * missed**2 / total) / np.sqrt(total)
            either = usual + JUMP / math.hypot(1.0, one.deviation)
            logs, gain = logs + np.log(either), usual / either * one.deviation * variance / total
            mean = LASTING * (mean + gain * missed)
            variance = OFF**2 - LASTING**2 * (OFF**2 - variance + gain * one.deviation * variance)
        which = rng.choice(len(OFF), INTERVAL_DRAWS, p=links.softmax(logs[None])[0])
        return rng.normal(mean[which], np.hypot(np.sqrt(variance), self.delay * mean)[which])

    def predict_interval(self, scores: Any, level: float = 0.9, *, segment: Any = None) -> tuple[Floats, Floats]:
        """Lower and upper ends of the interval of each probability in the coming period.

        Quantiles of the mixture of the refits' posteriors at up to 128 scores, joined by lines.
        """
        base, nodes = self._said(scores, segment), self._tallies[0].scores
        predicted, tail = self._follower(base), 0.5 * (1.0 - _validation.check_level(level))
        ends = links.expit(np.quantile(self._draws, (tail, 1.0 - tail), axis=0))
        low, high = (np.interp(base, nodes, end) for end in ends)
        return ends_like(scores, (np.minimum(low, predicted), np.maximum(high, predicted)))

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

    def promoted_since(self, alpha: float = 0.05) -> Any:
        """The period with whose labels the e-value first reached 1 / alpha; None if that is not in the history."""
        least = -math.log(_validation.check_number("alpha", alpha, "rate"))
        first = next((number for number, one in enumerate(self.history) if one.log_e_value >= least), None)
        forgotten = self._pool.periods > len(self.history)  # then what stands first may have come after the first
        return None if first is None or (first == 0 and forgotten) else self.history[first].period

    def to_frame(self) -> Any:
        """The history as a pandas data frame, a row for each period."""
        return make_frame([one._asdict() | {"residual": one.residual} for one in self.history])

    def __repr__(self) -> str:
        evidence = f"ln e-value {self.log_e_value:.3g}, reference weight {self.weights[0]:.2g}"
        return f"AdaptiveCalibrator({self._pool.periods} periods, {evidence})"

    def __str__(self) -> str:
        after = f"After {self._pool.periods} period{'s' * (self._pool.periods != 1)}"
        largest = self._pool.largest_log_e_value / math.log(10.0)
        if self.promote():
            since = self.promoted_since()
            by = f"it had reached 20 by period {self.history[0].period}, the first one kept"
            ago = by if since is None else f"it first reached 20 with the labels of period {since}"
            return f"{after} a better map is available: the e-value for it has reached 10 to the {largest:.1f}; {ago}."
        return f"{after} keep the reference map: the largest e-value against it is {10.0**largest:.3g}, less than 20."

    def save(self, path: AnyPath) -> None:
        """Write the state as JSON of less than 100 kB with a checksum; `load` goes on where it was."""
        write_model(path, {"kind": KIND, "map_kind": self.reference.kind, **plain_fields(self, "rows")})

    @classmethod
    def load(cls, path: AnyPath) -> AdaptiveCalibrator:
        """Read what `save` wrote."""
        with reading_kind(path, KIND) as document:
            pool, tallies = ForecastPool.from_dict(document["_pool"]), map(Tally.from_dict, document["_tallies"])
            if len(pool.weights) != len(FORGETTING):
                raise ModelFileError("This adaptive calibrator is of a version with other refits; start a new one.")
            return cls(
                reference=KINDS[document.get("map_kind", "score")].from_dict(document["reference"]),
                history=tuple(Period(*period) for period in document["history"]),
                _pool=pool,
                _tallies=tuple(tallies),
                **{name: document[name] for name in ("method", "delay", "clustered")},
            )
