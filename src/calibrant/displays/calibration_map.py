"""The fitted map of a calibrator, with its credible band, over the data."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np

from calibrant import _validation
from calibrant._typing import ArrayLike, Floats
from calibrant.displays import axes
from calibrant.errors import InvalidInputError, NotFittedError
from calibrant.maps.score import CalibrationMap
from calibrant.reliability import result
from calibrant.tally import Tally, to_tally

MOST_KNOTS = 2000  # a curve with more corners than this looks the same without them


@dataclass(eq=False, repr=False)
class CalibrationMapDisplay:
    """A calibration map: the probability that it gives to each score.

    Make one with `from_calibrator`, which draws at once.

    Parameters
    ----------
    curve : structured ndarray
        `score`, `probability` and, where there is a credible band, `low` and `high`.
    points : structured ndarray, optional
        Binned fractions of the data, as of `calibrant.reliability.binned_points`.
    scores : structured ndarray, optional
        The histogram of the data, as of `calibrant.reliability.histogram`.
    space : {"probability", "decision"}
        Whether scores are probabilities; then the identity is drawn.
    level : float
        Of the band and the intervals.
    name : str, optional
        Of the map, for the legend.

    Attributes
    ----------
    ax_, ax_scores_ : matplotlib Axes
        The map, and the small axes below it (None without data).
    figure_ : matplotlib Figure
        The figure.
    line_, band_, points_, intervals_, scores_, identity_, legend_ : matplotlib artist or None
        What was drawn. Data that the axes show already are not drawn again.
    beyond_ : list of matplotlib artists
        The triangles at the edges of logit axes.

    Examples
    --------
    >>> from calibrant import CalibrationMapDisplay, IsotonicCalibration, simulate
    >>> from matplotlib.figure import Figure
    >>> data = simulate.bayes_iso(1000, rng=0)
    >>> calibrator = IsotonicCalibration().fit(data.scores, data.labels)
    >>> display = CalibrationMapDisplay.from_calibrator(calibrator, data.scores, data.labels, ax=Figure().subplots())
    >>> display.name, len(display.points)
    ('IsotonicCalibration', 10)
    """

    curve: result.Table
    _: KW_ONLY
    points: result.Table | None = None
    scores: result.Table | None = None
    space: str = "probability"
    level: float = 0.9
    name: str | None = None

    def __repr__(self) -> str:
        return f"CalibrationMapDisplay({self.name or 'calibration map'})"

    def plot(self, ax: Any = None, *, scale: str = "linear", curve_kwargs: Mapping[str, Any] | None = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given. Axes that have a map already get another one.
        scale : {"linear", "logit"}
            Of the probabilities; and of the scores, where these are probabilities.
        curve_kwargs : dict, optional
            Passed to matplotlib's ``plot`` for the map.

        Returns
        -------
        self
        """
        _validation.check_choice("scale", scale, result.SCALES)
        self.ax_, self.figure_ = axes.open_axes(ax, "CalibrationMapDisplay.plot", below=self.scores is not None)
        self.ax_scores_ = None if self.scores is None else axes.axes_below(self.ax_)
        probabilities, names = self.space == "probability", ("Score", "Calibrated probability")
        axes.arrange(self.ax_, self.ax_scores_, scale, self._limits(scale), names, x=probabilities)
        self.identity_ = axes.draw_identity(self.ax_) if probabilities else None
        style = {"linewidth": 1.8, "zorder": 3.5, "label": self._label()} | axes.line_style(curve_kwargs or {})
        self.line_ = axes.draw_curve(self.ax_, self.curve["score"], self.curve["probability"], style)
        self.band_ = axes.draw_band(self.ax_, self.curve, color=self.line_.get_color())
        self._draw_data()
        self.legend_ = axes.draw_legend(self.ax_)
        return self

    def _limits(self, scale: str) -> tuple[float, float]:
        probabilities = self.space == "probability"
        if self.points is None or (scale == "linear" and not probabilities):
            # Without data nothing says what can be known; one in a million is where a logit axis ends.
            return axes.logit_limits(self.curve["probability"], 1e5) if scale == "logit" else (0.0, 1.0)
        values = axes.drawn_values(self.points, None, scale)
        if scale == "linear":
            return result.visible_range(float(values.min()), float(values.max()))
        # The first of these are the scores, which need no place among the probabilities unless they are some.
        values = values if probabilities else values[len(self.points) :]
        return axes.logit_limits(values, float(self.points["total"].sum()))

    def _draw_data(self) -> None:
        """The data in grey, and once, since they are the same whatever map is drawn."""
        drawn: dict[str, Any] = {"points": None, "intervals": None, "beyond": []}
        self.scores_ = None
        label = None if self.points is None else axes.points_label(self.points, self.level)
        if label is not None and label not in self.ax_.get_legend_handles_labels()[1]:
            drawn = axes.draw_points(self.ax_, self.points, color=axes.NEUTRAL, label=label)
            if self.scores is not None:
                below, grey = self.ax_scores_, axes.NEUTRAL
                self.scores_ = axes.draw_histogram(below, self.scores, color=grey, fill=True, share=False)
        self.points_, self.intervals_, self.beyond_ = (drawn[part] for part in ("points", "intervals", "beyond"))

    def _label(self) -> str:
        name = self.name or "calibration map"
        return f"{name}, {100 * self.level:.4g} % band" if "low" in (self.curve.dtype.names or ()) else name

    @classmethod
    def from_calibrator(
        cls,
        calibrator: Any,
        scores: ArrayLike | Tally | None = None,
        y: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
        n_bins: int | str = "auto",
        level: float = 0.9,
        space: str | None = None,
        scale: str = "linear",
        name: str | None = None,
        ax: Any = None,
        curve_kwargs: Mapping[str, Any] | None = None,
    ) -> Self:
        """Compute from a fitted calibrator or a map, with or without data, and draw.

        Parameters
        ----------
        calibrator : fitted calibrator or CalibrationMap
            What to draw. Calibrators with `predict_interval` get a band.
        scores : array-like of shape (n,), or Tally, optional
            Data to draw the map over: those that it was fitted to, or better, others.
        y : array-like of shape (n,), optional
            Labels of the scores.
        sample_weight : array-like of shape (n,), optional
            Non-negative weights; a weight of 2 is the row twice.
        pos_label : label, optional
            The positive class, where the labels are not bool, {0, 1} or {-1, 1}.
        n_bins : int or "auto"
            Number of bins of equal mass; "auto" is the cube root of the number of rows, at most 20.
        level : float
            Of the band and the intervals.
        space : {"probability", "decision"}, optional
            Whether the scores are probabilities, so that the identity is worth drawing; by default what the map says.
            A map that takes any numbers, such as isotonic regression, cannot know: say "probability" if they are.
        name : str, optional
            By default the name of the method.
        ax, scale, curve_kwargs
            See `plot`.

        Returns
        -------
        CalibrationMapDisplay
        """
        map_ = _map_of(calibrator)
        tally = _read_rows(scores, y, sample_weight, pos_label)
        space = map_.space if space is None else space
        _validation.check_choice("space", space, _validation.SPACES)
        grid = _grid(map_, tally, space)
        display = cls(
            result.tabulate_map(calibrator, grid, level),
            points=None if tally is None else result.binned_points(tally, n_bins=n_bins, level=level),
            scores=None if tally is None else result.histogram(tally, scale, space),
            space=space,
            level=level,
            name=name or map_.method or None,
        )
        return display.plot(ax, scale=scale, curve_kwargs=curve_kwargs)


