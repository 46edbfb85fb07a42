"""The distribution of the scores: histograms whose bars can be compared between models, and a density."""

from __future__ import annotations

import numpy as np

from calibrant import _limits
from calibrant._kernels import bins, links
from calibrant._typing import Floats
from calibrant.reliability.curves import GRID_POINTS, curve_grid
from calibrant.reliability.tables import Table, table
from calibrant.tally import Tally

__all__ = ["SCALES", "count_between", "density", "histogram", "visible_range"]

SCALES = ("linear", "logit")
N_BARS = 32  # a power of two, so that bars of a narrow range join to those of a wider one
ZOOMS = 5

# Half a logit wide, with everything beyond ±16 (1e-7) in the outermost bars.
LOGIT_EDGES = links.expit(np.arange(-16.0, 16.5, 0.5))


def histogram(tally: Tally, scale: str) -> Table:
    """The `histogram` table of a tally of probabilities."""
    if scale == "logit":
        return count_between(tally, LOGIT_EDGES, 0.0, 1.0)
    low, high = visible_range(float(tally.scores[0]), float(tally.scores[-1]))
    return count_between(tally, np.linspace(low, high, N_BARS + 1)[1:-1], low, high)


def count_between(tally: Tally, inner_edges: Floats, lowest: float, highest: float) -> Table:
    """The weighted rows between each pair of edges; the outermost edges are `lowest` and `highest`."""
    where = bins.bin_of(tally.scores, inner_edges)
    size = len(inner_edges) + 1
    return table(
        left=np.concatenate(([lowest], inner_edges)),
        right=np.concatenate((inner_edges, [highest])),
        positives=np.bincount(where, tally.positives, size).astype(np.float64),
        total=np.bincount(where, tally.totals, size).astype(np.float64),
    )


def visible_range(low: float, high: float) -> tuple[float, float]:
    """The smallest of [0, 1], its lowest or highest quarter, eighth, … thirty-second that holds `low` and `high`.

    Examples
    --------
    >>> from calibrant.reliability import visible_range
    >>> visible_range(0.001, 0.07), visible_range(0.8, 0.9), visible_range(0.4, 0.6)
    ((0.0, 0.125), (0.75, 1.0), (0.0, 1.0))
    """
    for zoom in range(ZOOMS, 1, -1):
        width = 0.5**zoom
        if high <= width:
            return 0.0, width
        if low >= 1.0 - width:
            return 1.0 - width, 1.0
    return 0.0, 1.0


def density(tally: Tally, scale: str) -> Table:
    """The `density` table: a Gaussian kernel estimate, Silverman's bandwidth, mirrored at the ends of [0, 1]."""
    cells, grid = tally.coarsen(_limits.DENSITY_CELLS), curve_grid(tally, probabilities=True)
    if scale == "linear":
        # The estimate reaches past the outermost scores, up to the ends of the axis.
        grid = np.unique(np.concatenate((grid, np.linspace(0.0, 1.0, GRID_POINTS))))
    at, x = (grid, cells.scores) if scale == "linear" else (links.logit(grid), links.logit(cells.scores))
    share = cells.totals / cells.total
    width = max(_silverman(x, share, tally.total), 1e-3 if scale == "linear" else 0.05)
    images = [x, -x, 2.0 - x] if scale == "linear" else [x]
    kernel = sum(np.exp(-0.5 * ((at[:, None] - image) / width) ** 2) @ share for image in images)
    return table(score=grid, density=kernel / (width * np.sqrt(2.0 * np.pi)))


def _silverman(x: Floats, share: Floats, rows: float) -> float:
    mean = share @ x
    spread = float(np.sqrt(share @ (x - mean) ** 2))
    quarters = np.interp((0.25, 0.75), np.cumsum(share), x)
    middle = float(quarters[1] - quarters[0]) / 1.349
    return float(0.9 * (min(spread, middle) or spread) * rows**-0.2)
