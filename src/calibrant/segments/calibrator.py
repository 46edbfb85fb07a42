"""One calibrator for many segments: a pooled map, and for each segment as much of a deviation as its rows show."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone

from calibrant import _validation
from calibrant._numerics import bins, links
from calibrant._typing import ArrayLike, Floats, RandomState
from calibrant.calibrators import registry
from calibrant.calibrators.base import BayesianCalibrator, Calibrator, Estimator
from calibrant.calibrators.platt import PlattScaling
from calibrant.errors import InvalidInputError
from calibrant.estimates.estimation import Difference, Estimate, estimate, estimate_difference
from calibrant.maps.class_basis import ClassBasis
from calibrant.maps.keys import SegmentCounts, SegmentKeys, melt_labels, name_labels
from calibrant.maps.matrix import MatrixMap
from calibrant.maps.score import CalibrationMap
from calibrant.maps.segments import AnyBasis, Basis, SegmentedMap, TermEffects
from calibrant.metrics.samples import fill_weights
from calibrant.metrics.scores import warn_of_reversal
from calibrant.multiclass.scaling import MatrixIdentity, MatrixTemperature
from calibrant.segments.estimation import SegmentWorlds
from calibrant.segments.report import tabulate_segments
from calibrant.segments.search import Cells, fit_terms, join_cells
from calibrant.tally import Tally, row_count

POOLED_DRAWS = 200
MOST_DEVIATIONS = 12
LARGEST_DEVIATION = 3.0
LEAST_DIFFERENCE = 1e-3  # terms below it are left out


class SegmentedCalibrator(Estimator):
    """Calibrate many segments together: countries, products, hospitals, prompts.

    One map for all hides that some segments are off, one map for each starves the small ones. Here all rows share a
    pooled curve, and each segment departs from it as far as its own rows warrant: by a shift and a slope, and where
    it is large enough by a smooth curve; with several classes, by a temperature and a bias for each class. How much
    segments differ is learned from the data, for each key separately; that they do not differ at all is always one of
    the possibilities. With several keys (country and device) the effects add up, and pairs of keys have effects of
    their own where the data show them. Where a row can have several labels, a label is a segment.

    Parameters
    ----------
    calibrator : str or Calibrator
        The method of the pooled curve.
    missing : {"error", "segment"}
        What to do with rows whose segment is missing: refuse them, or make them a segment of their own.
    space : {"probability", "decision"}
        What the scores are. Decision scores first become probabilities by Platt scaling.

    Attributes
    ----------
    segments_ : SegmentTable
        For each segment its rows, base rate, shift on the logit scale with a 90 % interval, and whether it differs.
    classes_ : ndarray of shape (2,)
        The negative and the positive label; 0 and 1 after `fit_tallies`.
    pooled_ : Calibrator
        The pooled calibrator, fitted to all rows; with several classes, to what segments made of them.
    map_ : SegmentedMap
        The fitted map: frozen numbers that predict, and that are saved and exported.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.segments.calibrator import SegmentedCalibrator
    >>> rng = np.random.default_rng(0)
    >>> scores, segment = rng.uniform(0.05, 0.95, 4000), rng.choice(["de", "fr", "us"], 4000)
    >>> logits = np.log(scores / (1 - scores)) + np.where(segment == "fr", 0.8, 0.0)
    >>> y = rng.random(4000) < 1 / (1 + np.exp(-logits))
    >>> calibrator = SegmentedCalibrator("spline").fit(scores, y, segment=segment)
    >>> calibrator.predict([0.5, 0.5], segment=["fr", "us"]).round(1).tolist()
    [0.7, 0.5]
    >>> [row.segment for row in calibrator.segments_ if row.differs and row.shift > 0]
    ['fr']
    """

    shape: ClassVar[str] = "segments"
    bayesian: ClassVar[bool] = True
    name: ClassVar[str] = "segmented"
    title: ClassVar[str] = "segmented calibration"
    description: ClassVar[str] = "a pooled curve, and partially pooled deviations for segments"
    reference: ClassVar[str] = "this library"

    def __init__(
        self, calibrator: str | Calibrator = "blend", *, missing: str = "error", space: str = "probability"
    ) -> None:
        self.calibrator = calibrator
        self.missing = missing
        self.space = space

    def fit(
        self,
        scores: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        segment: Any = None,
        pos_label: Any = None,
    ) -> Self:
        """Learn from rows.

        Parameters
        ----------
        scores : array-like of shape (n,), (n, 1), (n, 2), (n, K) or (n, labels)
            Scores; the probabilities of the negative and the positive class; a column for each of several classes; or a
            column for each of several labels.
        y : array-like of shape (n,) or (n, labels)
            Labels: bool, {0, 1}, {-1, 1}, or any two values of which `pos_label` is the positive one. With several
            classes, the sorted labels of the columns. Where a row can have several labels, a column for each of them,
            a table or an array; then a label is a segment, and `predict` gives a column for each.
        sample_weight : array-like of shape (n,), optional
            Non-negative weights; a weight of 2 is the row twice.
        segment : array-like of shape (n,) or (n, keys), table, or dict of columns
            The segment of each row, by one key or several. Several labels need none.
        pos_label : label, optional
            The positive class, whose probability the scores speak of. Text labels need it; of two other numbers, such
            as 1 and 2, the larger is positive as in scikit-learn.

        Returns
        -------
        self
        """
        self._check_labels_given(y)
        labels: tuple[Any, ...] = ()
        if np.ndim(y) == np.ndim(scores) == 2 and np.shape(y)[1] > 1:
            labels = name_labels(y)
            scores, segment = melt_labels(scores, labels, segment)
            y = np.asarray(y).ravel()
            sample_weight = None if sample_weight is None else np.repeat(np.asarray(sample_weight), len(labels))
        if segment is None:
            raise InvalidInputError("`segment` must be given: one column, or one for each key.")
        if _validation.is_class_matrix(scores):
            return self._fit_matrix(scores, y, sample_weight, segment, pos_label)
        array = _validation.check_scores(scores)
        positive, classes = _validation.encode_labels(y, _validation.choose_positive(y, pos_label))
        _validation.check_same_length(len(array), len(positive), "y")
        weights = fill_weights(sample_weight, len(array))
        if len(array) == 0:
            raise InvalidInputError("`scores` must have at least one row; got 0 sample(s).")
        self._fit_counts(SegmentCounts.of_rows(array, positive, weights, segment, self.missing), classes)
        self.map_ = replace(self.map_, labels=labels)
        return self

    def _fit_matrix(
        self, scores: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None, segment: Any, pos_label: Any
    ) -> Self:
        """Learn from a column for each of several classes."""
        if pos_label is not None:
            raise InvalidInputError("`pos_label` is for scores of two classes; got a column for each of several.")
        reader = MatrixIdentity(space=self.space).fit(scores, y, sample_weight)  # checks them
        first = reader.map_ if self.space == "decision" else None
        matrix = first(scores) if first else _validation.read_matrix(scores, self.space)
        weights = fill_weights(sample_weight, len(matrix))
        own = _validation.find_columns(y, reader.classes_.tolist())[:, None] == np.arange(matrix.shape[1])
        counts = SegmentCounts.of_rows(matrix, own, weights, segment, self.missing)
        _check_segments(counts.keys, counts.totals)
        # Segments with other temperatures would bend a common curve. So segments first correct what is simple, and what
        # is left of the corrected rows of all segments is one map.
        simple = MatrixTemperature().fit(matrix, y, weights).map_
        pooled = np.log(links.clip(simple(counts.scores)))
        basis = ClassBasis.learn(pooled, counts.totals)
        self._fit_terms(Cells(**vars(counts), pooled=pooled), simple, basis, np.empty(0), first)
        aligned = self.map_.predict(scores, segment)
        self.pooled_ = self._make_pooled("matrix").fit(aligned, y, weights)
        self.map_ = replace(self.map_, last=self.pooled_.map_)
        self.classes_, self.n_features_in_ = reader.classes_, matrix.shape[1]
        return self

    def _make_pooled(self, shape: str) -> Any:
        """A new calibrator for all rows."""
        method = self.calibrator
        return registry.create(method, shape) if isinstance(method, str) else clone(method)

    def fit_tallies(self, tallies: Mapping[Any, Tally], keys: Sequence[str] | None = None) -> Self:
        """Learn from one tally for each segment, as `engines.tally(by=…)` gives them.

        Parameters
        ----------
        tallies : dict of segment to Tally
            With several keys, the segments are tuples.
        keys : sequence of str, optional
            Names of the keys.

        Returns
        -------
        self
        """
        return self._fit_counts(SegmentCounts.of_tallies(tallies, self.missing, keys))

    def _fit_counts(self, counts: SegmentCounts, classes: tuple[Any, Any] = (0, 1)) -> Self:
        _check_segments(counts.keys, counts.totals)
        _validation.check_choice("space", self.space, _validation.SPACES)
        pooled = Tally(*bins.group_sums(counts.scores, counts.positives, counts.totals))
        warn_of_reversal(pooled, stacklevel=4)
        first: CalibrationMap | None = None
        if self.space == "decision":
            first = PlattScaling(space="decision").fit_tally(pooled).map_
            counts = replace(counts, scores=first(counts.scores))
            pooled = pooled.rescored(first(pooled.scores))
        _validation.check_unit_interval(pooled.scores, "scores", type(self).__name__)
        self.pooled_ = self._make_pooled("score").fit_tally(pooled)
        joined, coarse, totals = join_cells(counts, pooled)
        basis = Basis.learn(coarse, links.logit(self.pooled_.map_(coarse)), totals)
        cells = Cells(**vars(joined), pooled=links.logit(self.pooled_.map_(joined.scores)))
        self._fit_terms(cells, self.pooled_.map_, basis, _find_deviations(self.pooled_, coarse), first)
        self.classes_, self.n_features_in_ = np.array(classes), 1
        return self

    def _fit_terms(
        self,
        cells: Cells,
        pooled: CalibrationMap | MatrixMap,
        basis: AnyBasis,
        deviations: Floats,
        first: CalibrationMap | MatrixMap | None,
    ) -> None:
        """Learn what segments add to the pooled logits, of one score or of several classes."""
        terms = tuple(
            TermEffects(members, kind, levels, *term.effects, term.difference)
            for (members, kind), (term, levels) in fit_terms(cells, basis).items()
            if term.difference > LEAST_DIFFERENCE
        )
        name = type(self).__name__
        self._labelled = cells
        self.map_ = SegmentedMap(cells.keys, pooled, basis, deviations, terms, first, self.missing, name)
        self.segments_ = tabulate_segments(self.map_, cells)

    def frozen_map(self) -> SegmentedMap:
        map_: SegmentedMap = self._fitted_map()
        return map_ if map_.last is None else replace(map_, last=self.pooled_.frozen_map())

    def predict(self, scores: ArrayLike, segment: Any = None) -> Floats:
        """P(y = positive class) for each row, (n,); a segment that is new gets the pooled map.

        Several classes or labels have a column each, (n, K).
        """
        return self._fitted_map().predict(scores, segment)

    def predict_proba(self, scores: ArrayLike, segment: Any = None) -> Floats:
        """Probabilities of the negative and the positive class, (n, 2); as `predict` for several classes or labels."""
        return self._fitted_map().predict_proba(scores, segment)

    def predict_interval(self, scores: ArrayLike, level: float = 0.9, *, segment: Any = None) -> tuple[Floats, Floats]:
        """Lower and upper ends of the credible interval of each probability.

        It holds the uncertainty of the pooled curve and of the segment's deviation; for a new segment, that of how
        far segments are apart.
        """
        return self.frozen_map().predict_interval(scores, level, segment=segment)

    def sample_maps(
        self, scores: ArrayLike, n_draws: int = 100, random_state: RandomState = 0, *, segment: Any = None
    ) -> Floats:
        """Draws of the probabilities of all rows, (n_draws, n) or (n_draws, n, K); each is one map for all segments."""
        return self.frozen_map().sample_maps(scores, n_draws, random_state, segment=segment)

    def estimate(self, scores: ArrayLike, quantity: str = "mean", *, segment: Any = None, **options: Any) -> Estimate:
        """Say something about rows without labels: of one segment, or of several together.

        Maps are drawn for all segments at once, and those of a segment are set to the level of its own labels.

        Parameters
        ----------
        scores : array-like of shape (n,)
            The unlabelled scores.
        quantity : str
            Any of those that `calibrant.estimates.estimate` knows.
        segment : value, tuple, or as in `fit`
            The segment of all these rows, with several keys a tuple; or a column, one for each key.
        **options : dict
            `threshold`, `level`, `sampling_noise`, `n_draws` and `rng`, as there.

        Returns
        -------
        Estimate
        """
        worlds = self._worlds()
        return estimate(worlds, worlds.read(scores, segment), quantity, **options)

    def estimate_difference(
        self, first: ArrayLike, second: ArrayLike, quantity: str = "mean", *, segment: tuple[Any, Any], **options: Any
    ) -> Difference:
        """Compare two sets of unlabelled rows, such as the answers of two systems, on maps drawn together.

        Parameters
        ----------
        first, second : array-like of shape (n,)
            Their scores.
        quantity, **options
            As for `estimate`.
        segment : tuple of two
            The segment, or the segments, of the first and of the second.

        Returns
        -------
        Difference
        """
        worlds = self._worlds()
        one, other = (worlds.read(*each) for each in zip((first, second), segment, strict=True))
        return estimate_difference(worlds, one, other, quantity, **options)

    def _worlds(self) -> SegmentWorlds:
        return SegmentWorlds(self._fitted_map(), self._labelled)

    def summary(self) -> str:
        """Say which segments differ from the pooled map, and what the pooled calibrator says of itself."""
        self._fitted_map()
        return f"{self.segments_.summary()}\nAll rows together: {self.pooled_.summary()}"

    def map_for(self, segment: Any) -> CalibrationMap:
        """The map of one segment as an ordinary `CalibrationMap`; with several keys, of a tuple of segments.

        A segment that was not there in `fit` has the pooled map. The formula of a segment becomes a table of straight
        pieces, within 1e-5 of it.
        """
        return self._fitted_map().map_for(segment)


def _check_segments(keys: SegmentKeys, totals: Floats) -> None:
    """Refuse keys from which nothing can be learned."""
    rows = float(totals.sum())
    if all(size == 1 for size in keys.sizes):
        raise InvalidInputError(
            f"`segment` must have at least two segments; got 1, {keys.levels[0][0]!r}. Use the calibrator alone."
        )
    for name, size in zip(keys.names, keys.sizes, strict=True):
        if size > 2 and size >= rows:
            raise InvalidInputError(
                f"`segment` key {name!r} must have fewer segments than rows; got {size} segments of "
                f"{row_count(rows)} rows. Leave out a key that names single rows."
            )


def _find_deviations(pooled: Calibrator, scores: Floats) -> Floats:
    """The posterior of the pooled logit in a few independent deviations, largest first, (J, m)."""
    if not isinstance(pooled, BayesianCalibrator):
        return np.empty((0, len(scores)))
    draws = links.logit(pooled.sample_maps(scores, POOLED_DRAWS))
    away = np.clip(draws - links.logit(pooled.predict(scores)), -LARGEST_DEVIATION, LARGEST_DEVIATION)
    _, sizes, lines = np.linalg.svd(away / np.sqrt(POOLED_DRAWS), full_matrices=False)
    return (sizes[:, None] * lines)[:MOST_DEVIATIONS]
