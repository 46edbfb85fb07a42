"""Draw reliability diagrams of typical and extreme cases, for review by eye: python benchmarks/pictures.py FOLDER."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import rc_context, style
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

from calibrant import CalibrationMapDisplay, HistogramBinning, PlattScaling, ReliabilityDisplay, simulate
from calibrant.calibrators import registry
from calibrant.calibrators.base import BayesianCalibrator

BAYESIAN = ("abb", "bayes_iso", "spline")
LONG = "Gradient boosting, 4000 trees of depth 8, isotonic on the hold-out of 2024, without leakage"


def new_axes(width: float = 5.6, height: float = 6.8, columns: int = 1) -> Any:
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure.subplots(1, columns)


def rare(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """99 % of the scores are below 0.01; the true log-odds are 0.8 times those of the score, less 0.3."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(-7.0, 1.0, n)
    scores = 1.0 / (1.0 + np.exp(-logits))
    return scores, rng.random(n) < 1.0 / (1.0 + np.exp(0.3 - 0.8 * logits))


def three_models(n: int = 2000) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    data = simulate.bayes_iso(n, rng=3)
    truth = np.clip(data.probabilities, 1e-6, 1 - 1e-6)
    logits = np.log(truth / (1 - truth))
    return data.labels, {
        "boosting": data.scores,
        "network": 1 / (1 + np.exp(-2.2 * logits)),
        "logistic": 1 / (1 + np.exp(-0.6 * logits - 0.4)),
    }


def bayesian(data: Any) -> Any:
    """The best posterior there is among the registered methods, fitted."""
    name = next((name for name in BAYESIAN if name in registry.METHODS["score"]), None)
    return None if name is None else registry.create(name).fit(data.scores, data.labels)


def sizes(n: int, **options: Any) -> Callable[[], Any]:
    def draw() -> Any:
        data = simulate.bayes_iso(n, rng=0)
        return ReliabilityDisplay.from_predictions(data.labels, data.scores, ax=new_axes(), **options)

    return draw


def models(**options: Any) -> Callable[[], Any]:
    def draw() -> Any:
        labels, predictions = three_models()
        return ReliabilityDisplay.from_predictions(labels, predictions, ax=new_axes(), **options)

    return draw


def rare_events(n: int, **options: Any) -> Callable[[], Any]:
    def draw() -> Any:
        scores, labels = rare(n)
        return ReliabilityDisplay.from_predictions(labels, scores, ax=new_axes(), name="fraud model", **options)

    return draw


def rare_models() -> Any:
    scores, labels = rare(50000)
    odds = scores / (1 - scores)
    predictions = {"fraud model": scores, "after undersampling": 20 * odds / (1 + 20 * odds)}
    return ReliabilityDisplay.from_predictions(labels, predictions, scale="logit", ax=new_axes())


def equal_scores() -> Any:
    labels = np.arange(400) % 10 < 3
    return ReliabilityDisplay.from_predictions(labels, np.full(400, 0.4), ax=new_axes())


def zeros_and_ones() -> Any:
    data = simulate.bayes_iso(3000, rng=2)
    votes = np.round(data.scores * 10) / 10
    return ReliabilityDisplay.from_predictions(data.labels, votes, scale="logit", ax=new_axes())


def long_names() -> Any:
    labels, predictions = three_models()
    named = {f"{LONG} ({i})": p for i, p in enumerate(predictions.values())}
    return ReliabilityDisplay.from_predictions(labels, named, ax=new_axes())


def dark() -> Any:
    with rc_context(), style.context("dark_background"):
        labels, predictions = three_models()
        return ReliabilityDisplay.from_predictions(labels, predictions, ax=new_axes())


def beside_each_other() -> Any:
    left, middle, right = new_axes(13.0, 5.6, 3)
    data = simulate.bayes_iso(1500, rng=1)
    for ax, curve in ((left, None), (middle, "corp"), (right, "platt")):
        display = ReliabilityDisplay.from_predictions(data.labels, data.scores, curve=curve, ax=ax)
        ax.set_title(f"curve={curve!r}")
    return display


