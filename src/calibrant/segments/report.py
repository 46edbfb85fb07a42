"""What the model found about each segment, as a table that prints itself."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from calibrant._tables import align, make_frame
from calibrant._typing import Floats
from calibrant.maps.matrix import MatrixMap
from calibrant.maps.segments import SegmentedMap
from calibrant.segments.search import Cells
from calibrant.tally import row_count

LEVEL = 0.9
HEADERS = ("key", "segment", "rows", "base rate", "shift", "90 % interval", "differs")
MOST_PRINTED = 30
MOST_NAMED = 5


@dataclass(frozen=True)
class SegmentRow:
    """One segment of one key.

    Attributes
    ----------
    key, segment : str, value
        The name of the key and the segment; None is the segment of rows without a value.
    rows, base_rate : float
        Its number of rows and its share of positives.
    shift, low, high : float
        The mean shift of its rows on the logit scale against the pooled map, with its 90 % interval. With several
        keys this is the part of this key alone.
    differs : bool
        Whether the interval leaves out 0.
    label : value
        The class that base rate and shift are of, against all others; None with one score.
    """

    key: str
    segment: Any
    rows: float
    base_rate: float
    shift: float
    low: float
    high: float
    differs: bool
    label: Any = None

    @property
    def title(self) -> str:
        """The segment and, with several classes, the class."""
        return str(self.segment) if self.label is None else f"{self.segment}, class {self.label}"

    def texts(self) -> tuple[str, ...]:
        """The cells of its line in the printed table."""
        interval = f"[{self.low:+.2f}, {self.high:+.2f}]"
        return (
            self.key,
            self.title,
            row_count(self.rows),
            f"{self.base_rate:.3f}",
            f"{self.shift:+.2f}",
            interval,
            "yes" if self.differs else "",
        )


@dataclass(frozen=True, repr=False)
class SegmentTable:
    """All segments of all keys, and how probable it is that each key matters.

    Attributes
    ----------
    rows : tuple of SegmentRow
        In the order of keys and segments.
    differences : dict of str to float
        For each key and each pair of keys that was kept ("a × b"): the probability that its segments differ.
    """

    rows: tuple[SegmentRow, ...]
    differences: dict[str, float]

    def __iter__(self) -> Iterator[SegmentRow]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def to_records(self) -> list[dict[str, Any]]:
        """Plain dictionaries, ready for a data frame."""
        several = any(row.label is not None for row in self.rows)
        return [{name: value for name, value in vars(row).items() if several or name != "label"} for row in self.rows]

    def to_frame(self) -> Any:
        """A pandas data frame with a row for each segment."""
        return make_frame(self.to_records())

    def summary(self) -> str:
        """Which segments differ, in a sentence."""
        keys = {row.key for row in self.rows}
        parts = "segments" if self.rows[0].label is None else "classes within segments"
        of = f"{len(self)} {parts}" + (f" of {self.rows[0].key}" if len(keys) == 1 else "")
        differing = [row for row in self._ranked() if row.differs]
        if not differing:
            return f"None of {of} differs from the pooled map as far as these rows can tell."
        named = ", ".join(
            (f"{row.key} = " if len(keys) > 1 else "") + f"{row.title} ({row.shift:+.2f})"
            for row in differing[:MOST_NAMED]
        )
        more = f" and {len(differing) - MOST_NAMED} more" if len(differing) > MOST_NAMED else ""
        pairs = [name for name, p in self.differences.items() if " × " in name and p > LEVEL]
        ends = f"; pairs of {', '.join(pairs)} differ beyond that" if pairs else ""
        verb = "differs" if len(differing) == 1 else "differ"
        how_many = f"{len(differing)} of {of} {verb} from the pooled map"
        return f"{how_many}, by this much on the logit scale: {named}{more}{ends}."

    def _ranked(self) -> list[SegmentRow]:
        return sorted(self.rows, key=lambda row: (not row.differs, -abs(row.shift)))

    def __repr__(self) -> str:
        ranked = self._ranked()
        lines = [HEADERS, *(row.texts() for row in ranked[:MOST_PRINTED])]
        shown = align(lines)
        if len(ranked) > MOST_PRINTED:
            shown.append(f"… and {len(ranked) - MOST_PRINTED} more")
        shown += [f"{name}: segments differ with probability {p:.2f}" for name, p in self.differences.items()]
        return "\n".join(shown)


def tabulate_segments(map_: SegmentedMap, cells: Cells) -> SegmentTable:
    """The table of the segments that the model was fitted to; O(cells) for each term."""
    rows: list[SegmentRow] = []
    labels = map_.pooled.classes if isinstance(map_.pooled, MatrixMap) else (None,)
    for k, name in enumerate(map_.keys.names):
        totals, rates, *shifts = _describe_segments(map_, cells, k)
        columns = (
            np.broadcast_to(x, (len(labels), len(totals))).T.tolist() for x in (totals, rates.T, *(y.T for y in shifts))
        )
        rows += [
            SegmentRow(name, segment, n, rate, a, a - h, a + h, abs(a) > h, label)
            for segment, *lines in zip(map_.keys.levels[k], *columns, strict=True)
            for label, n, rate, a, h in zip(labels, *lines, strict=True)
        ]
    return SegmentTable(tuple(rows), _differences(map_))


def _describe_segments(map_: SegmentedMap, cells: Cells, k: int) -> tuple[Floats, Floats, Floats, Floats]:
    """Rows of each segment of key k, base rate, the mean effect of the key on its rows, half its interval's width."""
    size, codes = map_.keys.sizes[k], cells.codes[:, k]
    totals, positives = np.zeros(size), np.zeros((size, *cells.pooled.shape[1:]))
    np.add.at(totals, codes, cells.totals)
    np.add.at(positives, codes, cells.positives)
    shift, variance = np.zeros(positives.shape), np.zeros(positives.shape)
    for term in map_.terms:
        if term.keys == (k,):
            centres = np.zeros((*positives.shape, map_.basis.sizes[term.kind]))
            for rows in map_.chunks(cells.pooled):
                columns = map_.basis.columns(term.kind, cells.scores[rows], cells.pooled[rows])
                own = map_.basis.against_rest(cells.pooled[rows], {term.kind: columns})[1][term.kind]
                np.add.at(centres, codes[rows], (own.T * (cells.totals[rows] / totals[codes[rows]])).T)
            shift += np.einsum("i...j,ij->i...", centres, term.mean)
            variance += np.einsum("i...j,ijk,i...k->i...", centres, term.wide, centres)
    half = -special.ndtri(0.5 * (1.0 - LEVEL)) * np.sqrt(variance)
    return totals, (positives.T / totals).T, shift, half


def _differences(map_: SegmentedMap) -> dict[str, float]:
    """A key's segments differ unless all of its terms say that they do not."""
    same = dict.fromkeys(map_.keys.names, 1.0)
    for term in map_.terms:
        if term.keys:
            name = " × ".join(map_.keys.names[k] for k in term.keys)
            same[name] = same.get(name, 1.0) * (1.0 - term.difference)
    return {name: 1.0 - p for name, p in same.items()}
