"""One calibrator for several scores per row: judges, models, bookmakers, signals."""

# ruff: noqa: N803 - X is how scikit-learn calls the columns
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from calibrant import _validation
from calibrant._tables import align
from calibrant._typing import ArrayLike, Bools, Floats, RandomState
from calibrant.calibrators.base import Estimator
from calibrant.calibrators.blend import Blend
from calibrant.errors import InvalidInputError
from calibrant.estimates.estimation import EstimateMethods
from calibrant.maps.base import ends_like
from calibrant.maps.keys import as_columns
from calibrant.maps.panel import LogitPosterior, PanelMap
from calibrant.maps.panel_columns import CATEGORY, read_column, read_columns, space_of
from calibrant.maps.posterior_table import PosteriorTable
from calibrant.metrics.samples import fill_weights
from calibrant.panel.fit import Pool, fit_pool, learn_features
from calibrant.panel.single import Single, fit_category, fit_numeric
from calibrant.tally import Tally

HEADERS = ("score", "kind", "log-loss alone", "cost without", "missing")


@dataclass(frozen=True)
class ScoreWorth:
    """What one score is worth.

    Attributes
    ----------
    name, kind : str
        The column, and "probability", "decision" or "category".
    alone : float
        Log-loss of this score calibrated by itself, on rows left out.
    cost : float
        By how much the log-loss of all scores, on rows left out, grows if this one is missing everywhere.
    missing : float
        Share of rows without it.
    """

    name: str
    kind: str
    alone: float
    cost: float
    missing: float

    def texts(self) -> tuple[str, ...]:
        """The cells of its line in the printed table."""
        return self.name, self.kind, f"{self.alone:.4f}", f"{self.cost:+.4f}", f"{100 * self.missing:.3g} %"


