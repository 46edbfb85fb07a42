"""The inputs and the graph of a map of any shape; of several scores, sums of functions and a few of their products."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from calibrant._numerics import links
from calibrant._typing import Floats
from calibrant.errors import InvalidInputError
from calibrant.export import expression_graph as graph
from calibrant.maps import panel_features
from calibrant.maps.base import domain
from calibrant.maps.functions import Linear
from calibrant.maps.matrix import MatrixMap
from calibrant.maps.panel import PanelMap
from calibrant.maps.panel_features import CALIBRATED, LARGEST_SIDE, LARGEST_U, RAW, CategoryScore, NumericScore

ANY_MISSING, MOST_MISSING = 3, 5  # every set of missing scores has weights of its own for the others
ZERO = graph.Number(0.0)
#: What makes a function of one score, or of a sum of several, fit for a language.
Part: TypeAlias = Callable[[graph.Node], graph.Node]


def optional_scores(map_: PanelMap) -> list[int]:
    """The scores that a row of an export may lack: any of a few; of many, those that were missing in the fit."""
    gaps, n_numeric = map_.features.gaps.tolist(), map_.features.n_numeric
    if len(gaps) > MOST_MISSING:
        raise InvalidInputError(
            f"A map of several scores can leave Python if at most {MOST_MISSING} of them were missing in some rows of "
            f"the fit; here {len(gaps)} were. Save it: `calibrant.load` needs numpy alone."
        )
    return list(range(n_numeric)) if n_numeric <= ANY_MISSING else gaps


def names_of(map_: Any) -> list[str]:
    """What the inputs of a map are called: one score, all of a matrix, or each of several."""
    if isinstance(map_, PanelMap):
        return [score.name for score in map_.features.scores]
    return ["scores" if isinstance(map_, MatrixMap) else "score"]


def domains(map_: Any) -> dict[int, tuple[float, float, bool]]:
    """The bounds of each numeric input by its number, and whether a row may lack it."""
    if not isinstance(map_, PanelMap):
        return {0: (*domain(map_.space), False)}
    may_lack, scores = optional_scores(map_), enumerate(map_.features.scores)
    return {j: (*domain(s.space), j in may_lack) for j, s in scores if isinstance(s, NumericScore)}


def graph_of(map_: Any) -> graph.Node:
    """The graph of a map, whose columns are numbered as its inputs are."""
    if isinstance(map_, PanelMap):
        return lower_panel(map_)
    return graph.lower_matrix(map_) if isinstance(map_, MatrixMap) else graph.lower(map_.function)


def lower_panel(map_: PanelMap, part: Part = lambda node: node) -> graph.Node:
    """The graph of a map of several scores, whose columns are numbered as its scores are."""
    panel = PanelGraph(map_, part)
    members = [panel.sum(0), panel.sum(1), panel.mean(), *map(panel.alone, range(len(map_.features.scores)))]
    said = [member * weight for member, weight in zip(members, map_.weights.tolist(), strict=True)]
    return graph.share(_total(said))


class PanelGraph:
    """Writes the members of a map; what `maps.panel_features` does with arrays, one value at a time."""

    def __init__(self, map_: PanelMap, part: Part) -> None:
        self.map, self.features, self.part = map_, map_.features, part
        self.optional = optional_scores(map_)

    def sum(self, s: int) -> graph.Node:
        """One of the two sums over scores."""
        features, linear = self.features, self.map.linear[s]
        terms: list[graph.Node] = [graph.Number(float(linear[0]))]
        for r in (*RAW, CALIBRATED):
            own = linear[features.places["reading", r]]
            terms.append(self.completed(r, own * features.spread[r, : len(own)]))
        for j, score in enumerate(features.scores):
            if isinstance(score, NumericScore):
                terms.append(self.given(j, self.waves(j, linear[features.places["curve", j]]), ZERO))
            else:
                terms.append(self.by_level(j, linear[features.places["levels", j]], 0.0))
        for j, gap in zip(features.gaps.tolist(), linear[features.places["missing"]].tolist(), strict=True):
            terms.append(self.given(j, ZERO, graph.Number(gap)))
        for a, b in features.pairs:
            # A matrix is the sum of a few products of two vectors: so few functions of each score are needed.
            lefts, sizes, rights = np.linalg.svd(
                linear[features.places["pair", a, b]].reshape(features.side_size(a), -1), full_matrices=False
            )
            for left, size, right in zip(lefts.T, sizes.tolist(), rights, strict=True):
                terms.append(self.side(a, left) * self.side(b, right) * size)
        return graph.expit(_total(terms))

    def mean(self) -> graph.Node:
        """What the mean score says."""
        features, k = self.features, self.features.n_numeric
        kinds = np.where(np.arange(len(features.scores)) < k, RAW[0], CALIBRATED)
        each = np.arange(len(kinds))
        weights = features.mean_weights * features.spread[kinds, each]
        terms = [self.deviation(CALIBRATED, j) * float(weights[j]) for j in range(k, len(kinds))]
        terms.append(self.completed(RAW[0], weights[:k]) + float(features.mean_weights @ features.centre[kinds, each]))
        end = float(links.logit(np.array(1.0 - panel_features.LEAST_MEAN)))
        return graph.expit(self.part(graph.logits_at(self.map.mean_map, graph.clip(_total(terms), -end, end))))

    def alone(self, j: int) -> graph.Node:
        """What one score says."""
        score = self.features.scores[j]
        if isinstance(score, CategoryScore):
            return self.by_level(j, score.rates, score.base)
        said = graph.expit(self.part(graph.logits_of(score.alone, graph.Score(j))))
        return self.given(j, said, graph.Number(score.missing_rate))

    def given(self, j: int, value: graph.Node, missing: graph.Node) -> graph.Node:
        """A value where a score is there, another where it is missing."""
        return _choice(j, {None: missing}, value) if j in self.optional else value

    def by_level(self, j: int, values: Floats, otherwise: float) -> graph.Node:
        """The number of a level, in every way in which that may be written."""
        branches: dict[Any, graph.Node] = {}
        score: Any = self.features.scores[j]
        for level, value in zip(score.levels, values.tolist(), strict=True):
            branches |= dict.fromkeys(spellings(level), graph.Number(value))
        return _choice(j, branches, graph.Number(otherwise))

    def deviation(self, r: int, j: int) -> graph.Node:
        """A reading's deviation from its centre, in spreads; only where the score is there."""
        score, centre, spread = self.features.scores[j], self.features.centre[r, j], self.features.spread[r, j]
        if isinstance(score, NumericScore):
            reading, low, high = self.reading(r, j, score)
            ends = np.clip((np.array([low, high]) - centre) / spread, -LARGEST_U, LARGEST_U)
            return graph.clip((self.part(reading) - centre) / spread, *ends.tolist())
        rates = np.clip(np.append(score.rates, score.base), panel_features.LEAST, 1.0 - panel_features.LEAST)
        u = np.clip((links.logit(rates) - centre) / spread, -LARGEST_U, LARGEST_U)
        return self.by_level(j, u[:-1], float(u[-1]))

    def reading(self, r: int, j: int, score: NumericScore) -> tuple[graph.Node, float, float]:
        """A reading of a numeric score, and the ends at which it is clipped."""
        x, end = graph.Score(j), np.inf
        if r == CALIBRATED:
            end = float(links.logit(np.array(1.0 - panel_features.LEAST)))
            return graph.logits_of(score.alone, x), -end, end
        if r == RAW[-1]:
            return graph.linear(Linear(score.scores, score.normals), x), -end, end
        if score.space == "probability":
            end = float(links.logit(np.array(1.0 - panel_features.CLIPS[r])))
            return graph.logit(x), -end, end
        end = np.inf if r == RAW[0] else panel_features.NEAR
        return (x - score.mean) / score.deviation, -end, end

    def waves(self, j: int, coefficients: Floats) -> graph.Node:
        """A sum of waves of the rank of a numeric score: a table of its own."""
        score: Any = self.features.scores[j]
        heights = score.wave_table[:, : len(coefficients)] @ coefficients
        return self.part(graph.linear(Linear(score.scores, heights), graph.Score(j)))

    def completed(self, r: int, weights: Floats, missing: tuple[int, ...] = ()) -> graph.Node:
        """A weighted sum of deviations; those of missing scores are their means given the others."""
        terms = []
        for j in range(len(weights)):
            if j not in missing:
                rest = [i for i in self.optional if i != j and i not in missing]
                weight = self._weight(r, weights, j, missing, rest)
                if weight is not ZERO:
                    terms.append(self.given(j, self.deviation(r, j) * weight, ZERO))
        return _total(terms)

    def _weight(self, r: int, weights: Floats, j: int, missing: tuple[int, ...], rest: list[int]) -> graph.Node:
        """The weight of a score's deviation, which stands for those of missing scores, too."""
        if rest:
            first, *others = rest
            without = self._weight(r, weights, j, (*missing, first), others)
            return _choice(first, {None: without}, self._weight(r, weights, j, missing, others))
        there, gone = np.setdiff1d(np.arange(len(weights)), missing), np.array(missing, dtype=int)
        correlation = self.features.correlations[r]
        shares = np.linalg.solve(correlation[np.ix_(there, there)], correlation[np.ix_(there, gone)] @ weights[gone])
        value = float(weights[j] + shares[there == j][0])
        return graph.Number(value) if value else ZERO

    def side(self, j: int, weights: Floats) -> graph.Node:
        """What a score brings to a pair, weighted: a line and two waves, or a number for each level."""
        if isinstance(self.features.scores[j], CategoryScore):
            return self.by_level(j, weights, 0.0)
        line, r = float(weights[0]), RAW[-1]
        there = graph.clip(self.deviation(r, j), -LARGEST_SIDE, LARGEST_SIDE) * line + self.waves(j, weights[1:])
        if j not in self.optional:
            return there
        expected = self.completed(r, np.eye(self.features.n_numeric)[j], (j,))
        return self.given(j, there, graph.clip(expected, -LARGEST_SIDE, LARGEST_SIDE) * line)


def spellings(level: str | None) -> list[str | None]:
    """How a level may be written where columns have types: as it is; true as True; 1 as 1.0."""
    if level in ("true", "false"):
        return [level, level.capitalize()]
    return [level, f"{level}.0"] if level is not None and level.lstrip("-").isdigit() else [level]


def _choice(column: int, branches: dict[Any, graph.Node], otherwise: graph.Node) -> graph.Node:
    """A choice, or the number that all branches agree on."""
    values = {node.value if isinstance(node, graph.Number) else node for node in (*branches.values(), otherwise)}
    if len(values) == 1:
        return otherwise
    return graph.Choice(column, tuple(branches), of=(*branches.values(), otherwise))


def _total(terms: list[graph.Node]) -> graph.Node:
    """Their sum, by halves: parsers of nested brackets run out of depth."""
    if len(terms) < 2:
        return terms[0] if terms else ZERO
    return _total(terms[: len(terms) // 2]) + _total(terms[len(terms) // 2 :])