def _map_of(calibrator: Any) -> CalibrationMap:
    map_ = calibrator if isinstance(calibrator, CalibrationMap) else getattr(calibrator, "map_", None)
    if isinstance(map_, CalibrationMap):
        return map_
    if hasattr(calibrator, "fit_tally"):
        raise NotFittedError(f"This {type(calibrator).__name__} is not fitted yet; call `fit` before drawing its map.")
    raise InvalidInputError(f"`calibrator` must be a fitted calibrator or a CalibrationMap; got {calibrator!r}.")


def _read_rows(scores: Any, y: Any, sample_weight: Any, pos_label: Any) -> Tally | None:
    if scores is None and y is None:
        return None
    if scores is None or (isinstance(scores, Tally) and not len(scores)):
        raise InvalidInputError("Pass both `scores` and `y`, or a tally with rows for `scores`, or no data at all.")
    return to_tally(scores, y, sample_weight, pos_label)


def _grid(map_: CalibrationMap, tally: Tally | None, space: str) -> Floats:
    """Where to evaluate the map: densely, and at its corners if these are few enough to be seen."""
    knots, probabilities = map_.function.knots(), space == "probability"
    if tally is None or probabilities:
        ends = np.array((0.0, 1.0) if probabilities else _reach(map_, knots))
        whole = Tally(ends, np.zeros(2), np.ones(2))
        tally = whole if tally is None else whole + tally
    grid = result.curve_grid(tally, probabilities=probabilities)
    seen = knots[(knots >= grid[0]) & (knots <= grid[-1])]
    return np.union1d(grid, seen) if len(seen) <= MOST_KNOTS else grid


def _reach(map_: CalibrationMap, knots: Floats) -> tuple[float, float]:
    """The scores between which a map of any numbers does something."""
    ends = knots if len(knots) > 1 else map_.inverse([0.01, 0.99])
    return (float(ends[0]), float(ends[-1])) if np.isfinite(ends).all() and ends[0] < ends[-1] else (-5.0, 5.0)
