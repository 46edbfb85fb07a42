"""Averaging over Bayesian binnings: the mean of all 2^(m−1) histograms of m cells, weighted by their posterior."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import softmax

from calibrant import _limits, _validation
from calibrant._numerics import links
from calibrant._numerics.piecewise import interpolate
from calibrant._typing import Bools, Floats, Ints, RandomState
from calibrant.calibrators.base import BayesianCalibrator, quantile_ends
from calibrant.calibrators.published.sbb import counts, sum_binnings, unit_range
from calibrant.maps.functions import MapFunction, Step
from calibrant.maps.tabulate import tabulate_scores
from calibrant.tally import Tally

INTERVALS = ("akaike", "posterior")
TINY = float(np.finfo(np.float64).tiny)
NEGLIGIBLE = 1e-15  # posterior weights of λ below this add less than that to a probability
STRAIGHT = 0.01  # λ times a gap, below which the mean is a straight line there within 1e-5
INSIDE = np.array([0.02, 0.1, 0.25, 0.5, 0.75, 0.9, 0.98])  # first nodes in other gaps: near the ends it bends most
WIDE_GAP = 1.0 / 256.0  # of the range; wider gaps get inner points, where the interval may bulge


class ABB(BayesianCalibrator):
    """Averaging over Bayesian Binnings: no bin boundary is chosen, all of them are averaged, exactly.

    The map need not be monotone, so a score that ranks wrongly is repaired as well.

    Parameters
    ----------
    lam : "average", float or sequence of float
        λ of eq. 2.5, the expected number of bin boundaries a priori. "average" averages over the grid 1, 2, 4 … 256
        by evidence; so does a sequence, over its values.
    alpha, beta : float
        Parameters of the Beta prior of each bin's probability; the paper has 1 and 1.
    max_cells : int
        More distinct scores than this are first merged into so many cells of nearly equal mass.
    interval : {"akaike", "posterior"}
        What `predict_interval` is made of: "posterior" is the exact posterior of the published model; "akaike" is a
        less sparing model, whose intervals cover smooth truths as often as they say. The interval always contains
        the prediction.
    n_draws : int
        Number of draws behind an interval.
    random_state : int, Generator, RandomState or None
        Seed of those draws.

    Attributes
    ----------
    cells_ : Tally
        The cells over whose binnings the average runs.
    boundary_probability_ : ndarray of shape (m - 1,)
        Posterior probability of a bin boundary in each gap between neighbouring cells: where the data want a cut.
    evidence_ : float
        ln P(data), averaged over binnings and λ.
    lam_grid_, lam_posterior_ : ndarray
        The values of λ and their posterior probabilities; a priori they are equally probable.

    Notes
    -----
    The fitted map is a table of straight pieces within 1e-5 of the posterior mean (eq. 2.8), constant outside the
    scores. `calibrators.published.printed_abb` has eq. 2.9 as the paper prints it, and its cache of cells.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant import ABB
    >>> scores = np.arange(40) / 40
    >>> calibrator = ABB().fit(scores, (scores > 0.3) & (scores < 0.7))
    >>> calibrator.predict([0.1, 0.5, 0.9]).round(2).tolist()
    [0.08, 0.92, 0.09]
    >>> int(calibrator.boundary_probability_.argmax())  # between 12/40 and 13/40
    12
    """

    name = "abb"
    title = "ABB (average of binnings)"
    description = "exact average over all binnings, any shape; intervals"
    reference = "Naeini, Cooper and Hauskrecht 2015 (SDM), section 2.4"

    def __init__(
        self,
        *,
        lam: float | str | Sequence[float] = "average",
        alpha: float = 1.0,
        beta: float = 1.0,
        max_cells: int = _limits.BINNING_CELLS,
        interval: str = "akaike",
        n_draws: int = 1000,
        random_state: RandomState = 0,
    ) -> None:
        self.lam = lam
        self.alpha = alpha
        self.beta = beta
        self.max_cells = max_cells
        self.interval = interval
        self.n_draws = n_draws
        self.random_state = random_state

    def fit_map(self, tally: Tally) -> MapFunction:
        _validation.check_choice("interval", self.interval, INTERVALS)
        _validation.check_count("n_draws", self.n_draws)
        cells, x, grid, log_f, _ = sum_binnings(self, tally, "average")
        alpha, beta = float(self.alpha), float(self.beta)
        log_evidence = log_f[:, -1]
        self.cells_ = cells
        self.lam_grid_ = grid
        self.lam_posterior_ = softmax(log_evidence)
        self.evidence_ = float(np.logaddexp.reduce(log_evidence) - np.log(len(grid)))
        heavy = self.lam_posterior_ > NEGLIGIBLE
        weight = self.lam_posterior_[heavy] / self.lam_posterior_[heavy].sum()
        filled = filled_gaps(tally, cells)
        self._posterior = BinningPosterior(cells, x, grid[heavy], weight, log_f[heavy], filled, alpha, beta)
        self._few_cells = tally.coarsen(_limits.BINNING_INTERVAL_CELLS)
        mean, self.boundary_probability_ = average_binnings(self._posterior)
        return mean if isinstance(mean, Step) else mean.tabulated()

    def draw_maps(self, scores: Floats, n_draws: int, rng: np.random.Generator) -> Floats:
        """Draws of the whole map from the exact posterior, evaluated at `scores`, (n_draws, n).

        λ, the binning given λ, the level of each bin and the places of the boundaries within their gaps are drawn in
        turn, so the draws are independent and exact.
        """
        return self._posterior.draw(scores, n_draws, rng)

    def leave_one_out(self, tally: Tally) -> tuple[Floats, Floats]:
        """Predict each row from the posterior without it: exact at the cells of the fit."""
        self._fitted_map()
        return self._posterior.leave_one_out(tally.scores)

    def interval_ends(self, scores: Floats, level: float) -> tuple[Floats, Floats]:
        """Quantiles of `n_draws` draws at the cells, straight lines between them."""
        drawn_at, *bounds = self._bounds(self.n_draws, _validation.generator(self.random_state))
        low, high = quantile_ends(level, *bounds)
        return interpolate(scores, drawn_at, low), interpolate(scores, drawn_at, high)

    def interval_draws(self, scores: Floats, n_draws: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Maps whose lower and upper quantiles are the ends of intervals, by the model that `interval` names."""
        drawn_at, low, high = self._bounds(n_draws, rng)
        return interpolate(scores, drawn_at, low), interpolate(scores, drawn_at, high)

    def _bounds(self, n_draws: int, rng: np.random.Generator) -> tuple[Floats, Floats, Floats]:
        """Scores, and drawn maps there whose quantiles are the lower and the upper ends of intervals."""
        posterior = self._posterior
        if self.interval == "akaike":
            return draw_akaike(self._few_cells, self.lam_grid_, posterior.alpha, posterior.beta, n_draws, rng)
        at = _with_inner_points(posterior.cells.scores, posterior.x)
        draws = posterior.draw(at, n_draws, rng)
        return at, draws, draws