class PanelCalibrator(Estimator, EstimateMethods):
    """Calibrate several scores of each row together: judges, models, bookmakers, signals.

    Two sums over scores are fitted, one of readings that labels have not touched and one of what each score says when
    it is calibrated alone; with the mean score and each score alone they are pooled by how well they predict rows left
    out. How much single scores, curves, levels, gaps and pairs of scores matter is learned from the data, and that they
    do not matter is always one of the possibilities: few labels keep the panel at its mean or at its best score.

    Parameters
    ----------
    space : str or dict of str to str
        What numeric scores are: "probability", or "decision" for any other finite numbers; for all of them or by
        column. Columns that are not named are probabilities. Text, booleans and category types are levels.

    Attributes
    ----------
    scores_ : tuple of ScoreWorth
        What each score is worth alone, what it costs to be without it, and how much of it is missing.
    log_loss_ : float
        Log-loss on rows left out.
    left_out_ : Tally
        What it says of labelled rows (at most 10 000) without each of them, with their labels.
    map_ : PanelMap
        The fitted map: frozen numbers that predict, and that are saved.
    classes_ : ndarray of shape (2,)
        The negative and the positive label.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.panel.calibrator import PanelCalibrator
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.normal(size=800)
    >>> judges = {name: 1 / (1 + np.exp(-truth - rng.normal(size=800))) for name in ("anna", "ben")}
    >>> y = rng.random(800) < 1 / (1 + np.exp(-2 * truth))
    >>> panel = PanelCalibrator().fit(judges, y)
    >>> low, high = panel.predict_interval({"ben": [0.9], "anna": [0.8]})
    >>> bool(low[0] < panel.predict({"anna": [0.8], "ben": [0.9]})[0] < high[0])
    True
    """

    space: str | Mapping[str, str]  # type: ignore[assignment]  # of all scores, or by column
    shape: ClassVar[str] = "panel"
    bayesian: ClassVar[bool] = True
    name: ClassVar[str] = "panel"
    title: ClassVar[str] = "panel of scores"
    description: ClassVar[str] = (
        "several scores of each row: sums of them, their mean and each alone, pooled; intervals"
    )
    reference: ClassVar[str] = "this library"

    def __init__(self, *, space: str | Mapping[str, str] = "probability") -> None:
        self.space = space

    def fit(
        self, X: Any, y: Any, sample_weight: ArrayLike | None = None, *, segment: Any = None, pos_label: Any = None
    ) -> Self:
        """Learn from rows.

        Parameters
        ----------
        X : table, dict of columns, or array-like of shape (n, J)
            A column for each score; NaN or None is missing.
        y : array-like of shape (n,)
            Labels: bool, {0, 1}, {-1, 1}, or any two values of which `pos_label` is the positive one.
        sample_weight : array-like of shape (n,), optional
            Non-negative weights; a weight of 2 is the row twice.
        segment : array-like of shape (n,) or (n, keys), table, or dict of columns, optional
            The segment of each row, by one key or several. It is one more categorical score, whatever its values are,
            called "segment" or by its name; predictions need it, too.
        pos_label : label, optional
            The positive class, whose probability the scores speak of. Text labels need it; of two other numbers, such
            as 1 and 2, the larger is positive as in scikit-learn.

        Returns
        -------
        self
        """
        self._check_labels_given(y)
        columns = _join(X, segment)
        positive, classes = _validation.encode_labels(y, _validation.choose_positive(y, pos_label))
        weights = fill_weights(sample_weight, len(positive))
        kept = weights > 0.0
        if not kept.any():
            raise InvalidInputError("`X` must have at least one row; got 0 sample(s).")
        found = [self._fit_single(name, column, positive, weights, kept) for name, column in columns.items()]
        singles = [single for single in found if single is not None]
        if not singles:
            raise InvalidInputError("`X` must have a score that is not missing in all rows; got none.")
        useful = [one for one in singles if np.nanmax(one.column) > np.nanmin(one.column)] or singles[:1]
        self._singles = sorted(useful, key=lambda single: (single.is_category, single.loss))
        self.map_ = self._fit_map(tuple(columns), positive[kept], weights[kept])
        self.classes_, self.n_features_in_ = np.array(classes), len(columns)
        return self

    def _fit_single(self, name: str, column: Any, positive: Bools, weights: Floats, kept: Bools) -> Single | None:
        """What a score says alone; nothing if it is missing in all rows."""
        space = space_of(name, column, self.space)
        values = read_column(name, column, space)
        _validation.check_same_length(len(values), len(positive), "y")
        if space == CATEGORY:
            own = [value for value, keep in zip(values, kept.tolist(), strict=True) if keep]
            return fit_category(name, own, positive[kept], weights[kept])
        if np.isnan(values[kept]).all():
            return None
        return fit_numeric(name, values[kept], space, positive[kept], weights[kept])

    def _fit_map(self, names: tuple[str, ...], positive: Bools, weights: Floats) -> PanelMap:
        self._blend: Any = None
        self._pool: Pool | None = None
        first, method = self._singles[0], type(self).__name__
        if len(self._singles) == 1 and not first.is_category and not first.has_gaps:
            # One numeric score that is never missing: what Blend gives.
            blend = Blend(space=first.score.space).fit_tally(Tally.from_arrays(first.column, positive, weights))
            features = learn_features([first._replace(score=replace(first.score, alone=blend.map_.function))], weights)
            self._blend, self.log_loss_ = blend, blend.left_out_log_loss()
            self.left_out_ = _tally_of(first.left_out, positive, weights)
            sums = np.zeros((2, features.size))
            return PanelMap(names, features, np.array([0.0, 0.0, 0.0, 1.0]), sums, blend.map_.function, None, method)
        self._pool = pool = fit_pool(self._singles, positive, weights)
        said = pool.said(pool.columns, pool.apart)
        self.log_loss_ = float(-np.average(np.log(said), weights=pool.sample.weights))
        self.left_out_ = _tally_of(said, pool.sample.y > 0.0, pool.sample.weights)
        linear = np.stack([average.linear for average in pool.sums])
        return PanelMap(names, pool.features, pool.weights, linear, pool.mean_map, None, method)

    def frozen_map(self) -> PanelMap:
        """The fitted map with what it needs for intervals."""
        map_: PanelMap = self._fitted_map()
        if self._pool is not None:
            return replace(map_, posterior=LogitPosterior(self._pool.opened.mean, self._pool.opened.root))
        return replace(map_, posterior=PosteriorTable.of(self._blend, self._blend.map_.space))

    def predict(self, X: Any, segment: Any = None) -> Floats:
        """Calibrated probabilities of the positive class, (n,)."""
        return _validation.like(X, self._fitted_map().predict(_join(X, segment)))

    def predict_proba(self, X: Any, segment: Any = None) -> Floats:
        """Probabilities of the negative and the positive class, (n, 2)."""
        return _validation.like(X, self._fitted_map().predict_proba(_join(X, segment)))

    def predict_interval(self, X: Any, level: float = 0.9, *, segment: Any = None) -> tuple[Floats, Floats]:
        """Lower and upper ends of the credible interval of each probability, (n,) each."""
        model, scores = self._posterior(X, segment)
        return ends_like(X, model.predict_interval(scores, level))

    def sample_maps(self, X: Any, n_draws: int = 100, random_state: RandomState = 0, *, segment: Any = None) -> Floats:
        """Draws of the probabilities of all rows, (n_draws, n), each from one whole map."""
        model, scores = self._posterior(X, segment)
        return model.sample_maps(scores, n_draws, random_state)

    def _posterior(self, X: Any, segment: Any) -> tuple[Any, Any]:
        """Who knows intervals and draws, and what it is asked about."""
        columns, map_ = _join(X, segment), self._fitted_map()
        return (self._blend, map_.one_score(map_.check(columns))) if self._blend else (self.frozen_map(), columns)

    def draw_chunks(self, X: Any, n_draws: int, random_state: RandomState = 0) -> Iterator[Floats]:
        """The probabilities, then the draws of `sample_maps`, in chunks of rows, so that not all are held at once."""
        return self.frozen_map().draw_chunks(X, n_draws, random_state)

    @property
    def scores_(self) -> tuple[ScoreWorth, ...]:
        """What each score is worth, the best alone first."""
        self._fitted_map()
        found = [self._worth(j, single) for j, single in enumerate(self._singles)]
        return tuple(sorted(found, key=lambda worth: worth.alone))

    def _worth(self, j: int, single: Single) -> ScoreWorth:
        if self._pool is not None:
            cost = self._pool.cost_without(j)
        else:
            p = self._blend.labelled_.cells.base_rate
            cost = float(-p * np.log(p) - (1.0 - p) * np.log(1.0 - p)) - self.log_loss_ if 0.0 < p < 1.0 else 0.0
        return ScoreWorth(single.score.name, single.score.space, single.loss, cost, single.missing)

    def summary(self) -> str:
        """Say in a few lines what the fit found."""
        worth = self.scores_
        lines = [f"Leaving out one row at a time, {len(worth)} scores together have log-loss {self.log_loss_:.4f}; "]
        lines[0] += f"{worth[0].name}, the best alone, has {worth[0].alone:.4f}."
        return "\n".join(lines + align([HEADERS, *(row.texts() for row in worth)]))


def _tally_of(said: Floats, positive: Bools, weights: Floats) -> Tally:
    """The tally of rows of whose own label this was said."""
    return Tally.from_arrays(np.where(positive, said, 1.0 - said), positive, weights)


def _join(X: Any, segment: Any) -> Any:
    """The columns of scores, and segments as categorical ones."""
    columns, keys = read_columns(X), {} if segment is None else as_columns(segment)
    both = [name for name in keys if name in columns]
    if both:
        raise InvalidInputError(f"`segment` must have names that no score has; got {both[0]!r} twice. Rename one.")
    return columns | {name: read_column(name, column, CATEGORY) for name, column in keys.items()}
