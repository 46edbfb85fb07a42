"""Selection over Bayesian binnings: the one best binning, found by dynamic programming."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from calibrant import _limits, _validation
from calibrant._typing import Floats
from calibrant._validation import plain
from calibrant.calibrators.base import Calibrator
from calibrant.errors import InvalidInputError
from calibrant.maps.functions import Step
from calibrant.tally import Tally

LAM_GRID: Floats = 2.0 ** np.arange(9.0)  # 1 … 256, evenly spaced in ln λ: a scale-free prior


class SBB(Calibrator):
    """Selection over Bayesian Binnings: a histogram whose bins, their number and their places, are the most probable.

    Parameters
    ----------
    lam : "best", float or sequence of float
        λ of eq. 2.5, the expected number of bin boundaries a priori. "best" takes the most probable pair of binning
        and λ over the grid 1, 2, 4 … 256; so does a sequence, over its values.
    alpha, beta : float
        Parameters of the Beta prior of each bin's probability; the paper has 1 and 1.
    max_cells : int
        More distinct scores than this are first merged into so many cells of nearly equal mass.

    Attributes
    ----------
    bins_ : structured array with one row for each bin
        `lower` and `upper` (the lowest and highest score in the bin), `positives`, `total`, `mean` (the posterior
        mean) and `log_evidence` (the logarithm of the bin's factor in eq. 2.4).
    log_score_ : float
        The logarithm of the score of the binning, eq. 2.7.
    lam_ : float
        The λ that was used.

    Notes
    -----
    The paper does not say where in a gap a boundary lies; here it is the middle.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant import SBB
    >>> scores = np.arange(40) / 40
    >>> calibrator = SBB(lam=2.0).fit(scores, (scores > 0.3) & (scores < 0.7))
    >>> calibrator.bins_["total"].tolist(), calibrator.bins_["mean"].round(3).tolist()
    ([13.0, 15.0, 12.0], [0.067, 0.941, 0.071])
    """

    name = "sbb"
    title = "SBB (best binning)"
    description = "the best of all binnings"
    reference = "Naeini, Cooper and Hauskrecht 2015 (SDM), sections 2.1 to 2.3"

    def __init__(
        self,
        *,
        lam: float | str | Sequence[float] = "best",
        alpha: float = 1.0,
        beta: float = 1.0,
        max_cells: int = _limits.BINNING_CELLS,
    ) -> None:
        self.lam = lam
        self.alpha = alpha
        self.beta = beta
        self.max_cells = max_cells

    def fit_map(self, tally: Tally) -> Step:
        from calibrant._compiled import partitions

        cells, _, grid, log_v, backpointers = sum_binnings(self, tally, "best")
        which = int(log_v[:, -1].argmax())
        self.lam_ = float(grid[which])
        self.log_score_ = float(log_v[which, -1])
        starts = partitions.trace(backpointers[which])
        self.bins_ = _bin_table(cells, starts, float(self.alpha), float(self.beta))
        before, after = cells.scores[starts[1:] - 1], cells.scores[starts[1:]]
        edges = before + (0.5 * after - 0.5 * before)
        return Step(edges, self.bins_["mean"])


def _bin_table(cells: Tally, starts: npt.NDArray[np.int64], alpha: float, beta: float) -> npt.NDArray[np.void]:
    from scipy.special import betaln

    names = ("lower", "upper", "positives", "total", "mean", "log_evidence")
    table = np.empty(len(starts), dtype=[(name, np.float64) for name in names])
    table["lower"] = cells.scores[starts]
    table["upper"] = cells.scores[np.append(starts[1:], len(cells)) - 1]
    table["positives"] = np.add.reduceat(cells.positives, starts)
    table["total"] = np.add.reduceat(cells.totals, starts)
    a = table["positives"] + alpha
    b = np.add.reduceat(cells.negatives, starts) + beta
    table["mean"] = a / (a + b)
    table["log_evidence"] = betaln(a, b) - betaln(alpha, beta)  # eq. 2.4
    return table


def lam_grid(lam: Any, word: str) -> Floats:
    """The values of λ that `lam` stands for; `word` is the name of the default grid."""
    if isinstance(lam, str) and lam == word:
        return LAM_GRID
    try:
        grid = np.atleast_1d(np.array(lam, dtype=np.float64))
    except (TypeError, ValueError):
        grid = np.empty(0)
    if isinstance(lam, str | bool) or grid.ndim != 1 or not len(grid) or not ((grid > 0) & np.isfinite(grid)).all():
        raise InvalidInputError(f"`lam` must be a positive number, several of them, or {word!r}; got {plain(lam)!r}.")
    return grid


def sum_binnings(method: Any, tally: Tally, word: str) -> tuple[Tally, Floats, Floats, Floats, npt.NDArray[np.intp]]:
    """Cells, their scores from 0 to 1 and the values of λ, with what `partitions.forward` makes of them.

    `word` is the name of the default grid of λ; "best" also asks for maxima in place of sums.
    """
    from calibrant._compiled import partitions

    grid = lam_grid(method.lam, word)
    alpha = _validation.check_number("alpha", method.alpha, "positive")
    beta = _validation.check_number("beta", method.beta, "positive")
    cells = tally.coarsen(_validation.check_count("max_cells", method.max_cells, 2))
    x, _ = unit_range(cells.scores)
    return cells, x, grid, *partitions.forward(x, *counts(cells), grid, alpha, beta, word == "best")


def counts(cells: Tally) -> tuple[Floats, Floats]:
    """Positives and totals as kernels read them: contiguous, whatever the tally was made from."""
    return cells.positives.copy(), cells.totals.copy()


def unit_range(scores: Floats) -> tuple[Floats, float]:
    """Sorted scores moved to [0, 1], and their range d(1, N) of eq. 2.5."""
    scale = 0.25 if max(-scores[0], scores[-1]) > 1e307 else 1.0  # so that the range is finite
    offsets = scale * scores - scale * scores[0]
    width = float(offsets[-1])
    return (offsets / width if width > 0.0 else offsets), min(width / scale, float(np.finfo(np.float64).max))
