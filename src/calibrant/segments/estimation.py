"""Answers about rows without labels, each in a segment: one map for all, set to the level of each segment's labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from calibrant import _limits
from calibrant._typing import Floats, Ints
from calibrant.errors import InvalidInputError
from calibrant.estimates import rows
from calibrant.maps.keys import SegmentCounts, combine, name_columns
from calibrant.maps.segments import SegmentedMap

FEWEST_CELLS = 16  # of each segment, however many there are

Rows: TypeAlias = tuple[Floats, Ints]  # scores, (n,), and numbers of segments, (n, keys), in the order of these


class SegmentWorlds(NamedTuple):
    """A fitted map of segments as estimates ask for it, and the labelled rows that it was learned from."""

    map_: SegmentedMap
    labelled: SegmentCounts

    def read(self, scores: Any, segment: Any) -> Rows:
        """Rows with the segment of each; or all of one segment, a value or with several keys a tuple."""
        if self.map_.last is not None:
            raise InvalidInputError("Estimates by segment need one score of each row; got several classes.")
        if isinstance(segment, tuple) or (np.ndim(segment) == 0 and not isinstance(segment, Mapping | None)):
            columns = name_columns([segment], self.map_.keys.names)
            segment = {name: np.repeat(column, len(scores)) for name, column in columns.items()}
        array, codes = self.map_.check(scores, segment)
        order, first = np.lexsort((array, *codes.T[::-1])), self.map_.first
        return (array if first is None else first(array))[order], codes[order]

    def predict(self, unlabelled: Rows) -> Floats:
        return self.map_.basis.probabilities(self.map_.logits(*unlabelled))

    def outside(self, unlabelled: Rows) -> tuple[None, str]:
        """A warning of rows whose segment has no labels; it is not known how many scores are outside of a range."""
        known = {tuple(line) for line in self.labelled.codes.tolist()}
        new = np.mean([tuple(line) not in known for line in unlabelled[1].tolist()])
        text = f"{100 * new:.3g} % of the rows are of segments without labels; the answer for them rests on the others."
        return None, text if new else ""

    def draw_chunks(self, unlabelled: Rows, n_draws: int, seed: int) -> Iterator[Floats]:
        """The fitted map, then draws of it, of one segment after the other; rows of like scores are drawn as one."""
        known, (scores, codes) = self.labelled, unlabelled
        of_known, of_row = np.split(combine(np.vstack((known.codes, codes)) + 1), [len(known.codes)])
        group, mean = rows.alike(scores, max(_limits.ESTIMATE_CELLS // (int(of_row.max()) + 1), FEWEST_CELLS))
        _, first, cell = np.unique(combine(np.column_stack((of_row, group))), return_index=True, return_inverse=True)
        # All labelled rows come first, so that for any other rows the maps and the noise of each segment are the same.
        at, at_codes = np.append(known.scores, mean[group[first]]), np.vstack((known.codes, codes[first]))
        drawn = self.map_.draw(at, at_codes, np.random.default_rng(seed), n_draws)
        maps = self.map_.basis.probabilities(np.vstack((self.map_.logits(at, at_codes), drawn)))
        for number in np.unique(of_row).tolist():
            own, mine = of_known == number, cell[of_row == number]
            part = maps[:, np.append(own, of_row[first] == number)]
            rng = np.random.default_rng([seed, *known.codes[own][:1].ravel().tolist()])
            yield rows.set_to_level(part, known.positives[own], known.totals[own], rng)[:, mine - mine[0]]