@dataclass(frozen=True, eq=False)
class BinningPosterior:
    """The exact posterior of binnings, levels and those λ that matter, given by the forward sums."""

    cells: Tally
    x: Floats  # the cells' scores moved to [0, 1]
    lam: Floats
    lam_posterior: Floats
    log_f: Floats
    filled: Bools  # which gaps between cells have data in them, see `filled_gaps`
    alpha: float
    beta: float

    def draw(self, scores: Floats, n_draws: int, rng: np.random.Generator) -> Floats:
        """Whole maps at `scores`, (n_draws, n)."""
        from calibrant._compiled import partition_draws

        # Binnings of different lengths lie one after another: draw d has the bins starts[offsets[d]:offsets[d + 1]].
        # All levels and edges are drawn at once, for all maps, and only then cut into maps.
        which = rng.choice(len(self.lam), size=n_draws, p=self.lam_posterior)
        given = (self.x, *counts(self.cells), self.lam, self.alpha, self.beta, self.log_f)
        starts, offsets = partition_draws.draw_binnings(*given, which, rng, False)
        a, b, _ = bin_counts(self.cells, starts, offsets)
        levels = rng.beta(a + self.alpha, b + self.beta)
        begins_map = np.zeros(len(starts), dtype=bool)
        begins_map[offsets[:-1]] = True
        n_edges = np.diff(offsets) - 1
        edges = self._place_edges(starts[~begins_map], np.repeat(self.lam[which], n_edges), rng).ravel()
        # Each boundary has two edges with a bin of no data between them, so the values of a map alternate: bin, gap,
        # bin, gap … bin. Every bin but the first of its map has such a gap before it.
        values = np.insert(levels, np.flatnonzero(~begins_map), rng.beta(self.alpha, self.beta, n_edges.sum()))
        edge_lists = np.split(edges, 2 * np.cumsum(n_edges)[:-1])
        value_lists = np.split(values, np.cumsum(2 * n_edges + 1)[:-1])
        return np.stack([v[np.searchsorted(e, scores)] for e, v in zip(edge_lists, value_lists, strict=True)])

    def leave_one_out(self, scores: Floats) -> tuple[Floats, Floats]:
        """P(positive) of a positive row and P(negative) of a negative row at each score, had it not been seen.

        Given the bin, the harmonic means of p and 1 − p are those of its Beta posterior, (α + k − 1) / (α + β + n − 1)
        and its mirror image: the bin's mean without the row. These are averaged over all bins that hold the cell.
        """
        from calibrant._compiled import partitions

        given = (self.x, *counts(self.cells), self.lam, self.alpha, self.beta, self.log_f, False)
        found = []
        for what in (partitions.PER_POSITIVE, partitions.PER_NEGATIVE):
            _, starts, ends = partitions.backward(*given, what)
            # The bins that hold a cell: those that started up to it, less those that ended before it.
            inverse = self.lam_posterior @ (np.cumsum(starts, axis=1) - np.cumsum(ends, axis=1) + ends)
            found.append(1.0 / interpolate(scores, self.cells.scores, np.maximum(inverse, 1.0)))
        return found[0], found[1]

    def _place_edges(self, starts: Ints, lam: Floats, rng: np.random.Generator) -> Floats:
        """Place the boundaries before the cells `starts` in their gaps: two edges for each, (n, 2).

        The Poisson process of eq. 2.5 has at least one point in a gap with a boundary. Only its first and last point
        touch the bins beside the gap; between them lies a bin without data, whose level comes from the prior. A gap
        that is filled with data has one boundary, anywhere.
        """
        before, after = self.cells.scores[starts - 1], self.cells.scores[starts]
        h = lam * (self.x[starts] - self.x[starts - 1])
        u, v = rng.random((2, len(h)))
        first = -np.log1p(u * np.expm1(-h)) / h  # exponential, given that it falls into the gap
        last = np.maximum(first, 1.0 + np.log1p(-v) / h)
        filled = self.filled[starts - 1]
        first, last = np.where(filled, u, first), np.where(filled, u, last)
        return np.column_stack((before + first * (after - before), before + last * (after - before)))


