"""The one container of data: how many positives, out of how many, at each score."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from calibrant import _validation
from calibrant._numerics import bins
from calibrant._tables import make_frame
from calibrant._typing import ArrayLike, Floats
from calibrant.errors import InvalidInputError, ModelFileError


@dataclass(frozen=True, eq=False, repr=False)
class Tally:
    """Counts of positives and rows at each distinct score, sorted by score.

    A tally is immutable and mergeable: ``Tally.empty()`` is neutral, ``+`` is associative and commutative, and
    the sum of the tallies of shards is the tally of the whole. All data are checked when a tally is made, so
    whoever holds one holds checked data. Make one with `from_arrays`, not with the constructor.

    Scores that agree in about 12 digits, as p and 1 − (1 − p) do, are one score: the smallest of them. Those next to 1
    are taken as they are, since the odds of 1 − 1e-13 and 1 − 1e-15 differ a hundredfold.

    Attributes
    ----------
    scores : ndarray of shape (m,)
        The distinct scores (or, after `coarsen`, mean scores of cells), increasing.
    positives, totals : ndarray of shape (m,)
        Weighted number of positive rows, and of all rows, in each cell.

    Examples
    --------
    >>> from calibrant import Tally
    >>> tally = Tally.from_arrays([0.2, 0.8, 0.8, 0.9], [0, 0, 1, 1])
    >>> tally
    Tally(3 cells at 0.2 … 0.9, 4 rows, 2 positive (50 %))
    >>> tally.positives.tolist(), tally.totals.tolist()
    ([0.0, 1.0, 1.0], [1.0, 2.0, 1.0])
    """

    scores: Floats
    positives: Floats
    totals: Floats
    # Most methods coarsen, several of them alike, and that costs as much as a whole fit of what remains.
    _coarser: dict[int, Tally] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        for name in ("scores", "positives", "totals"):
            frozen = np.asarray(getattr(self, name), dtype=np.float64).view()
            frozen.setflags(write=False)
            object.__setattr__(self, name, frozen)

    @classmethod
    def from_arrays(
        cls,
        scores: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
        max_cells: int | None = None,
        *,
        graded: bool = False,
    ) -> Tally:
        """Check, sort and count rows.

        Parameters
        ----------
        scores : array-like of shape (n,), (n, 1) or (n, 2)
            Any finite numbers; with two columns, the probabilities of the negative and the positive class.
        y : array-like of shape (n,)
            Labels: bool, {0, 1}, {-1, 1}, or any two values of which `pos_label` is the positive one.
        sample_weight : array-like of shape (n,), optional
            Non-negative weights. A weight of 2 is the row twice; rows of weight 0 do not count.
        pos_label : label, optional
            The positive class.
        max_cells : int, optional
            Merge neighbours into at most this many cells; see `coarsen`.
        graded : bool
            Whether labels are grades from 0 to 1, each counted as that part of a positive row. Grades vary less than
            labels of two kinds with the same mean, so intervals from such a tally are rather too wide; the `fit` of a
            calibrator with ``graded=True`` allows for that.

        Returns
        -------
        Tally
        """
        score_array = _validation.check_scores(scores)
        _validation.check_range(score_array)
        positive: Any = _validation.check_grades(y) if graded else _validation.encode_labels(y, pos_label)[0]
        _validation.check_same_length(len(score_array), len(positive), "y")
        weights = _validation.check_weights(sample_weight, len(score_array))
        if len(score_array) == 0:
            raise InvalidInputError(
                "`scores` must have at least one row; got 0 sample(s). Use Tally.empty() to start an empty sum."
            )
        if weights is None and not graded:
            tally = cls(*bins.group_labels(score_array, positive))
        else:
            weights = np.ones(len(score_array)) if weights is None else weights
            if weights.min() == 0.0:
                kept = weights > 0.0
                score_array, positive, weights = score_array[kept], positive[kept], weights[kept]
            tally = cls(*bins.group_sums(score_array, weights * positive, weights))
        return tally if max_cells is None else tally.coarsen(max_cells)

    @classmethod
    def empty(cls) -> Tally:
        """The tally of no rows, neutral under ``+``."""
        return cls(np.empty(0), np.empty(0), np.empty(0))

    def __add__(self, other: Tally) -> Tally:
        if not isinstance(other, Tally):
            return NotImplemented
        if len(self) == 0 or len(other) == 0:
            return other if len(self) == 0 else self
        pairs = zip(self._columns(), other._columns(), strict=True)
        return Tally(*bins.group_sums(*(np.concatenate(pair) for pair in pairs)))

    def coarsen(self, max_cells: int) -> Tally:
        """Merge neighbours into at most `max_cells` cells of nearly equal mass.

        Ties are never split, sums stay exact, and a cell's score becomes its mean score. A tally whose
        distinct scores already fit is returned unchanged.
        """
        _validation.check_count("max_cells", max_cells)
        if len(self) <= max_cells:
            return self
        if max_cells in self._coarser:
            return self._coarser[max_cells]
        starts = bins.equal_mass_starts(self.totals, int(max_cells))
        totals = np.add.reduceat(self.totals, starts)
        # A mean taken around the first score of the cell keeps its digits where scores are large and close.
        first = self.scores[starts]
        offsets = self.scores - np.repeat(first, np.diff(np.append(starts, len(self))))
        means = first + np.add.reduceat(offsets * self.totals, starts) / totals
        last = self.scores[np.append(starts[1:], len(self)) - 1]
        coarser = Tally(np.clip(means, first, last), np.add.reduceat(self.positives, starts), totals)
        return self._coarser.setdefault(max_cells, coarser)

    def rescored(self, scores: ArrayLike) -> Tally:
        """The same rows with new scores, one for each cell: what a tally looks like after a calibration map.

        Examples
        --------
        >>> from calibrant import Tally
        >>> Tally.from_arrays([1, 2, 3], [0, 1, 1]).rescored([0.5, 0.9, 0.5]).totals.tolist()
        [2.0, 1.0]
        """
        new = _validation.check_scores(scores)
        _validation.check_same_length(len(self), len(new), "scores")
        return Tally(*bins.group_sums(new, self.positives, self.totals)) if len(new) else self

    def scaled(self, factor: float) -> Tally:
        """The same rows, each counted `factor` times: how older rows are made to count less.

        Examples
        --------
        >>> from calibrant import Tally
        >>> Tally.from_arrays([1, 2], [0, 1]).scaled(0.5).totals.tolist()
        [0.5, 0.5]
        """
        factor = _validation.check_number("factor", factor, "positive")
        return Tally(self.scores, factor * self.positives, factor * self.totals)

    @property
    def negatives(self) -> Floats:
        """Weighted number of negative rows in each cell."""
        return self.totals - self.positives

    @property
    def total(self) -> float:
        """Weighted number of rows."""
        return float(self.totals.sum())

    @property
    def total_positive(self) -> float:
        """Weighted number of positive rows."""
        return float(self.positives.sum())

    @property
    def base_rate(self) -> float:
        """Share of positive rows."""
        if len(self) == 0:
            raise InvalidInputError("An empty tally has no base rate; add rows first.")
        return self.total_positive / self.total

    def to_dict(self) -> dict[str, list[float]]:
        """Plain lists, ready for JSON."""
        return {name: getattr(self, name).tolist() for name in ("scores", "positives", "totals")}

    def to_frame(self) -> Any:
        """A pandas data frame with a row for each cell.

        Examples
        --------
        >>> from calibrant import Tally
        >>> Tally.from_arrays([0.2, 0.8, 0.8], [0, 0, 1]).to_frame().columns.tolist()
        ['score', 'positives', 'total']
        """
        return make_frame({"score": self.scores, "positives": self.positives, "total": self.totals})

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Tally:
        """The tally that `to_dict` described; anything that no tally can be is refused."""
        given = data or {}
        columns = [_validation.as_floats(given.get(name, np.nan), name) for name in ("scores", "positives", "totals")]
        scores, positives, totals = columns
        sound = (
            all(c.shape == scores.shape and c.ndim == 1 and np.isfinite(c).all() for c in columns)
            and (np.diff(scores) > 0).all()
            and (totals > 0).all()
            and ((positives >= 0) & (positives <= totals)).all()
        )
        if not sound:
            raise ModelFileError(
                "A tally needs lists of increasing finite `scores` and of 0 ≤ `positives` ≤ `totals`, totals > 0, of "
                "one length; these are damaged."
            )
        return cls(scores, positives, totals)

    def _columns(self) -> tuple[Floats, Floats, Floats]:
        return self.scores, self.positives, self.totals

    def __len__(self) -> int:
        return len(self.scores)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tally):
            return NotImplemented
        return all(np.array_equal(a, b) for a, b in zip(self._columns(), other._columns(), strict=True))

    __hash__ = None  # type: ignore[assignment]  # equal by content, too large to hash

    def __repr__(self) -> str:
        if len(self) == 0:
            return "Tally(empty)"
        return (
            f"Tally({len(self)} cells at {self.scores[0]:.6g} … {self.scores[-1]:.6g}, {row_count(self.total)} rows, "
            f"{row_count(self.total_positive)} positive ({100 * self.base_rate:.3g} %))"
        )


def to_tally(
    scores: ArrayLike | Tally, y: ArrayLike | None, sample_weight: ArrayLike | None = None, pos_label: Any = None
) -> Tally:
    """The tally of scores and labels, or the tally that was passed in place of them.

    Examples
    --------
    >>> from calibrant.tally import to_tally
    >>> to_tally([0.2, 0.8], [0, 1])
    Tally(2 cells at 0.2 … 0.8, 2 rows, 1 positive (50 %))
    """
    if isinstance(scores, Tally):
        if any(extra is not None for extra in (y, sample_weight, pos_label)):
            raise InvalidInputError("A tally holds scores, labels and weights: pass it alone, or scores and `y`.")
        return scores
    if y is None:
        raise InvalidInputError("`y` must be given together with scores; or pass a Tally alone.")
    return Tally.from_arrays(scores, y, sample_weight, _validation.choose_positive(y, pos_label))


def row_count(rows: float) -> str:
    """A number of rows as one writes it: all its digits, and decimals only where weights are not whole.

    Examples
    --------
    >>> from calibrant.tally import row_count
    >>> row_count(12_345_678.0), row_count(0.25)
    ('12345678', '0.25')
    """
    return f"{rows:.0f}" if rows == round(rows) else f"{rows:.6g}"