def one_after_another() -> Any:
    labels, predictions = three_models()
    ax = new_axes()
    for name, y_prob in predictions.items():
        display = ReliabilityDisplay.from_predictions(labels, y_prob, name=name, ax=ax)
    return display


def estimator() -> Any:
    X, y = make_classification(3000, flip_y=0.2, random_state=0)
    model = LogisticRegression().fit(X[:1500], y[:1500])
    return ReliabilityDisplay.from_estimator(model, X[1500:], y[1500:], ax=new_axes())


def map_of(calibrator: Any, n: int, **options: Any) -> Callable[[], Any]:
    def draw() -> Any:
        data = simulate.bayes_iso(n, rng=0)
        calibrator.fit(data.scores, data.labels)
        return CalibrationMapDisplay.from_calibrator(calibrator, data.scores, data.labels, ax=new_axes(), **options)

    return draw


def map_of_decision_scores() -> Any:
    rng = np.random.default_rng(0)
    scores = rng.normal(0, 4, 2000)
    labels = rng.random(2000) < 1 / (1 + np.exp(1 - scores))
    calibrator = PlattScaling(space="decision").fit(scores, labels)
    return CalibrationMapDisplay.from_calibrator(calibrator, scores, labels, ax=new_axes())


def map_without_data() -> Any:
    data = simulate.bayes_iso(500, rng=0)
    map_ = registry.create("isotonic").fit(data.scores, data.labels).map_
    return CalibrationMapDisplay.from_calibrator(map_, ax=new_axes(), space="probability")


def two_maps() -> Any:
    data, ax = simulate.bayes_iso(1000, rng=0), new_axes()
    for name in ("isotonic", "beta"):
        calibrator = registry.create(name).fit(data.scores, data.labels)
        display = CalibrationMapDisplay.from_calibrator(calibrator, data.scores, data.labels, ax=ax)
    return display


def rare_map() -> Any:
    scores, labels = rare(50000)
    calibrator = registry.create("beta").fit(scores, labels)
    return CalibrationMapDisplay.from_calibrator(calibrator, scores, labels, scale="logit", ax=new_axes())


PICTURES: dict[str, Callable[[], Any]] = {
    "rows_60": sizes(60),
    "rows_1000": sizes(1000),
    "rows_200000": sizes(200000),
    "uniform": sizes(1000, strategy="uniform"),
    "no_distribution": sizes(1000, histogram=False, name="raw scores"),
    "no_curve": sizes(300, curve=None),
    "three_models": models(),
    "three_models_curves_only": models(points=False),
    "rare_linear": rare_events(50000),
    "rare_logit": rare_events(50000, scale="logit"),
    "rare_logit_small": rare_events(800, scale="logit"),
    "rare_models": rare_models,
    "equal_scores": equal_scores,
    "zeros_and_ones": zeros_and_ones,
    "long_names": long_names,
    "dark": dark,
    "beside_each_other": beside_each_other,
    "one_after_another": one_after_another,
    "estimator": estimator,
    "map_isotonic": map_of(registry.create("isotonic"), 1000),
    "map_histogram": map_of(HistogramBinning(), 60),
    "map_decision_scores": map_of_decision_scores,
    "map_without_data": map_without_data,
    "two_maps": two_maps,
    "rare_map": rare_map,
}
for _name in registry.METHODS["score"]:
    if issubclass(registry.get(_name), BayesianCalibrator):
        PICTURES[f"band_{_name}_60"] = sizes(60, curve=_name)
        PICTURES[f"band_{_name}"] = sizes(1000, curve=_name)
        PICTURES[f"band_models_{_name}"] = models(curve=_name)
        PICTURES[f"band_rare_{_name}"] = rare_events(50000, curve=_name, scale="logit")
        PICTURES[f"map_{_name}"] = map_of(registry.create(_name), 1000)


def main() -> None:
    folder = Path(sys.argv[1])
    wanted = sys.argv[2:]
    folder.mkdir(parents=True, exist_ok=True)
    for name, draw in PICTURES.items():
        if not wanted or any(part in name for part in wanted):
            # A figure keeps its colours from when it was made.
            figure = draw().figure_
            figure.savefig(folder / f"{name}.png", dpi=80, facecolor=figure.get_facecolor())
            print(name)


if __name__ == "__main__":
    main()
