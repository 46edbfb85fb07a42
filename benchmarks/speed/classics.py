"""Fit times of the classic calibrators as ratios to scikit-learn's and betacal's.

Run with ``python -m benchmarks.speed.classics``.
"""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
from betacal import BetaCalibration as PeerBeta
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from benchmarks.timing import compare
from calibrant import BetaCalibration, HistogramBinning, IsotonicCalibration, PlattScaling, TemperatureScaling


class Scores(LogisticRegression):
    """A model whose decision scores are its one feature, so that only the calibration costs time."""

    def decision_function(self, X):
        """The feature."""
        return X[:, 0]


class Logits(Scores):
    """The same for several classes: the features are the logits."""

    def decision_function(self, X):
        """The features."""
        return X


def rows(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    scores = rng.beta(0.6, 0.9, n)
    return scores, (rng.random(n) < scores**1.5 / (scores**1.5 + (1.0 - scores) ** 0.8)).astype(int)


def against_scikit_learn(model: type[LogisticRegression], method: str, X: np.ndarray, y: np.ndarray) -> object:
    first = np.concatenate([np.flatnonzero(y == label)[:5] for label in np.unique(y)])
    fitted = FrozenEstimator(model().fit(X[first], y[first]))
    return CalibratedClassifierCV(fitted, method=method, ensemble=False).fit(X, y)


def binary(n: int) -> None:
    s, y = rows(n)
    z = np.log(s.clip(1e-12) / (1.0 - s).clip(1e-12))
    rounds = 3 if n >= 1_000_000 else 5
    peer = partial(against_scikit_learn, Scores, X=z[:, None], y=y)
    decision = {"space": "decision"}
    isotonic = IsotonicRegression(out_of_bounds="clip", y_min=0.0, y_max=1.0)
    compare(
        f"isotonic, fit, n = {n}",
        ("scikit-learn IsotonicRegression", lambda: isotonic.fit(s, y)),
        {"IsotonicCalibration": (lambda: IsotonicCalibration().fit(s, y), 1.2)},
        rounds,
    )
    compare(
        f"beta, fit, n = {n}",
        ("betacal", lambda: PeerBeta("abm").fit(s, y)),
        {
            "BetaCalibration": (lambda: BetaCalibration().fit(s, y), 1.0),
            "HistogramBinning": (lambda: HistogramBinning().fit(s, y), None),
        },
        rounds,
    )
    compare(
        f"temperature, fit, n = {n}",
        ("scikit-learn temperature", lambda: peer(method="temperature")),
        {"TemperatureScaling": (lambda: TemperatureScaling(**decision).fit(z, y), 1.0)},
        rounds,
    )
    compare(
        f"Platt, fit, n = {n}",
        ("scikit-learn sigmoid", lambda: peer(method="sigmoid")),
        {"PlattScaling": (lambda: PlattScaling(**decision).fit(z, y), 1.0)},
        rounds,
    )


def several_classes(n: int, n_classes: int) -> None:
    rng = np.random.default_rng(0)
    logits = 3.0 * rng.standard_normal((n, n_classes))
    y = np.argmax(0.5 * logits + rng.gumbel(size=logits.shape), axis=1)
    compare(
        f"temperature, fit, n = {n}, {n_classes} classes",
        ("scikit-learn temperature", lambda: against_scikit_learn(Logits, "temperature", logits, y)),
        {"TemperatureScaling": (lambda: TemperatureScaling(space="decision").fit(logits, y), 1.0)},
        rounds=3,
    )


def main() -> None:
    warnings.simplefilter("ignore")  # the peers warn about their own convergence
    for n in (10**3, 10**4, 10**5, 10**6):
        binary(n)
    several_classes(10**5, 10)


if __name__ == "__main__":
    main()
