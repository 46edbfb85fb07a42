"""How many of the highest scores can be accepted: exact tests at every score, with limits that need no model.

Go down the scores and count the rows that are right and the errors. Rows down to a score are accepted if, next to r
right rows, there are at most d(r) errors. The danger is that this happens by chance somewhere among all those scores,
though the precision from there up is below the wanted π.

The chance is largest where rows are right with probability π at every score. Right rows and errors are two
independent samples, and the truth says only which scores they have. Wherever the precision is below π, more errors
lie above that score than with the flat truth beside as many right rows; the same sample of errors, laid out as the
flat truth has it, has at most as many of them there, and keeps every limit that it kept. So first limits hold
whatever is true if a walk of independent rows, each an error with probability 1 − π, keeps one of them with
probability α at most. That is a sum, and it is computed here without approximation.

What was accepted need not be paid for again: after the first m rows a mistake can only be made further down, so limits
from there on rise until a walk keeps one of *those* with probability α. Raised limits are nowhere below the ones
before, as this needs (Goeman, Solari 2010, "The sequential rejection principle of familywise error control"). That
bounds how often the last step goes beyond every score with the precision. That proves the promise where the precision
of all rows from a score up falls below π at most once as the score is lowered, and so wherever higher scores are right
at least as often as lower ones. Where it crosses π several times, the last step may also end in an earlier gap: the
first limits pay for that, raised ones do not. Simulated truths that were made to find this broke the promise in .09
where .10 are allowed.
"""

from functools import lru_cache

import numpy as np
from scipy import signal, special

from calibrant._numerics.piecewise import halve
from calibrant._typing import Floats, Ints

__all__ = ["accepted_rank", "fewest_rows", "levels_at"]

EVERY_COUNT_TO, GROWTH = 100, 1.01  # numbers of right rows at which limits change: each one, then steps of 1 %
# Levels of tests fall with the number of right rows, as its power −FIRST; beyond what was accepted, −THEN.
FIRST, THEN = 0.7, 3.0
HALVINGS = 14  # of the range of a level
FAR, TAIL = 12.0, 40.0  # standard deviations and errors beyond which a walk does not go


def fewest_rows(precision: float, alpha: float) -> int:
    """As many rows, all of them right, show the precision at one given score."""
    return int(np.ceil(np.log(alpha) / np.log(precision)))


def accepted_rank(right: Ints, errors: Ints, precision: float, alpha: float) -> int:
    """How many rows can be accepted, given the right rows and errors from each score up, for falling scores.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.decisions.accepted_ranks import accepted_rank
    >>> accepted_rank(np.arange(1, 101), np.zeros(100, dtype=int), 0.9, 0.1)  # a hundred rows, all of them right
    100
    >>> accepted_rank(np.arange(1, 21), np.zeros(20, dtype=int), 0.9, 0.1)
    0
    """
    counts, accepted, start = right + errors, 0, -1
    n_rows = int(counts[-1])  # not the number of right rows, which is chance
    block = np.searchsorted(limit_counts(n_rows), right, side="right") - 1
    while True:
        limits = error_limits(n_rows, precision, alpha, start)
        kept = np.flatnonzero((errors <= limits[block]) & (right > 0))
        if len(kept) == 0 or counts[kept[-1]] <= accepted:
            return accepted
        accepted = int(counts[kept[-1]])
        start = first_block_after(n_rows, precision, alpha, accepted)


def levels_at(right: Floats, n_rows: int, precision: float, alpha: float) -> Floats:
    """About the levels of the tests at numbers of right rows, before anything is accepted."""
    _, levels = _first(n_rows, precision, alpha)
    return np.minimum(levels[-1] * (right / limit_counts(n_rows)[-1]) ** -FIRST, alpha)


@lru_cache(maxsize=64)
def limit_counts(n_rows: int) -> Ints:
    """The numbers of right rows at which limits may rise, from 1 on."""
    steps = int(np.log(max(n_rows / EVERY_COUNT_TO, 1.0)) / np.log(GROWTH)) + 1
    far = np.round(EVERY_COUNT_TO * GROWTH ** np.arange(1, steps + 1)).astype(np.int64)
    counts = np.unique(np.concatenate((np.arange(1, EVERY_COUNT_TO + 1), far)))
    return counts[counts <= n_rows]


