"""Calibrators whose maps are multinomial models with Gaussian coefficients: one model, or several."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from calibrant._typing import Floats, Ints
from calibrant.maps.matrix import MatrixMap, MatrixMember, chunks
from calibrant.multiclass.base import BayesianMatrixCalibrator
from calibrant.multiclass.curvature import Arrow
from calibrant.multiclass.feature_fit import FeatureFit, fit_prior_temperature, write_formula
from calibrant.multiclass.features import repeated_entries, sample_rows
from calibrant.multiclass.laplace import Posterior, ScalePrior, Start, centre, draw, fit, spread_draws, tighten
from calibrant.multiclass.rows import Rows

LEAST_WEIGHT = 1e-3
DRAWS = 32  # coefficient vectors over which predictions are averaged
AVERAGED_ENTRIES = 60_000  # of the score matrix; with more, the posterior is so narrow that its mode will do
# Models are weighed by how they can be expected to predict new rows. (Evidence asks how they would have predicted these
# rows from the first one on, which holds early mistakes against rich models for ever.) The estimate is noisy and no
# model is quite true, so a power of it is taken, and each model is less likely beforehand than the one before.
EXPECTED_FIT_POWER, PRIOR_OF_NEXT_MODEL = 0.2, 0.8
SAMPLED_ENTRIES = 12_000_000  # of the score matrix; with twice as many, temperature and knots come from a sample,
SHARED_ROWS = 2000  # and what classes share from about so many rows of it


@dataclass(frozen=True)
class FittedModel:
    """A model's posterior, the centre that predictions use, and deviations from it, (draws, D)."""

    posterior: Posterior
    centre: Floats
    deviations: Floats
    weight: float


