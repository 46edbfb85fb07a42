"""The models of cross-fitting: which of them broke, and whether the others share a map."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.parallel import delayed

from calibrant import _limits
from calibrant._numerics import links, logistic
from calibrant._typing import Floats, Ints
from calibrant.calibrators.base import BayesianCalibrator
from calibrant.classifier.rows import ClassifierRows
from calibrant.classifier.views import CalibratedModel, ClassScores, OneVsRest, Recipe
from calibrant.tally import Tally

# Models keep maps of their own if these make the labels of left-out rows this many times as likely.
ODDS_FOR_OWN_MAPS = 20.0
# Standard errors by which the loss of a model that broke is above that of others, on held-out rows that are not the
# same for all models, and on the same rows.
LIKELY, BEYOND_DOUBT = 2.5, 4.0
WEAK_RIDGE = 0.16  # a normal prior of deviation 2.5 logits, which keeps level and slope of separated rows finite


@dataclass(frozen=True)
class Split:
    """A model, the rows that trained it, and those that were held out, with its scores of them."""

    estimator: Any
    train: Ints
    test: Ints
    scores: ClassScores


@dataclass(frozen=True)
class CrossFit:
    """How models of splits are calibrated: by maps of their own, or `pooled`, by one map of all held-out rows."""

    recipe: Recipe
    data: ClassifierRows
    parallel: Any
    pooled: bool

    def calibrate(self, splits: Sequence[Split]) -> list[CalibratedModel]:
        """Models of one algorithm share the map of a Bayesian method, learned from the held-out rows of all of them.

        The prior of a method draws every map towards the score. Averaging models that were calibrated on a fold each
        takes away their noise but not that pull; a map of all rows has the prior in it once. A method without a
        posterior has no such pull, and its models keep their maps, as in scikit-learn.
        """
        if self.pooled:
            return self._with_one_map(splits)
        # Segments have a posterior, too, but no log-loss of left-out rows to tell whether maps of their own are better.
        method = self.recipe.calibrator
        if not method.bayesian or method.shape == "segments" or not _know_the_same(splits):
            return self._with_own_maps(splits)
        shared = self._with_one_map(splits)
        if self._gain_by_lines(shared[0], splits) > 0.0:  # fitting maps of their own costs more than finding this out
            own = self._with_own_maps(splits)
            if self._log_odds(shared[0], own, splits) > np.log(ODDS_FOR_OWN_MAPS):
                return own
        return shared

    def _with_own_maps(self, splits: Sequence[Split]) -> list[CalibratedModel]:
        codes, weights = self.data.codes, self.data.weights_of
        calls = [(split.estimator, split.scores, codes[split.test], weights(split.test)) for split in splits]
        return list(self.parallel(delayed(self.recipe.calibrate)(*call) for call in calls))

    def _with_one_map(self, splits: Sequence[Split]) -> list[CalibratedModel]:
        rows = np.concatenate([split.test for split in splits])
        stacked = ClassScores.stacked([split.scores for split in splits])
        weights = _count_rows_once(rows, self.data.weights)
        shared = self.recipe.calibrate(None, stacked, self.data.codes[rows], weights)
        one_score = self.recipe.calibrator.shape == "score"
        two = isinstance(shared.view, OneVsRest) and len(shared.classes) == 2 and one_score
        return [
            replace(shared, estimator=split.estimator, held_out=self._tally(split, 1) if two else None)
            for split in splits
        ]

    def _tally(self, split: Split, column: int) -> Tally:
        positive, weights = self.data.codes[split.test] == column, self.data.weights_of(split.test)
        return Tally.from_arrays(split.scores.values[:, column], positive, weights).coarsen(_limits.BINNING_CELLS)

    def _gain_by_lines(self, shared: CalibratedModel, splits: Sequence[Split]) -> float:
        """What a level and a slope for each model add to the likelihood of its rows, less one nat for each (Akaike's).

        A method for the whole matrix, or for several scores, cannot tell whether maps of their own are better, and its
        models share.
        """
        if not isinstance(shared.view, OneVsRest) or self.recipe.calibrator.shape != "score":
            return -np.inf
        pairs = [(one, k) for k, one in zip(shared.view.columns.tolist(), shared.calibrators, strict=True)]
        return sum(_gain_by_line(one, self._tally(split, k)) - 2.0 for split in splits for one, k in pairs)

    def _log_odds(self, shared: CalibratedModel, own: list[CalibratedModel], splits: Sequence[Split]) -> float:
        """How much more likely a map for each model makes the labels of left-out rows."""
        rows = np.concatenate([split.test for split in splits])
        which = np.repeat(np.arange(len(splits)), [len(split.test) for split in splits])
        n_rows = np.bincount(which, _count_rows_once(rows, self.data.weights))
        losses = np.array([_left_out_log_loss(model) for model in own])
        return float(n_rows @ (_left_out_log_loss(shared) - losses))

    def losses(self, model: CalibratedModel, scores: ClassScores, rows: Ints) -> Floats:
        """The log-loss of each row."""
        proba = model.view.predict_proba(scores)
        return -np.log(links.clip(proba[np.arange(len(rows)), self.data.codes[rows]]))


def calibrate_splits(fit: CrossFit, splits: Sequence[Split]) -> list[CalibratedModel]:
    """Calibrate the models of all splits, without those that broke; at least half of them are kept."""
    models, kept = fit.calibrate(splits), list(splits)
    while 2 * (len(kept) - 1) >= len(splits) and _know_the_same(kept):
        broken = _find_broken(fit, models, kept)
        if broken is None:
            break
        del kept[broken]
        models = fit.calibrate(kept)
    return models


def _find_broken(fit: CrossFit, models: list[CalibratedModel], splits: list[Split]) -> int | None:
    """The model that is worse than the others on held-out rows, and beyond doubt so on rows that it was trained on.

    Held-out rows of one split can be harder than those of another. Then its model is not worse than others by half as
    much on rows that trained both; one whose training failed is.
    """
    if len(splits) < 2:
        return None
    losses = [fit.losses(model, split.scores, split.test) for model, split in zip(models, splits, strict=True)]
    means = np.array([loss.mean() if len(loss) else -np.inf for loss in losses])
    worst, best = int(means.argmax()), int(np.where(np.isfinite(means), means, np.inf).argmin())
    others = np.concatenate(losses[:worst] + losses[worst + 1 :])
    gap = means[worst] - (others.mean() if len(others) else np.inf)
    error = np.sqrt(losses[worst].var() / len(losses[worst]) + others.var() / max(len(others), 1))
    both = np.intersect1d(splits[worst].train, splits[best].train)
    if not gap > LIKELY * error or len(both) == 0:
        return None
    # By one map: that of a split with hard rows would be flat.
    rows = _safe_indexing(fit.data.X, both), fit.data.segment_of(both)
    scores = (fit.recipe.scores(splits[one].estimator, *rows) for one in (worst, best))
    own, other = (fit.losses(models[best], each, both) for each in scores)
    paired, trained = own - other, (own.mean(), other.mean())
    if paired.mean() < max(0.5 * gap, BEYOND_DOUBT * paired.std() / np.sqrt(len(paired))):
        return None
    warnings.warn(
        f"The model of one of {len(splits)} splits is left out, since its training seems to have failed: its log-loss "
        f"on held-out rows is {means[worst]:.3g}, that of the others {others.mean():.3g}; on rows that it was trained "
        f"on it is {trained[0]:.3g}, that of another model {trained[1]:.3g}. Look at the settings of the classifier.",
        RuntimeWarning,
        stacklevel=5,
    )
    return worst


def with_own_map(model: CalibratedModel) -> CalibratedModel:
    """The model with the map that the rows of its own split give, where it shares another.

    Draws of a shared map are too narrow for sums over rows: with 300 labels, 90 % intervals of the mean held it in 26
    of 40 samples, and those from the rows of each split in 37.
    """
    if model.held_out is None:
        return model
    own = clone(model.calibrators[0]).fit_tally(model.held_out)
    return replace(model, view=replace(model.view, calibrators=(own,)))


def _know_the_same(splits: Sequence[Split]) -> bool:
    return all((split.scores.known == splits[0].scores.known).all() for split in splits)


def _count_rows_once(rows: Ints, weights: Floats | None) -> Floats | None:
    """Weights of held-out rows; those of a row that several splits hold out sum to the weight of the row."""
    times = np.bincount(rows)[rows]
    if (times == 1).all():
        return None if weights is None else weights[rows]
    return (1.0 if weights is None else weights[rows]) / times


def _gain_by_line(calibrator: Any, tally: Tally) -> float:
    """How much more likely, in nats, a level and a slope on the logit scale make labels that they are fitted to."""
    z = links.logit(calibrator.predict(tally.scores))
    features = np.column_stack((np.ones(len(z)), z - z.mean()))
    line = logistic.fit_logistic(features, tally.positives, tally.totals, ridge=WEAK_RIDGE, offsets=z).coefficients
    before, after = (links.clip(links.expit(z + shift)) for shift in (0.0, features @ line))
    return float(tally.positives @ np.log(after / before) + tally.negatives @ np.log((1.0 - after) / (1.0 - before)))


def _left_out_log_loss(model: CalibratedModel) -> float:
    of_one_score = [one for one in model.calibrators if isinstance(one, BayesianCalibrator) and one.matrix_ is None]
    return sum(calibrator.left_out_log_loss() for calibrator in of_one_score)
