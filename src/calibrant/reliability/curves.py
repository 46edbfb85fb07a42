"""Curves through a tally of probabilities: isotonic regression, or any calibrator, with its credible band."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import isotonic_regression
from sklearn.base import clone

from calibrant._kernels import links
from calibrant._typing import Floats
from calibrant.calibrators import registry
from calibrant.errors import InvalidInputError
from calibrant.reliability.tables import Table, table
from calibrant.tally import Tally

__all__ = ["curve_grid", "fit_curve", "tabulate_map"]

GRID_POINTS = 129


def fit_curve(tally: Tally, curve: Any, level: float) -> tuple[Table | None, str | None]:
    """The `curve` table of a tally of probabilities, and the name of what made it; both None without a curve."""
    if curve is None:
        return None, None
    if isinstance(curve, str) and curve == "corp":
        return _corp(tally), "CORP"
    if isinstance(curve, str) and curve not in registry.METHODS:
        known = ", ".join(sorted(registry.METHODS))
        raise InvalidInputError(f"`curve` must be None, 'corp', a calibrator or one of {known}; got {curve!r}.")
    if not isinstance(curve, str) and not hasattr(curve, "fit_tally"):
        raise InvalidInputError(f"`curve` must be None, 'corp', the name of a method or a calibrator; got {curve!r}.")
    calibrator = (registry.create(curve) if isinstance(curve, str) else clone(curve)).fit_tally(tally)
    return tabulate_map(calibrator, curve_grid(tally, probabilities=True), level), type(calibrator).__name__


def tabulate_map(calibrator: Any, grid: Floats, level: float) -> Table:
    """Tabulate a map, or that of a fitted calibrator, with its credible band if it has a posterior."""
    columns = {"score": grid, "probability": getattr(calibrator, "map_", calibrator)(grid)}
    if hasattr(calibrator, "sample_maps"):  # the intervals of other methods, such as Venn-Abers, have no level
        columns["low"], columns["high"] = calibrator.predict_interval(grid, level=level)
    return table(**columns)


def curve_grid(tally: Tally, *, probabilities: bool) -> Floats:
    """Scores at which a smooth curve is worth evaluating: even on the axis, on the logit axis, and by rank."""
    low, high = tally.scores[0], tally.scores[-1]
    parts = [np.linspace(low, high, GRID_POINTS), tally.coarsen(GRID_POINTS).scores]
    if probabilities:
        ends = links.logit(np.array([low, high]))
        parts.append(links.expit(np.linspace(ends[0], ends[1], GRID_POINTS)))
    return np.unique(np.clip(np.concatenate(parts), low, high))


def _corp(tally: Tally) -> Table:
    """Both ends of each pooled block; blocks meet midway between their scores."""
    pooled = isotonic_regression(tally.positives / tally.totals, weights=tally.totals)
    starts = pooled.blocks[:-1]
    first, before = tally.scores[starts[1:]], tally.scores[starts[1:] - 1]
    ends = np.concatenate((tally.scores[:1], before + 0.5 * (first - before), tally.scores[-1:]))
    # Pooled means of equal numbers can leave [0, 1] by an ulp.
    return table(score=np.repeat(ends, 2)[1:-1], probability=np.repeat(np.clip(pooled.x[starts], 0.0, 1.0), 2))
