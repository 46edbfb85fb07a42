"""Fitting the model of segments to counts at coarse scores: terms for keys and pairs of keys, each given all others."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from calibrant._numerics import bins
from calibrant._typing import Floats, Ints
from calibrant.maps.keys import SegmentCounts
from calibrant.maps.segments import CURVE, LINE, AnyBasis
from calibrant.segments.group_effects import ClassGroups, Groups
from calibrant.segments.terms import Term
from calibrant.tally import Tally

MAX_CELLS = 256  # of the pooled scores, within which effects do not vary
MANY_CELLS = 200_000  # of scores and segments, from which on
FEW_CELLS = 16  # of the pooled scores are enough
MOST_ROUNDS = 30
TOLERANCE = 5e-3  # of the largest change of a cell's logit in a round
# Prior probability of a difference. A key is more likely to have curves where its segments are also shifted, and a
# pair of keys to have effects of its own where both keys have some.
LINE_OF_KEY, LINE_OF_PAIR, LINE_OF_ALL = 0.25, 0.3, 0.1
CURVE_OF_KEY, CURVE_OF_SHIFTED_KEY, CURVE_OF_PAIR, CURVE_OF_ALL = 0.02, 0.05, 0.15, 0.2
KEPT = 0.15  # the probability of a difference from which on a pair of keys is kept
LEAST_PRIOR = 1e-3  # terms less probable than that are not tried
CURVED = 0.5  # and from which on it may have curves


@dataclass(frozen=True, eq=False)
class Cells(SegmentCounts):
    """Counts at each coarse score and combination of segments, with pooled logits: the terms are fitted to them.

    With several classes these are rows: scores, counts of each class and pooled logits are (n, K).
    """

    pooled: Floats

    def group(self, codes: Ints, count: int, columns: Floats) -> Groups:
        """The cells in groups with these numbers."""
        kind = Groups if self.pooled.ndim == 1 else ClassGroups
        return kind.of(codes, count, columns, self.positives, self.totals)


def join_cells(counts: SegmentCounts, pooled: Tally) -> tuple[SegmentCounts, Floats, Floats]:
    """The counts at coarse scores, and the coarse scores of all rows with their numbers of rows. O(n log n)."""
    for most in (MAX_CELLS, FEW_CELLS):
        starts = bins.equal_mass_starts(pooled.totals, most)
        totals = np.add.reduceat(pooled.totals, starts)
        coarse = np.add.reduceat(pooled.scores * pooled.totals, starts) / totals
        place = bins.group_numbers(starts, len(pooled))[np.searchsorted(pooled.scores, counts.scores)]
        joined = replace(counts, scores=coarse[place]).merged(place)
        if len(joined.scores) <= MANY_CELLS:
            break
    return joined, coarse, totals


TermName = tuple[tuple[int, ...], str]


def fit_terms(cells: Cells, basis: AnyBasis) -> dict[TermName, tuple[Term, Ints]]:
    """All terms with the segments of each; a term is named by the numbers of its keys, and its kind.

    Keys are first tried alone and enter in the order of what they gain, so that their order does not matter. Pairs of
    keys are tried on top of them, and those for which something speaks stay; then their curves. The term without keys
    corrects the pooled curve, which was fitted as if there were no segments. Each update is O(cells).
    """
    search = _Search(cells, basis)
    keys = range(cells.codes.shape[1])
    single: list[tuple[int, ...]] = [(), *((k,) for k in keys)]
    search.add(single, LINE, 0.0)
    search.add(single, CURVE, 0.0)
    search.add(list(combinations(keys, 2)), LINE, KEPT)
    search.add(
        [m for (m, _), (term, _) in search.terms.items() if len(m) == 2 and term.difference > CURVED], CURVE, KEPT
    )
    return search.terms


class _Search:
    """The terms so far, and the logits of the cells with them."""

    def __init__(self, cells: Cells, basis: AnyBasis) -> None:
        self.cells, self.basis = cells, basis
        self.terms: dict[TermName, tuple[Term, Ints]] = {}
        self.order: list[TermName] = []
        self.logits = cells.pooled.copy()

    def add(self, sets: Sequence[tuple[int, ...]], kind: str, least: float) -> None:
        """Try each set of keys on top of what is there, keep those that differ with probability `least`, iterate."""
        if kind not in self.basis.sizes:
            return
        columns = self.basis.columns(kind, self.cells.scores, self.cells.pooled)
        tried = {}
        for members in sets:
            levels, codes = np.unique(self.cells.codes[:, list(members)], axis=0, return_inverse=True)
            if (members and len(levels) == 1) or self.prior(members, kind) < LEAST_PRIOR:
                continue
            term = Term(
                kind, 1.0 - self.prior(members, kind), self.cells.group(codes.reshape(-1), len(levels), columns)
            )
            if least and not term.promises(self.logits):
                continue
            term.update(self.logits, everything=True)
            if term.difference >= least:
                tried[members, kind] = (term, levels)
        if not tried:
            return
        # They were tried one by one, each as if alone; now all enter with no effect, the strongest first, and are
        # fitted in turn: what two keys could both explain goes to the one that explains more by itself.
        self.order += sorted(tried, key=lambda name: -tried[name][0].difference)
        for term, _ in tried.values():
            term.clear()
        self.terms |= tried
        self.iterate()

    def prior(self, members: tuple[int, ...], kind: str) -> float:
        """How probable a difference is before looking, given the terms that are there."""
        if not members:
            return LINE_OF_ALL if kind == LINE else CURVE_OF_ALL
        if kind == CURVE:
            shifted = self.difference(members)
            return CURVE_OF_PAIR * shifted if len(members) == 2 else CURVE_OF_KEY + CURVE_OF_SHIFTED_KEY * shifted
        return LINE_OF_KEY if len(members) == 1 else LINE_OF_PAIR * math.prod(self.difference((k,)) for k in members)

    def difference(self, members: tuple[int, ...]) -> float:
        """The probability so far that the segments of these keys are shifted."""
        term = self.terms.get((members, LINE))
        return 0.0 if term is None else term[0].difference

    def iterate(self) -> None:
        """Fit each term given the others until no logit moves."""
        for number in range(MOST_ROUNDS):
            before = self.logits.copy()
            for name in self.order:
                term, _ = self.terms[name]
                offset = self.logits - term.values()
                term.update(offset, everything=number == 0)
                self.logits = offset + term.values()
            if np.abs(self.logits - before).max(initial=0.0) < TOLERANCE:
                break
