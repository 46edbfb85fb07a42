"""Matrix blend: four nested Bayesian corrections of a whole probability matrix, averaged by their evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from calibrant._kernels.class_features import Features, fit_log_slope, log_softmax, zero_as
from calibrant._kernels.multinomial_average import centre, spread_draws
from calibrant._kernels.multinomial_laplace import Posterior, ScalePrior, learn
from calibrant._kernels.multinomial_rows import Rows
from calibrant._typing import Floats, Ints
from calibrant.calibrators.matrix_base import BayesianMatrixCalibrator
from calibrant.calibrators.matrix_formula import write_formula
from calibrant.calibrators.matrix_map import MatrixMap, MatrixMember, log_scores

__all__ = ["MatrixBlend"]

MEMBERS = {
    "temperature": ("slope", "curve"),
    "bias": ("slope", "curve", "bias"),
    "vector": ("slope", "curve", "gate", "bias", "vector", "class_curve"),
    "matrix": ("slope", "curve", "gate", "bias", "vector", "class_curve", "matrix"),
}
# Typical sizes of the coefficients, in nats of the logit; the data overrule them soon.
CENTERS = {
    "slope": 0.3,
    "curve": 0.45,
    "gate": 0.2,
    "bias": 0.22,
    "vector": 0.18,
    "class_curve": 0.22,
    "matrix": 0.15,
}
PRIOR = ScalePrior(CENTERS, 0.5)
MATRIX_UP_TO = 30  # classes
CURVES_UP_TO = 250  # classes with a curve of their own
LEAST_WEIGHT = 1e-3
DRAWS = 32  # coefficient vectors over which predictions are averaged
AVERAGED_ENTRIES = 100_000  # of the score matrix; with more rows the posterior is so narrow that its centre will do


@dataclass(frozen=True)
class _Fitted:
    """A member: its posterior around the centre that predictions use, and its weight."""

    posterior: Posterior
    centre: Floats
    weight: float
    deviations: Floats  # (draws, D); one row of zeros where the centre stands for all


class MatrixBlend(BayesianMatrixCalibrator):
    """doc."""

    name: ClassVar[str] = "matrix_blend"
    title: ClassVar[str] = "Matrix blend"
    description: ClassVar[str] = "Temperature, curves, biases and a matrix for several classes, weighed by evidence."
    reference: ClassVar[str] = "this library"

    def fit_map(self, scores: np.ndarray[Any, Any], labels: Ints, weights: Floats) -> MatrixMap:
        floor = zero_as(scores) if self.space == "probability" else 0.0
        x = log_scores(scores, self.space, floor)
        # In an order of the classes that the data set, so that nothing depends on the order of the columns.
        self._order = np.argsort(np.average(log_softmax(x), axis=0, weights=weights), kind="stable")
        x, y = x[:, self._order], np.argsort(self._order)[labels]
        slope = float(np.exp(fit_log_slope(x, y, weights)))
        ell = log_softmax(slope * x)
        self._features = Features.from_rows(ell, weights)
        self._fitted = self._fit_members(ell, y, weights)
        shape = self._features
        return MatrixMap(
            tuple(self.classes_.tolist()),
            self.space,
            slope,
            tuple(self._pool()),
            floor,
            shape.low,
            shape.high,
            shape.curve.knots,
            shape.class_curve.knots,
            shape.gate.knots,
            type(self).__name__,
        )

    def _fit_members(self, ell: Floats, y: Ints, weights: Floats) -> dict[str, _Fitted]:
        n_classes = ell.shape[1]
        posteriors: dict[str, Posterior] = {}
        rows: dict[str, Rows] = {}
        start: Posterior | None = None
        for name, blocks in MEMBERS.items():
            if name == "matrix" and n_classes > MATRIX_UP_TO:
                continue
            used = tuple(b for b in blocks if b != "class_curve" or n_classes <= CURVES_UP_TO)
            rows[name] = Rows(self._features, ell, y, weights, used)
            start = posteriors[name] = learn(rows[name], PRIOR, start)
        evidence = np.array([posterior.evidence for posterior in posteriors.values()])
        shares = np.exp(evidence - evidence.max())
        self.weights_ = dict(zip(posteriors, (shares / shares.sum()).tolist(), strict=True))
        kept = [name for name, weight in self.weights_.items() if weight >= LEAST_WEIGHT]
        total = sum(self.weights_[name] for name in kept)
        return {name: _centred(rows[name], posteriors[name], self.weights_[name] / total) for name in kept}

    def _pool(self) -> list[MatrixMember]:
        members = []
        for fitted in self._fitted.values():
            weight = fitted.weight / len(fitted.deviations)
            members += [self._formula(fitted.posterior, fitted.centre + s, weight) for s in fitted.deviations]
        return members

    def _formula(self, posterior: Posterior, theta: Floats, weight: float) -> MatrixMember:
        formula = write_formula(theta, posterior.layout, self._features, weight)
        return formula.permuted(np.argsort(self._order))

    def draw_members(self, n_draws: int, rng: np.random.Generator) -> list[MatrixMember]:
        counts = rng.multinomial(n_draws, [fitted.weight for fitted in self._fitted.values()])
        members = []
        for fitted, count in zip(self._fitted.values(), counts, strict=True):
            normals = rng.standard_normal((len(fitted.centre), count))
            shifts = fitted.posterior.curvature.draw(normals).T if count else []
            members += [self._formula(fitted.posterior, fitted.centre + shift, 1.0 / n_draws) for shift in shifts]
        return members


def _centred(rows: Rows, posterior: Posterior, weight: float) -> _Fitted:
    """A member with as many draws as its weight deserves, in pairs, or with its mode alone."""
    count = 2 * int(np.ceil(0.5 * DRAWS * weight))
    if rows.ell.size > AVERAGED_ENTRIES or not len(posterior.mean):
        return _Fitted(posterior, posterior.mean, weight, np.zeros((1, len(posterior.mean))))
    deviations = spread_draws(posterior, count, np.random.default_rng(0))
    return _Fitted(posterior, centre(rows, posterior, deviations), weight, deviations)
