"""Gates: how often an accepted set of rows has less than the wanted precision, and how many rows pass.

From the root of the repository; FOLDER holds tables (score, label) as Parquet:

    python -m benchmarks.gates simulated [--runs 500] [--methods finite_sample posterior naive exact sequence]
    python -m benchmarks.gates real FOLDER [--runs 200]

Simulated scores are Beta(4, 1.2) with five truths. Of a real table, all rows are the population, and labelled rows are
drawn from it with replacement. Beside the two guarantees: `naive`, the lowest score from which the labelled rows have
the precision; `exact`, the lowest score that an exact test at level 1 − confidence accepts, which does not allow for
the search; `sequence`, such tests from the top down to the first that fails; and, in an environment that has it,
`mapie`, the controller of precision of MAPIE with its default thresholds and correction.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import special, stats

from calibrant._typing import Floats
from calibrant.decisions.gates import acceptance

CONFIDENCE = 0.9
SETTINGS = ((500, 0.9), (2000, 0.95))
SCORES = stats.beta(4, 1.2)
FINE = 200_000  # quantiles of the scores that stand for the population
TRUTHS: dict[str, Callable[[Floats], Floats]] = {
    "calibrated": lambda s: s,
    "overconfident": lambda s: special.expit(0.6 * special.logit(s)),
    "plateau": lambda s: np.minimum(s, 0.93),
    "dip": lambda s: s - 0.12 * np.exp(-0.5 * ((s - 0.9) / 0.03) ** 2),
    "flat": lambda s: np.where(s > 0.7, 0.955, s),
}
TABLES = (
    "llm_claude_3_7_sonnet_20250219",
    "llm_claude_sonnet_4_20250514",
    "llm_deepseek_v3",
    "llm_gemini_2_5_pro",
    "llm_o3_2025_04_16",
    "toplabel_densenet40_c100",
    "toplabel_resnet50_birds",
    "imagenet_timm_efficientnet_b3a",
    "imagenet_resnet34_pytorch",
    "adult_gbt",
)


def cumulated(labels: Any, scores: Floats) -> tuple[Floats, Floats, Floats]:
    """Distinct scores, falling, with the number of rows and of right ones from each of them up."""
    order = np.argsort(-scores, kind="stable")
    ends = np.flatnonzero(np.diff(scores[order], append=-np.inf))
    return scores[order][ends], ends + 1.0, np.cumsum(labels[order])[ends].astype(float)


def lowest(scores: Floats, accepted: Any) -> float | None:
    return float(scores[accepted][-1]) if accepted.any() else None


def naive(labels: Any, scores: Floats, precision: float) -> float | None:
    at, rows, right = cumulated(labels, scores)
    return lowest(at, right >= precision * rows)


def exact(labels: Any, scores: Floats, precision: float) -> float | None:
    at, rows, right = cumulated(labels, scores)
    return lowest(at, stats.binom.sf(right - 1.0, rows, precision) <= 1.0 - CONFIDENCE)


def sequence(labels: Any, scores: Floats, precision: float) -> float | None:
    at, rows, right = cumulated(labels, scores)
    could = np.flatnonzero(precision**rows <= 1.0 - CONFIDENCE)
    if len(could) == 0:
        return None
    passed = stats.binom.sf(right - 1.0, rows, precision)[could[0] :] <= 1.0 - CONFIDENCE
    return lowest(at[could[0] :], np.logical_and.accumulate(passed))


def finite_sample(labels: Any, scores: Floats, precision: float) -> float | None:
    return acceptance(labels, scores, precision=precision, confidence=CONFIDENCE).threshold


def posterior(labels: Any, scores: Floats, precision: float) -> float | None:
    return acceptance(labels, scores, precision=precision, confidence=CONFIDENCE, guarantee="posterior").threshold


def mapie(labels: Any, scores: Floats, precision: float) -> float | None:
    from mapie.risk_control import BinaryClassificationController

    controller = BinaryClassificationController(
        lambda column: np.column_stack((1.0 - column[:, 0], column[:, 0])), "precision", precision, CONFIDENCE
    )
    controller.calibrate(scores[:, None], labels.astype(int))
    return None if controller.best_predict_param is None else float(controller.best_predict_param)


METHODS = {each.__name__: each for each in (finite_sample, posterior, naive, exact, sequence, mapie)}


class Population:
    """Scores and right rows of everyone, and the precision and share from each score up."""

    def __init__(self, scores: Floats, right: Floats) -> None:
        order = np.argsort(-scores, kind="stable")
        self.scores = scores[order]
        self.precisions = np.cumsum(right[order]) / np.arange(1, len(scores) + 1)

    def judge(self, threshold: float | None, precision: float) -> tuple[float, bool]:
        """The share that passes, and whether the promise is broken."""
        passing = 0 if threshold is None else int(np.searchsorted(-self.scores, -threshold, side="right"))
        broken = passing > 0 and self.precisions[passing - 1] < precision
        return passing / len(self.scores), bool(broken)

    def best(self, precision: float) -> float:
        """The largest share that keeps the promise."""
        kept = np.flatnonzero((self.precisions >= precision) & (np.diff(self.scores, append=-np.inf) < 0.0))
        return (kept[-1] + 1.0) / len(self.scores) if len(kept) else 0.0


def report(name: str, population: Population, precision: float, draws: Any, methods: list[str], n_rows: int) -> None:
    """Print a line for each method: broken promises with their standard error, and the share that passes."""
    found: dict[str, list[tuple[float, bool]]] = {method: [] for method in methods}
    for labels, scores in draws:
        for method in methods:
            found[method].append(population.judge(METHODS[method](labels, scores, precision), precision))
    for method, judged in found.items():
        shares, broken = (np.array(column, dtype=float) for column in zip(*judged, strict=True))
        error = np.sqrt(broken.mean() * (1.0 - broken.mean()) / len(broken))
        print(
            f"{name:32s} n={n_rows:<5d} {precision:.2f}  best {population.best(precision):.3f}  {method:14s}"
            f"broken {broken.mean():.3f} ± {error:.3f}  passes {shares.mean():.3f}",
            flush=True,
        )


def simulated(runs: int, methods: list[str]) -> None:
    scores = SCORES.ppf((np.arange(FINE) + 0.5) / FINE)
    for n_rows, precision in SETTINGS:
        for name, truth in TRUTHS.items():

            def draw(truth: Callable[[Floats], Floats] = truth, n_rows: int = n_rows) -> Any:
                for run in range(runs):
                    rng = np.random.default_rng(run)
                    drawn = rng.beta(4, 1.2, n_rows)
                    yield rng.random(n_rows) < truth(drawn), drawn

            report(name, Population(scores, truth(scores)), precision, draw(), methods, n_rows)


def real(folder: Path, runs: int, methods: list[str]) -> None:
    import pandas as pd

    for name in TABLES:
        table = pd.read_parquet(folder / f"{name}.parquet")
        scores, labels = table["score"].to_numpy(float), table["label"].to_numpy(bool)
        for n_rows, precision in SETTINGS:

            def draw(scores: Floats = scores, labels: Any = labels, n_rows: int = n_rows) -> Any:
                for run in range(runs):
                    rows = np.random.default_rng(run).integers(len(scores), size=n_rows)
                    yield labels[rows], scores[rows]

            report(name, Population(scores, labels), precision, draw(), methods, n_rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("simulated", "real"))
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=list(METHODS)[:-1])
    options = parser.parse_args()
    if options.what == "simulated":
        simulated(options.runs, options.methods)
    else:
        real(options.folder, options.runs, options.methods)


if __name__ == "__main__":
    main()
