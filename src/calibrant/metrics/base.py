"""The beginning of every metric: arrays or a tally in, a checked tally out; and bins of that tally."""

from collections import Counter
from collections.abc import Callable, Iterable
from numbers import Integral
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from calibrant import _validation
from calibrant._numerics import bins
from calibrant._typing import ArrayLike, Floats, Ints
from calibrant._validation import check_choice
from calibrant.errors import InvalidInputError
from calibrant.tally import Tally, row_count

STRATEGIES = ("uniform", "quantile", "cells")
AUTO = "auto"

Rows: TypeAlias = ArrayLike | Tally  # labels of the rows, or a tally in place of all data
Column: TypeAlias = ArrayLike | None
Metric: TypeAlias = Callable[[Tally], float]
Seed: TypeAlias = int | np.random.Generator | None


def as_tally(
    y_true: Rows,
    y_prob: Column = None,
    sample_weight: Column = None,
    pos_label: Any = None,
    *,
    probabilities: bool = True,
) -> Tally:
    """The tally of `y_prob` and `y_true`, or the tally that was given in their place.

    With `probabilities`, scores outside [0, 1] are refused.
    """
    if isinstance(y_true, Tally):
        if y_prob is not None or sample_weight is not None or pos_label is not None:
            raise InvalidInputError(
                "A tally holds probabilities, labels and weights: pass it alone, without `y_prob`, `sample_weight` or "
                "`pos_label`."
            )
        if len(y_true) == 0:
            raise InvalidInputError("A metric needs at least one row; the tally is empty.")
        if probabilities:
            _validation.check_unit_interval(y_true.scores, "y_prob")
        return y_true
    if y_prob is None:
        raise InvalidInputError("`y_prob` must be given together with `y_true`; or pass a Tally alone.")
    scores = _validation.check_scores(y_prob, "y_prob")
    if probabilities:
        _validation.check_unit_interval(scores, "y_prob")
    return Tally.from_arrays(scores, y_true, sample_weight, pos_label)


def both_classes(tally: Tally, metric: str) -> None:
    """Refuse rows of one class only, where the metric has no value."""
    if not 0.0 < tally.total_positive < tally.total:
        raise InvalidInputError(
            f"{metric} needs rows of both classes; got 1 class, {'all' if tally.total_positive else 'none'} of the "
            f"{row_count(tally.total)} rows positive. It has no value here."
        )


class Bins(NamedTuple):
    """Mean score, share of positives, and mass (number of rows) of each bin that holds rows."""

    score: Floats
    rate: Floats
    mass: Floats

    @property
    def gap(self) -> Floats:
        """Mean score minus share of positives."""
        return self.score - self.rate

    @property
    def share(self) -> Floats:
        """Share of all rows."""
        out: Floats = self.mass / self.mass.sum()
        return out

    def norm(self, p: float) -> float:
        """The L^p norm of the gaps over the rows; infinity gives the largest gap."""
        if not p >= 1.0:
            raise InvalidInputError(f"`p` must be at least 1 (infinity gives the maximum); got {p!r}.")
        sizes = np.abs(self.gap)
        return float(sizes.max() if np.isinf(p) else (self.share @ sizes**p) ** (1.0 / p))


def binned(tally: Tally, n_bins: int | str, strategy: str) -> Bins:
    """Join cells to bins by the one bin rule; empty bins do not exist. O(m)."""
    if check_choice("strategy", strategy, STRATEGIES) == "cells":
        return Bins(tally.scores, tally.positives / tally.totals, tally.totals)
    return sums_from(tally, bin_starts(tally, bin_number(n_bins, tally.total), strategy))


def bin_starts(tally: Tally, n_bins: int, strategy: str) -> Ints:
    """The first cell of each bin that has rows."""
    if strategy == "quantile":
        return bins.equal_mass_starts(tally.totals, n_bins)
    # The cells are sorted, so a bin, closed on the right, begins behind the last score that is at most its lower edge.
    first = np.searchsorted(tally.scores, bins.equal_width_edges(n_bins), side="right")
    return np.unique(np.concatenate(([0], first[first < len(tally)])))


def sums_from(tally: Tally, starts: Ints) -> Bins:
    """The bins that begin at the given cells."""
    mass = np.add.reduceat(tally.totals, starts)
    score = np.add.reduceat(tally.scores * tally.totals, starts) / mass
    return Bins(score, np.add.reduceat(tally.positives, starts) / mass, mass)


def bin_number(n_bins: Any, total: float, most: float = np.inf) -> int:
    """The number of bins: as given, or with "auto" the cube root of the number of rows, rounded up, at most `most`."""
    if isinstance(n_bins, str) and n_bins == AUTO:
        return int(np.clip(np.ceil(np.cbrt(total) - 1e-9), 1, most))
    if isinstance(n_bins, bool) or not isinstance(n_bins, Integral) or n_bins < 1:
        raise InvalidInputError(f"`n_bins` must be a positive integer or 'auto'; got {n_bins!r}.")
    return int(n_bins)


def number_repeated(names: Iterable[str]) -> list[str]:
    """The names, with a number behind each that occurred before: "platt", "platt 2"."""
    seen: Counter[str] = Counter()
    numbered = []
    for name in names:
        seen[name] += 1
        numbered.append(name if seen[name] == 1 else f"{name} {seen[name]}")
    return numbered