def draw_akaike(
    cells: Tally, lam: Floats, alpha: float, beta: float, n_draws: int, rng: np.random.Generator
) -> tuple[Floats, Floats, Floats]:
    """Scores, and lower and upper maps there, by binnings with Akaike's weights and boundaries uniform in rank.

    The posterior of ABB holds on to few, wide bins; where the truth is smooth their bias is as large as the spread
    of the posterior, and the 90 % interval covers it at 60 to 85 % of the scores. Three changes repair that:
    Akaike's weight for each bin (see `_compiled.partition_draws`); boundaries that are a priori uniform in rank, not
    in score, so that crowded scores can be told apart; and Brown, Cai and DasGupta's (2001) rule for a bin without
    positives, whose lower limit is 0, and without negatives, whose upper limit is 1. λ is averaged by evidence.
    """
    from calibrant._compiled import partition_draws, partitions

    k, n = counts(cells)
    ranks = np.cumsum(n) - 0.5 * n
    x = (ranks - ranks[0]) / max(ranks[-1] - ranks[0], 1.0)
    log_evidence = partitions.forward(x, k, n, lam, alpha, beta, False)[0][:, -1]
    which = rng.choice(len(lam), size=n_draws, p=softmax(log_evidence))
    log_f = partition_draws.akaike_forward(x, k, n, lam)
    starts, offsets = partition_draws.draw_binnings(x, k, n, lam, alpha, beta, log_f, which, rng, True)
    positives, negatives, sizes = bin_counts(cells, starts, offsets)
    levels = rng.beta(positives + alpha, negatives + beta)
    low = np.repeat(np.where(positives == 0.0, 0.0, levels), sizes).reshape(n_draws, len(x))
    high = np.repeat(np.where(negatives == 0.0, 1.0, levels), sizes).reshape(n_draws, len(x))
    return cells.scores, low, high


