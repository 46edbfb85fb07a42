"""The fitted map of many segments: a pooled map, and what segments add to its logit, which numpy alone evaluates.

Segments add functions of the score, the terms of a basis, each with coefficients of its own. One score has one logit;
several classes have one each, and the variance of what is unknown is that of a class against the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import NormalDist
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

from calibrant import _validation
from calibrant._numerics import links
from calibrant._numerics.piecewise import interpolate
from calibrant._typing import ArrayLike, Floats, Ints, RandomState
from calibrant.errors import InvalidInputError, ModelFileError
from calibrant.maps.base import FrozenMap, as_columns, ends_like
from calibrant.maps.class_basis import ClassBasis, multiply
from calibrant.maps.files import plain_fields, read_floats
from calibrant.maps.keys import MISSING, UNSEEN, SegmentKeys, combine, melt_labels, name_columns
from calibrant.maps.matrix import MatrixMap
from calibrant.maps.score import CalibrationMap
from calibrant.maps.tabulate import logits_of_knots, tabulate_logits

LINE, CURVE = "line", "curve"
WAVES = np.arange(1, 7)
SIZES = {LINE: 2, CURVE: len(WAVES)}
LARGEST_U = 4.0
MOST_TESTED = 64
CHUNK_ROWS = 1 << 17  # evaluated at once
LAST_DRAWS = 100  # for the spread of the logits of several classes
ROUNDING = 1e-9  # how far below 0 rounding may put a variance


@dataclass(frozen=True, eq=False)
class Basis:
    """Columns of the terms as functions of the score: u, the standardised pooled logit, and waves over the rank."""

    sizes: ClassVar[Mapping[str, int]] = SIZES

    centre: float
    spread: float
    scores: Floats
    ranks: Floats

    @classmethod
    def learn(cls, scores: Floats, pooled: Floats, totals: Floats) -> Basis:
        """From the pooled cells: increasing scores, their pooled logits, and numbers of rows."""
        share = totals / totals.sum()
        centre = float(share @ pooled)
        spread = float(np.sqrt(share @ (pooled - centre) ** 2))
        return cls(centre, max(spread, 1e-3), scores, np.cumsum(share) - 0.5 * share)

    def columns(self, kind: str, scores: Floats, pooled: Floats) -> Floats:
        """The columns (n, D) of a kind of term."""
        if kind == LINE:
            u = np.clip((pooled - self.centre) / self.spread, -LARGEST_U, LARGEST_U)
            return np.column_stack((np.ones(len(u)), u))
        rank = np.interp(scores, self.scores, self.ranks)
        return np.sqrt(2.0) * np.cos(np.pi * rank[:, None] * WAVES)

    logits, probabilities = staticmethod(links.logit), staticmethod(links.expit)

    def against_rest(self, logits: Floats, columns: Mapping[str, Floats]) -> tuple[Floats, Mapping[str, Floats]]:
        """The logit of one score is already that of its class against the other."""
        return logits, columns

    def join(self, against_rest: Floats) -> Floats:
        """The same back."""
        return against_rest

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Basis:
        """The basis with these fields."""
        scores, ranks = (read_floats(data, name) for name in ("scores", "ranks"))
        basis = cls(float(data["centre"]), float(data["spread"]), scores, ranks)
        rises = scores.ndim == 1 and len(scores) > 0 and bool((np.diff(scores) > 0).all())
        if not rises or scores.shape != ranks.shape or not basis.spread > 0.0:
            raise ModelFileError("The scores and ranks of these segments are damaged.")
        return basis


AnyBasis: TypeAlias = Basis | ClassBasis


class Effects(NamedTuple):
    """Mean (G, D) and covariance (G, D, D) of the coefficients of each segment, and what intervals need.

    Mean and covariance come from a sceptical prior, under which segments differ only if there is reason to think so.
    It would make intervals too narrow where a small difference is hard to see: `wide` (G, D, D) are second moments
    around the means under a prior with an open mind, and `prior` (D, D) is that of a new segment.
    """

    mean: Floats
    covariance: Floats
    wide: Floats
    prior: Floats

    def are_sound(self, size: int) -> bool:
        """Whether they fit each other, and could be moments of `size` coefficients."""
        count = len(self.mean)
        shapes = [(count, size), (count, size, size), (count, size, size), (size, size)]
        if [part.shape for part in self] != shapes:
            return False
        variances = [np.linalg.eigvalsh(part).ravel() for part in self[1:]]
        return all(bool((own >= -ROUNDING * max(1.0, own.max())).all()) for own in variances)


@dataclass(frozen=True, eq=False)
class TermEffects:
    """The `Effects` of the segments of one key, of a pair of keys, or (without keys) of all rows.

    `levels` (L, keys) holds the numbers of the segments, sorted; `difference` is the probability that they differ.
    """

    keys: tuple[int, ...]
    kind: str
    levels: Ints
    mean: Floats
    covariance: Floats
    wide: Floats
    prior: Floats
    difference: float

    def places(self, codes: Ints) -> Ints:
        """The line of `levels` for each row of segment numbers; −1 where there is none."""
        own = codes[:, list(self.keys)]
        # Several keys become one number; sorted levels give sorted numbers, which can be searched.
        number = combine(np.concatenate((self.levels, own)) - UNSEEN)
        known, wanted = np.split(number, [len(self.levels)])
        place = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
        seen = (known[place] == wanted) & (own != UNSEEN).all(axis=1)
        # What corrects the pooled map for the rows of all segments is not for a row none of whose segments is known.
        return np.where(seen & (codes != UNSEEN).any(axis=1), place, UNSEEN)

    def effect(self, columns: Floats, place: Ints) -> Floats:
        """The mean effect on each row; none where its segment is new."""
        return multiply(columns, self._coefficients(place)[0])

    def variance(self, columns: Floats, place: Ints, *, wide: bool) -> Floats:
        """The variance of the effect on each row; a `wide` one is for intervals."""
        return np.einsum("i...j,ijk,i...k->i...", columns, self._coefficients(place, wide=wide)[1], columns)

    def _coefficients(self, place: Ints, *, wide: bool = False) -> tuple[Floats, Floats]:
        """Mean and covariance at each place; of a new segment, for intervals, those of how far segments are apart."""
        new = place == UNSEEN
        mean = np.where(new[:, None], 0.0, self.mean[place])
        otherwise = self.prior if wide and self.keys else np.zeros_like(self.prior)
        return mean, np.where(new[:, None, None], otherwise, (self.wide if wide else self.covariance)[place])

    def draw(self, columns: Floats, codes: Ints, rng: np.random.Generator, n_draws: int) -> Floats:
        """Draws of the effect on each row, (n_draws, n); all rows of a new segment share their draw."""
        # Rows of one segment must share one draw of its coefficients. For a segment of the fit the block of rows is its
        # line in `levels`; a new one has no line (−1), and its block is its own combination of codes. So blocks are the
        # distinct (line, codes if new), and `first` is a row of each, where its line can be read. New ones come last,
        # and leave the noise of the others as it is.
        place = self.places(codes)
        new = place == UNSEEN
        lines = np.column_stack((new, place, np.where(new[:, None], codes[:, list(self.keys)], 0)))
        _, first, block = np.unique(lines, axis=0, return_index=True, return_inverse=True)
        mean, covariance = self._coefficients(place[first], wide=True)
        noise = rng.standard_normal((len(first), n_draws, mean.shape[1]))
        values, vectors = np.linalg.eigh(covariance)  # their roots, although they may be singular
        roots = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
        drawn = mean + np.einsum("gjk,gdk->dgj", roots, noise)
        return multiply(columns, drawn[:, block.reshape(-1)])

    @classmethod
    def from_dict(
        cls, data: Mapping[str, Any], sizes: tuple[int, ...], columns: Mapping[str, int] = SIZES
    ) -> TermEffects:
        """The term with these fields, of keys with these numbers of segments."""
        effects = Effects(*(read_floats(data, name) for name in Effects._fields))
        keys, kind = tuple(data["keys"]), data["kind"]
        lines = [tuple(line) for line in data["levels"]]
        whole = all(type(number) is int for line in (keys, *lines) for number in line)
        if not whole or not all(0 <= k < len(sizes) for k in keys):
            raise ModelFileError("The numbers of these segments are damaged.")
        levels = np.array(lines, dtype=np.intp).reshape(len(effects.mean), len(keys))
        inside = (levels >= 0) & (levels < [sizes[k] for k in keys])
        # Levels are searched by halves: out of order, a segment would silently get the effect of another one.
        if not lines or not inside.all() or not all(a < b for a, b in pairwise(lines)):
            raise ModelFileError("The order of these segments is damaged.")
        if not effects.are_sound(columns[kind]) or not 0.0 <= data["difference"] <= 1.0:
            raise ModelFileError("The effects of these segments are damaged.")
        return cls(keys, kind, levels, *effects, float(data["difference"]))


@dataclass(frozen=True, eq=False, repr=False)
class SegmentedMap(FrozenMap):
    """A fitted calibration of many segments: call it on scores and their segments to get probabilities.

    `SegmentedCalibrator` keeps one in ``map_``, and `calibrant.load` reads one from a file. It is frozen, and needs
    numpy alone.

    Parameters
    ----------
    keys : SegmentKeys
        The names of the keys and their segments.
    pooled : CalibrationMap or MatrixMap
        The map of a row none of whose segments is known: of one score, or of several classes.
    basis : Basis or ClassBasis
        The functions of the score that effects multiply.
    pooled_deviations : ndarray of shape (J, m)
        Independent deviations of the pooled logit at the scores of the basis, each one standard deviation large: the
        pooled curve's posterior in a few lines. Several classes have the draws of `last` instead.
    terms : tuple of TermEffects
        The effects of keys and of pairs of keys.
    first : CalibrationMap or MatrixMap, optional
        What turns decision scores into probabilities, before everything else.
    missing : {"error", "segment"}
        What to do with rows whose segment is missing.
    method : str
        The name of the method that made it.
    last : MatrixMap, optional
        With several classes, the map of the probabilities that segments have corrected; their draws are its draws.
    labels : tuple
        Where rows have a score for each of several labels: their names, in the order of the columns.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant import SegmentedCalibrator
    >>> rng = np.random.default_rng(0)
    >>> scores, team = rng.uniform(0.05, 0.95, 3000), rng.choice(["a", "b"], 3000)
    >>> y = rng.random(3000) < np.where(team == "b", scores**2, scores)
    >>> map_ = SegmentedCalibrator("platt").fit(scores, y, segment=team).map_
    >>> map_
    SegmentedMap(SegmentedCalibrator, segment: 2 segments)
    >>> map_([0.6, 0.6], segment=["a", "b"]).round(1).tolist()
    [0.6, 0.4]
    """

    kind: ClassVar[str] = "segments"

    keys: SegmentKeys
    pooled: CalibrationMap | MatrixMap
    basis: AnyBasis
    pooled_deviations: Floats
    terms: tuple[TermEffects, ...]
    first: CalibrationMap | MatrixMap | None = None
    missing: str = "error"
    method: str = ""
    last: MatrixMap | None = None
    labels: tuple[Any, ...] = ()

    @property
    def tolerance(self) -> float:  # type: ignore[override]
        """How far probabilities may differ between machines: as far as those of the pooled map."""
        return self.pooled.tolerance

    @property
    def space(self) -> str:  # type: ignore[override]
        """What it accepts: scores in [0, 1] ("probability"), or any finite numbers ("decision")."""
        return "probability" if self.first is None else self.first.space

    def __call__(self, scores: ArrayLike, segment: Any = None) -> Floats:
        """Calibrated probabilities of the positive class, (n,); a segment that is new gets the pooled map.

        Those of several classes or labels are (n, K). One score, with its segment, or a tuple of segments with several
        keys, gives one number.
        """
        probabilities = self._fold(scores, self.probabilities(*self.check(scores, segment)))
        return probabilities[0].item() if _validation.is_number(scores) else probabilities

    def predict(self, scores: ArrayLike, segment: Any = None) -> Floats:
        """The same as calling the map, but arrays of torch and JAX come back as such."""
        return _validation.like(scores, self(scores, segment))

    def predict_proba(self, scores: ArrayLike, segment: Any = None) -> Floats:
        """Probabilities of the negative and the positive class, (n, 2); as `predict` for several classes or labels."""
        return _validation.like(scores, as_columns(self(scores, segment)))

    @property
    def has_posterior(self) -> bool:
        """Whether it has intervals and draws: always for one score, and else as its last map."""
        return self.last is None or self.last.has_posterior

    def predict_interval(self, scores: ArrayLike, level: float = 0.9, *, segment: Any = None) -> tuple[Floats, Floats]:
        """Lower and upper ends of the credible interval of each probability.

        It holds the uncertainty of the pooled curve and of the segment's deviation; for a new segment, that of how
        far segments are apart.
        """
        low, high = self.interval(*self.check(scores, segment), level)
        return ends_like(scores, (self._fold(scores, low), self._fold(scores, high)))

    def interval(self, scores: Floats, codes: Ints, level: float) -> tuple[Floats, Floats]:
        """The ends of the intervals of checked scores."""
        z = -NormalDist().inv_cdf(0.5 * (1.0 - _validation.check_level(level)))
        low, high = np.empty(scores.shape), np.empty(scores.shape)
        for rows in self.chunks(scores):
            centre, spread = self.centre_and_spread(self._first(scores[rows]), codes[rows])
            low[rows], high[rows] = links.expit(centre - z * spread), links.expit(centre + z * spread)
        predicted = self.probabilities(scores, codes)  # the mean of a skew posterior can lie beyond a narrow interval
        return np.minimum(low, predicted), np.maximum(high, predicted)

    def sample_maps(
        self, scores: ArrayLike, n_draws: int = 100, random_state: RandomState = 0, *, segment: Any = None
    ) -> Floats:
        """Draws of the probabilities of all rows, (n_draws, n), each draw from one map for every segment."""
        count, rng = _validation.check_count("n_draws", n_draws), _validation.generator(random_state)
        array, codes = self.check(scores, segment)
        return self._fold(scores, self.basis.probabilities(self.draw(self._first(array), codes, rng, count)))

    def __repr__(self) -> str:
        sizes = zip(self.keys.names, self.keys.levels, strict=True)
        keys = ", ".join(f"{name}: {len(levels)} segments" for name, levels in sizes)
        return f"SegmentedMap({self.method}, {keys})"

    def map_for(self, segment: Any) -> CalibrationMap:
        """The map of one segment as an ordinary `CalibrationMap`; with several keys, of a tuple of segments.

        A segment that was not there in `fit` has the pooled map. The formula of a segment becomes a table of straight
        pieces, within 1e-5 of it.
        """
        columns = name_columns([segment], self.keys.names)
        return self.map_at(self.keys.encode(columns, 1, self.missing)[0])

    def map_at(self, codes: Ints) -> CalibrationMap:
        """The map of one combination of segments, by their numbers."""
        if not isinstance(self.pooled, CalibrationMap) or not isinstance(self.basis, Basis):
            raise InvalidInputError(
                "The map of a single segment must be one of one score; this one has several classes. Predict with "
                "`segment`, or save the whole map."
            )
        if (codes != UNSEEN).any():
            bends = np.concatenate((logits_of_knots(self.pooled.function), links.logit(self.basis.scores)))
            table = tabulate_logits(lambda x: links.expit(self.logits(x, np.tile(codes, (len(x), 1)))), bends)
            map_ = CalibrationMap(table, "probability", bool((np.diff(table.y) >= 0.0).all()), self.method)
        else:
            map_ = replace(self.pooled, space="probability", method=self.method)
        return self.first.then(map_) if isinstance(self.first, CalibrationMap) else map_

    def check(self, scores: ArrayLike, segment: Any) -> tuple[Floats, Ints]:
        """The scores as an array, (n,) or (n, K), and the numbers of their segments, (n, keys), if they are accepted.

        Where there are labels, a matrix of their scores becomes (n · labels,).
        """
        if self._has_label_columns(scores):
            scores, segment = melt_labels(scores, self.labels, segment, self.keys.names)
        if segment is None:
            raise InvalidInputError("`segment` must be given: a value of each key for every row.")
        if _validation.is_number(scores):
            segment = name_columns([segment], self.keys.names)
        reader = self.first or self.pooled
        array = reader.check(scores) if isinstance(reader, MatrixMap) else self.check_scores(scores)
        return array, self.keys.encode(segment, len(array), self.missing)

    def _has_label_columns(self, scores: ArrayLike) -> bool:
        return len(self.labels) > 0 and np.ndim(scores) == 2

    def _fold(self, scores: ArrayLike, values: Floats) -> Floats:
        """Values of rows and labels with a column for each label, where the scores have them."""
        return values.reshape(*values.shape[:-1], -1, len(self.labels)) if self._has_label_columns(scores) else values

    def chunks(self, scores: Floats) -> Iterator[slice]:
        """Slices of as many rows as are evaluated at once."""
        step = max(1, CHUNK_ROWS // np.size(scores[0]) ** 2) if len(scores) else 1
        return (slice(start, start + step) for start in range(0, len(scores), step))

    def probabilities(self, scores: Floats, codes: Ints) -> Floats:
        """Probabilities of checked scores, in chunks."""
        out = np.empty(scores.shape)
        for rows in self.chunks(scores):
            out[rows] = self.basis.probabilities(self.logits(self._first(scores[rows]), codes[rows]))
        return out if self.last is None else self.last(out)

    def _first(self, scores: Floats) -> Floats:
        return scores if self.first is None else self.first(scores)

    def logits(self, scores: Floats, codes: Ints) -> Floats:
        """The logit of the mean probability; what is unknown of the pooled curve is in its own mean already.

        A row none of whose segments was there in `fit` keeps the pooled logit.
        """
        mean, variance = self._moments(scores, codes, wide=False)
        return self.basis.join(mean / np.sqrt(1.0 + np.pi / 8.0 * np.maximum(variance, 0.0)))

    def _moments(self, scores: Floats, codes: Ints, *, wide: bool) -> tuple[Floats, Floats]:
        """Mean and variance of the logit, or of that of each class against the rest, as far as segments make them."""
        pooled = self.basis.logits(self.pooled(scores))
        columns: Mapping[str, Floats] = {
            kind: self.basis.columns(kind, scores, pooled) for kind in {term.kind for term in self.terms}
        }
        places = [term.places(codes) for term in self.terms]
        mean, variance = pooled.copy(), np.zeros(pooled.shape)
        for term, place in zip(self.terms, places, strict=True):
            mean += term.effect(columns[term.kind], place)
        mean, columns = self.basis.against_rest(mean, columns)
        for term, place in zip(self.terms, places, strict=True):
            variance += term.variance(columns[term.kind], place, wide=wide)
        return mean, variance

    def centre_and_spread(self, scores: Floats, codes: Ints) -> tuple[Floats, Floats]:
        """Mean and standard deviation of the logit, for intervals."""
        mean, variance = self._moments(scores, codes, wide=True)
        if self.last is not None:
            # What is unknown of the segments goes through the last map as it is: its slopes are near 1.
            aligned = self.basis.probabilities(self.logits(scores, codes))
            mean = links.logit(self.last(aligned))
            variance += links.logit(self.last.sample_maps(aligned, LAST_DRAWS)).var(axis=0)
        elif isinstance(self.basis, Basis):
            variance += np.interp(scores, self.basis.scores, (self.pooled_deviations**2).sum(axis=0))
        return mean, np.sqrt(np.maximum(variance, 0.0))

    def draw(self, scores: Floats, codes: Ints, rng: np.random.Generator, n_draws: int) -> Floats:
        """Draws of the logits, (n_draws, n), each from one whole map for every segment."""
        pooled = self.basis.logits(self.pooled(scores))
        out: Floats = np.repeat(pooled[None], n_draws, axis=0)
        if isinstance(self.basis, Basis):
            lines = interpolate(scores, self.basis.scores, self.pooled_deviations)
            out += rng.standard_normal((n_draws, len(lines))) @ lines
        for term in self.terms:
            own = np.random.default_rng(rng.integers(2**63))  # new segments in one term change no other
            out += term.draw(self.basis.columns(term.kind, scores, pooled), codes, own, n_draws)
        if self.last is not None:
            aligned = self.logits(scores, codes)
            drawn = self.last.sample_maps(self.basis.probabilities(aligned), n_draws, rng)
            out += self.basis.logits(drawn) - aligned
        return out

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return plain_fields(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> SegmentedMap:
        """The map that `to_dict` described."""
        kind, columns = (MatrixMap, ClassBasis) if "classes" in data["pooled"] else (CalibrationMap, Basis)
        basis, keys = columns.from_dict(data["basis"]), SegmentKeys.from_dict(data["keys"])
        deviations = read_floats(data, "pooled_deviations")
        if data["missing"] not in MISSING or not isinstance(data["method"], str):
            raise ModelFileError("The entries `missing` or `method` of this map of segments are damaged.")
        return cls(
            keys=keys,
            pooled=kind.from_dict(data["pooled"]),
            basis=basis,
            pooled_deviations=deviations.reshape(-1, len(basis.scores)) if isinstance(basis, Basis) else deviations,
            terms=tuple(TermEffects.from_dict(term, keys.sizes, basis.sizes) for term in data["terms"]),
            first=None if data["first"] is None else kind.from_dict(data["first"]),
            missing=data["missing"],
            method=data["method"],
            last=None if data.get("last") is None else MatrixMap.from_dict(data["last"]),
            labels=tuple(data.get("labels", ())),
        )

    def posterior_to_dict(self) -> dict[str, Any] | None:
        """The draws of the last map; one score has what it needs in `to_dict`."""
        return None if self.last is None else self.last.posterior_to_dict()

    def with_posterior(self, data: Mapping[str, Any]) -> SegmentedMap:
        """The map with the draws that `posterior_to_dict` described."""
        return super().with_posterior(data) if self.last is None else replace(self, last=self.last.with_posterior(data))

    def test_vector(self) -> dict[str, Any]:
        """Scores over the whole range and segments in turn, new ones among them, with what the map makes of them."""
        low, high = (0.0, 1.0) if self.space == "probability" else (-3.0, 3.0)
        scores = np.linspace(low, high, MOST_TESTED)
        if isinstance(self.pooled, MatrixMap):
            rows = (self.first or self.pooled).test_vector()["scores"]
            scores = np.resize(rows, (MOST_TESTED, len(self.pooled.classes)))
        codes = np.column_stack([np.arange(MOST_TESTED) % (size + 1) - 1 for size in self.keys.sizes])
        probabilities = self.probabilities(scores, codes)
        return {"scores": scores.tolist(), "codes": codes.tolist(), "probabilities": probabilities.tolist()}

    def replay(self, vector: Mapping[str, Any]) -> Floats:
        """What this map makes of the scores and segments of a test vector."""
        codes = np.array(vector["codes"], dtype=np.intp).reshape(-1, len(self.keys.names))
        return self.probabilities(np.array(vector["scores"], dtype=np.float64), codes)