@lru_cache(maxsize=256)
def error_limits(n_rows: int, precision: float, alpha: float, start: int) -> Ints:
    """The most errors beside each number of right rows, −1 for none; after accepting all before the block `start`."""
    limits, levels = _first(n_rows, precision, alpha)
    if start < 0:
        return limits
    counts = limit_counts(n_rows)
    shape: Floats = (counts / counts[start]) ** -THEN
    return _highest_limits(counts, precision, alpha, start=start, shape=shape, least=levels)[0]


def first_block_after(n_rows: int, precision: float, alpha: float, accepted: int) -> int:
    """The first block that still matters: with no limit of any level can those before reach beyond `accepted` rows."""
    counts = limit_counts(n_rows)
    reach = counts[1:] - 1 + _limits(counts, np.full(len(counts), alpha), precision)[:-1]
    return int(np.searchsorted(reach, accepted, side="right"))


@lru_cache(maxsize=64)
def _first(n_rows: int, precision: float, alpha: float) -> tuple[Ints, Floats]:
    counts = limit_counts(n_rows)
    shape: Floats = counts.astype(np.float64) ** -FIRST
    return _highest_limits(counts, precision, alpha, start=0, shape=shape, least=np.zeros(len(counts)))


def _highest_limits(
    counts: Ints, precision: float, alpha: float, *, start: int, shape: Floats, least: Floats
) -> tuple[Ints, Floats]:
    """The limits of the highest levels max(least, x shape) that a walk keeps with probability alpha; these levels."""

    def levels(x: float) -> Floats:
        return np.maximum(least, np.minimum(x * shape, alpha))

    def kept(x: float) -> bool:
        limits = _limits(counts, levels(x), precision)[start:]
        return chance_of_keeping(limits, counts[start:], precision, alpha) <= alpha

    low, _ = halve(kept, 0.0, alpha / float(shape[-1]), HALVINGS + int(np.log2(1.0 / shape[-1])))
    return _limits(counts, levels(low), precision), levels(low)


def _limits(counts: Ints, levels: Floats, precision: float) -> Ints:
    """The largest number of errors that comes before so many right rows with a probability of at most the level."""
    errors = np.floor(special.nbdtrik(np.maximum(levels, 1e-300), counts, precision))
    errors = np.where(np.isfinite(errors), np.maximum(errors, 0.0), 0.0) + 1.0
    for _ in range(3):
        errors -= (errors >= 0.0) & (special.betainc(counts, np.maximum(errors, 0.0) + 1.0, precision) > levels)
    return errors.astype(np.int64)


def chance_of_keeping(limits: Ints, counts: Ints, precision: float, enough: float = 1.0) -> float:
    """The probability that a walk keeps one of the limits on its errors; once beyond `enough`, what was found so far.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.decisions.accepted_ranks import chance_of_keeping
    >>> chance_of_keeping(np.array([-1, 0]), np.array([1, 2]), 0.5)  # no error before the second right row
    0.25
    """
    last = int(limits.max())  # a walk with more errors than this will keep no limit
    kept, low, before = 0.0, 0, 0
    walk = np.ones(1)  # the probabilities of low, low + 1, … errors, and no limit kept so far
    for count, limit in zip(counts.tolist(), limits.tolist(), strict=True):
        offset, step = _errors_before(count - before, precision)
        large = len(walk) * len(step) > 100_000
        walk = signal.fftconvolve(walk, step) if large else np.convolve(walk, step)
        low, before = low + offset, count
        cut = max(min(limit + 1 - low, len(walk)), 0)
        kept += float(walk[:cut].sum())
        highest = min(last, _errors_before_range(count, precision)[1])
        walk, low = walk[cut : max(highest + 1 - low, cut)], low + cut
        if kept > enough or len(walk) == 0:
            break
    return kept


def _errors_before_range(right: int, precision: float) -> tuple[int, int]:
    mean = right * (1.0 - precision) / precision
    width = FAR * np.sqrt(mean / precision) + TAIL
    return max(int(mean - width), 0), int(mean + width)


@lru_cache(maxsize=4096)
def _errors_before(right: int, precision: float) -> tuple[int, Floats]:
    """The number of errors before so many right rows: the least that counts, and probabilities from there on."""
    low, high = _errors_before_range(right, precision)
    errors = np.arange(low, high + 1)
    logs = special.gammaln(errors + right) - special.gammaln(errors + 1.0) - special.gammaln(right)
    return low, np.exp(logs + errors * np.log1p(-precision) + right * np.log(precision))