def filled_gaps(tally: Tally, cells: Tally) -> Bools:
    """Mark the gaps between `cells`, merged from `tally`, that hold more data than emptiness.

    The distance between the mean scores of two merged cells is not empty: the rows of both lie in it. There can be
    no bin without data there, unless the rows leave most of it empty.
    """
    if len(cells) == len(tally):
        return np.zeros(len(cells) - 1, dtype=bool)
    # The last score of each cell; rounding of the sums may move it by a row, which does not matter here.
    ends = np.cumsum(cells.totals)[:-1] * (1.0 - 1e-12)
    last = np.minimum(np.searchsorted(np.cumsum(tally.totals), ends), len(tally) - 2)
    empty = 0.5 * tally.scores[last + 1] - 0.5 * tally.scores[last]
    return np.asarray(empty < 0.25 * cells.scores[1:] - 0.25 * cells.scores[:-1])


def bin_counts(cells: Tally, starts: Ints, offsets: Ints) -> tuple[Floats, Floats, Ints]:
    """Positives, negatives and cells of the bins of binnings that are listed one after another."""
    ends = np.append(starts[1:], len(cells))
    ends[offsets[1:] - 1] = len(cells)
    positives = np.concatenate(([0.0], np.cumsum(cells.positives)))
    negatives = np.concatenate(([0.0], np.cumsum(cells.negatives)))
    return positives[ends] - positives[starts], negatives[ends] - negatives[starts], ends - starts


def _with_inner_points(scores: Floats, x: Floats) -> Floats:
    """The scores, and points inside the wide gaps between them."""
    parts = np.ceil(np.diff(x) / WIDE_GAP).astype(int)
    inner = [np.linspace(scores[i], scores[i + 1], parts[i] + 1)[1:-1] for i in np.flatnonzero(parts > 1)]
    return np.unique(np.concatenate([scores, *inner]))


@dataclass(frozen=True, eq=False)
class PosteriorMean:
    """The mean of random steps: in each gap between the scores x, steps fall at the points of a Poisson process.

    At a score with the distances l and r to its neighbours x[i] and x[i+1], and h = l + r,

        base[i] + Σ_g left[g, i] · (e^(−rates[g] l) − e^(−rates[g] h)) / (1 − e^(−rates[g] h))
                + Σ_g right[g, i] · (e^(−rates[g] r) − e^(−rates[g] h)) / (1 − e^(−rates[g] h)).

    The two quotients run from 1 to 0 and from 0 to 1; they are the probabilities that a gap with a step has all its
    steps to the right, or to the left, of the score. `rates` has shape (G,), `left` and `right` (G, m − 1), `base`
    (m − 1,). Constant outside x. Computed by expm1, because the plain formula loses all digits in small gaps.
    """

    x: Floats
    rates: Floats
    base: Floats
    left: Floats
    right: Floats

    def __call__(self, scores: Floats) -> Floats:
        inside = np.clip(scores, self.x[0], self.x[-1])
        gap = np.clip(np.searchsorted(self.x, inside, side="right") - 1, 0, len(self.base) - 1)
        total = self.base[gap]
        with np.errstate(over="ignore", under="ignore"):  # far from a neighbour the exponential is rightly 0
            before, after = inside - self.x[gap], self.x[gap + 1] - inside
            for rate, left, right in zip(self.rates, self.left, self.right, strict=True):
                whole = np.expm1(-rate * np.diff(self.x))
                whole[whole > -TINY] = -np.inf  # a gap too small for doubles has no steps
                share = np.expm1(-rate * before) / whole[gap]  # that a gap with a step has one before the score
                total += left[gap] * (1.0 - share) + right[gap] * share * np.exp(-rate * after)
        return links.clip(total)

    def tabulated(self) -> MapFunction:
        """Straight pieces within 1e-5 of the mean."""
        with np.errstate(over="ignore"):
            bent = np.flatnonzero(self.rates.max() * np.diff(self.x) > STRAIGHT)
        low, high = self.x[bent, None], self.x[bent + 1, None]
        inner = low * (1.0 - INSIDE) + high * INSIDE
        return tabulate_scores(self, np.unique(np.concatenate((self.x, inner.ravel()))))