class MultinomialCalibrator(BayesianMatrixCalibrator):
    """Base of the calibrators that correct tempered log-probabilities by terms with Gaussian coefficients.

    A method names the blocks of coefficients of its models, each model starting where the one before ended; they are
    weighed by the log-likelihood that is expected of new rows. Predictions average over draws where rows are few.

    Attributes
    ----------
    weights_ : dict of str to float
        The weight of each model.
    scales_ : dict of str to float
        The learned typical size, in nats, of the coefficients of each block of the model with the largest weight.

    Examples
    --------
    >>> from calibrant.multiclass.scaling import MatrixScaling
    >>> scores, y = [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4]] * 4, [0, 1, 1] * 4
    >>> MatrixScaling().fit(scores, y).weights_
    {'matrix': 1.0}
    """

    models: ClassVar[Mapping[str, tuple[str, ...]]]
    centers: ClassVar[Mapping[str, float]]  # typical sizes of coefficients, in nats of the logit
    adapted: ClassVar[bool] = False  # whether scores are tempered first, and linear terms bounded and standardised
    lapses: ClassVar[float] = 0.0  # rows' worth of labels that have nothing to do with the scores

    def fit_map(self, scores: np.ndarray[Any, Any], labels: Ints, weights: Floats) -> MatrixMap:
        some, times = sample_rows(scores, labels, weights, SAMPLED_ENTRIES)
        self._feature_fit = FeatureFit.from_rows(scores[some], labels[some], times, self.space, adapted=self.adapted)
        if isinstance(some, slice) or "vector" not in self.models:
            ell, y = self._feature_fit.tempered(scores), self._feature_fit.labels(labels)
            self._fitted = self._fit_models(ell, y, weights)
        else:
            self._fitted = self._fit_many(scores, labels, weights)
        members = [
            self._feature_fit.formula(theta, model.posterior.layout, model.weight / len(model.deviations))
            for model in self._fitted
            for theta in model.centre + model.deviations
        ]
        if self.lapses:
            share = self.lapses / (self.lapses + float(weights.sum()))
            members = [replace(member, weight=(1.0 - share) * member.weight) for member in members]
            members.append(MatrixMember(share, slope=-1.0))  # all classes alike
        return self._feature_fit.map(self.classes_, members, type(self).__name__)

    def models_for(self, n_classes: int) -> dict[str, tuple[str, ...]]:  # noqa: ARG002 - for those that depend on it
        """The blocks of each model for so many classes."""
        return dict(self.models)

    def scale_prior(self, n_rows: float, n_classes: int) -> ScalePrior:  # noqa: ARG002 - the same
        """What is known about the sizes of coefficients."""
        return ScalePrior(self.centers)

    def draws_for(self, entries: float) -> int:
        """How many coefficient vectors to average over; 0 is the mode alone."""
        return DRAWS if entries <= AVERAGED_ENTRIES else 0

    def _fit_models(self, ell: Floats, y: Ints, weights: Floats) -> list[FittedModel]:
        models = self.models_for(ell.shape[1])
        prior = self._prior = self.scale_prior(float(weights.sum()), ell.shape[1])
        # Features are computed once, for the last model, which has all blocks; every model starts where the one before
        # ended.
        richest = Rows(self._feature_fit.features, ell, y, weights, list(models.values())[-1])
        rows = {name: richest.restricted(blocks) for name, blocks in models.items()}
        posteriors: dict[str, Posterior] = {}
        start = self._first_start(next(iter(rows.values())), prior)
        for name, these in rows.items():
            start = posteriors[name] = fit(these, prior, start)
        self._weigh(posteriors)
        draws = self.draws_for(repeated_entries(weights, ell.shape[1]))
        kept = [name for name, weight in self.weights_.items() if weight >= LEAST_WEIGHT]
        total = sum(self.weights_[name] for name in kept)
        return [_average(rows[name], posteriors[name], self.weights_[name] / total, draws) for name in kept]

    def _first_start(self, rows: Rows, prior: ScalePrior) -> Start | None:
        """Where there is no temperature before the model, it starts at one: extreme scores make Newton's steps lame."""
        if self.adapted:
            return None
        excess = fit_prior_temperature(rows.ell, rows.y, rows.weights) - 1.0
        features, group = rows.features, rows.layout.group
        block, spread = ("slope", features.slope_spread) if "slope" in group else ("vector", features.spread)
        mean = np.where(group == block, excess * spread, 0.0)
        return Start(rows.layout, mean, {b: prior.centers[b] for b in rows.layout.members})

    def _weigh(self, posteriors: dict[str, Posterior]) -> None:
        names = list(self.models_for(len(self.classes_)))
        # By the place among all models: one that was dropped on the way must not make those after it more likely.
        prior = PRIOR_OF_NEXT_MODEL ** np.array([names.index(name) for name in posteriors], dtype=float)
        evidence, expected = np.array([(fitted.evidence, fitted.expected) for fitted in posteriors.values()]).T
        self._evidence = float(evidence.max() + np.log(np.average(np.exp(evidence - evidence.max()), weights=prior)))
        shares = prior * np.exp(EXPECTED_FIT_POWER * (expected - expected.max()))
        self.weights_ = dict.fromkeys(names, 0.0) | dict(zip(posteriors, (shares / shares.sum()).tolist(), strict=True))
        self.scales_ = dict(posteriors[max(posteriors, key=self.weights_.__getitem__)].scales)

    def _fit_many(self, scores: np.ndarray[Any, Any], labels: Ints, weights: Floats) -> list[FittedModel]:
        """What classes share from a part of the rows, each class's bias and slope from all of them."""
        # A thousand classes and fifty thousand rows have no room for features of every block. But the shared terms (a
        # slope, a curve, a gate) have a few dozen coefficients, which a sample of rows determines as well as all; only
        # a class's own bias and slope need every row of that class. So there are two fits:
        #   1. all blocks but curves of classes, on a part of the rows (`sample`);
        #   2. bias and slope of each class on all rows, the shared terms of the first fit being a fixed offset.
        # The posteriors of the two are put together as if they were independent.
        feature_fit = self._feature_fit
        prior = self._prior = self.scale_prior(float(weights.sum()), scores.shape[1])
        y = feature_fit.labels(labels)
        some, times = sample_rows(scores, labels, weights, SHARED_ROWS * scores.shape[1])
        blocks = tuple(b for b in self.models_for(scores.shape[1])["vector"] if b != "class_curve")
        sample = Rows(feature_fit.features, feature_fit.tempered(scores[some]), y[some], times, blocks)
        first = fit(sample, prior)
        ell = feature_fit.tempered(scores, np.float32)
        rows = Rows(feature_fit.features, ell, y, weights, ("bias", "vector"), self._offsets(ell, first))
        second = fit(rows, prior)
        # Both layouts put shared coefficients first and then bias and slope, class by class; so the coefficients of
        # the whole model are the head of the first fit and all of the second, in the layout of the first.
        size = first.layout.n_shared
        mean = np.concatenate((first.mean[:size], second.mean))
        precision = np.concatenate((first.precision[:size], second.precision))
        # The shared coefficients are as sure as all rows would make them, the curvature of the sample times as much
        # as their weight is larger; their link to the classes is left out.
        shared = (weights.sum() / times.sum()) * sample.arrow(np.exp(sample.log_probabilities(first.mean)))[0]
        link = np.zeros((scores.shape[1], size, 2))
        curvature = Arrow(shared, link, rows.arrow(np.exp(rows.log_probabilities(second.mean)))[2])
        posterior = replace(
            second,
            layout=first.layout,
            mean=mean,
            curvature=curvature.with_prior(precision),
            precision=precision,
            scales=first.scales | second.scales,
        )
        self._weigh({"vector": posterior})
        return [FittedModel(posterior, mean, np.zeros((1, len(mean))), 1.0)]

    def _offsets(self, ell: np.ndarray[Any, Any], first: Posterior) -> np.ndarray[Any, Any]:
        """Logits with the shared terms alone, in float32."""
        shared = np.where(np.arange(len(first.mean)) < first.layout.n_shared, first.mean, 0.0)
        member = write_formula(shared, first.layout, self._feature_fit.features)
        map_ = self._feature_fit.map(self.classes_, [member], type(self).__name__)
        out = np.empty_like(ell)
        for rows in chunks(ell):
            out[rows] = member.logits(map_, ell[rows].astype(np.float64))
        return out

    def draw_members(self, n_draws: int, rng: np.random.Generator) -> list[MatrixMember]:
        # Weights prefer small models, which predict well from few rows; but what one leaves out it holds to be 0 for
        # sure. Intervals must doubt that, so models are drawn without the preference.
        kept = [place for place, weight in enumerate(self.weights_.values()) if weight >= LEAST_WEIGHT]
        shares = [m.weight / PRIOR_OF_NEXT_MODEL**place for place, m in zip(kept, self._fitted, strict=True)]
        counts = rng.multinomial(n_draws, np.array(shares) / sum(shares))
        members: list[MatrixMember] = []
        prior = replace(self._prior, pivots=self._feature_fit.features.pivots())
        for model, count in zip(self._fitted, counts, strict=True):
            thetas = draw(model.posterior, model.centre, prior, count, rng)
            members += [self._feature_fit.formula(theta, model.posterior.layout, 1.0 / n_draws) for theta in thetas]
        return members


def _average(rows: Rows, posterior: Posterior, weight: float, draws: int) -> FittedModel:
    """A model with as many draws as its weight deserves, in pairs, or with its mode alone."""
    if not draws:
        return FittedModel(posterior, posterior.mean, np.zeros((1, len(posterior.mean))), weight)
    # The first deviations come from the curvature at the mode, which can be far too small; they give a better one, with
    # which the same random numbers are used again.
    count = 2 * int(np.ceil(0.5 * draws * weight))
    posterior = tighten(rows, posterior, spread_draws(posterior, count, np.random.default_rng(0)))
    deviations = spread_draws(posterior, count, np.random.default_rng(0))
    return FittedModel(posterior, centre(rows, posterior, deviations), deviations, weight)