def average_binnings(posterior: BinningPosterior) -> tuple[PosteriorMean | Step, Floats]:
    """The posterior mean of the map, eq. 2.8, and the probability of a boundary in each gap."""
    from calibrant._compiled import partitions

    cells, alpha, beta = posterior.cells, posterior.alpha, posterior.beta
    lam, log_f, weight = posterior.lam, posterior.log_f, posterior.lam_posterior[:, None]
    log_r, starts, ends = partitions.backward(posterior.x, *counts(cells), lam, alpha, beta, log_f, False)
    boundary = _boundary_probability(posterior.x, lam, log_f, log_r)
    if len(cells) == 1:
        return Step(np.empty(0), (weight * starts)[:, 0].sum(keepdims=True)), boundary.sum(axis=0)
    # Bins that span the gap after cell j: those that started up to j and have not ended there. The mean of a bin
    # lies between those of all rows negative and all positive; that keeps rounding errors in bounds.
    spanning = (np.cumsum(starts, axis=1) - np.cumsum(ends, axis=1))[:, :-1]
    lowest = alpha / (cells.total + alpha + beta)
    highest = 1.0 - beta / (cells.total + alpha + beta)
    spanning = np.clip(spanning, lowest * (1.0 - boundary), highest * (1.0 - boundary))
    # A score in a gap with boundaries is in the bin on its left, on its right, or in one of its own without data,
    # whose mean is that of the prior. The function adds the first two relative to the third.
    empty = boundary * (alpha / (alpha + beta))
    _, width = unit_range(cells.scores)
    with np.errstate(over="ignore"):  # a range near the smallest double
        rates = np.minimum(lam / width, np.finfo(np.float64).max)
    base = (weight * (spanning + empty)).sum(axis=0)
    left, right = weight * (ends[:, :-1] - empty), weight * (starts[:, 1:] - empty)
    if posterior.filled.any():
        rates, left, right = _straighten(rates, base, left, right, posterior.filled)
        base = np.where(posterior.filled, 0.0, base)
    return PosteriorMean(cells.scores, rates, base, left, right), (weight * boundary).sum(axis=0)


def _straighten(
    rates: Floats, base: Floats, left: Floats, right: Floats, filled: Bools
) -> tuple[Floats, Floats, Floats]:
    """Straight lines in the filled gaps: the limit of a rate near zero, where the one step is anywhere in the gap."""
    from_left, from_right = base + left.sum(axis=0), base + right.sum(axis=0)
    left = np.vstack((np.where(filled, 0.0, left), np.where(filled, from_left, 0.0)))
    right = np.vstack((np.where(filled, 0.0, right), np.where(filled, from_right, 0.0)))
    return np.append(rates, 1e-12 * rates.min()), left, right


def _boundary_probability(x: Floats, lam: Floats, log_f: Floats, log_r: Floats) -> Floats:
    """P(boundary in each gap | data, λ), (n_lambda, m − 1)."""
    with np.errstate(divide="ignore", invalid="ignore"):  # a gap too small for doubles has Prior = 0
        log_q = np.log(-np.expm1(-lam[:, None] * np.diff(x)))
        log_p = log_f[:, 1:-1] + log_r[:, 1:-1] - log_q - log_f[:, -1:]
        return np.where(np.isfinite(log_q), np.exp(np.minimum(log_p, 0.0)), 0.0)
