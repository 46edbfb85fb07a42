"""Gates: how often an accepted set of rows has less than the wanted precision, and how many rows pass.

From the root of the repository; FOLDER holds tables (score, label) as Parquet:

    python -m benchmarks.gates simulated [--runs 500] [--methods finite_sample posterior naive exact sequence]
    python -m benchmarks.gates real FOLDER [--runs 200]
    python -m benchmarks.gates bound
    python -m benchmarks.gates starts [--runs 500]

Simulated scores are Beta(4, 1.2) with five truths. Of a real table, all rows are the population, and labelled rows are
drawn from it with replacement. Beside the two guarantees: `naive`, the lowest score from which the labelled rows have
the precision; `exact`, the lowest score that an exact test at level 1 − confidence accepts, which does not allow for
the search; `sequence`, such tests from the top down to the first that fails; and, in an environment that has it,
`mapie`, the controller of precision of MAPIE with its default thresholds and correction. Without that environment its
recorded figures stand beside those of the real tables.

`bound` says what no gate with the guarantee of the finite-sample one can exceed. For every share m there is a truth,
close to the simulated one, whose precision is below the wanted one wherever more than m pass. There such a gate lets
more than m pass with probability 1 − confidence at most, so on the simulated truth no more often than the most
powerful test between the two rejects that one (Neyman, Pearson). The mean over shares m, up to the best possible one,
bounds the share that passes while the promise is kept: rows beyond the best possible share are not counted, and for
comparison `simulated` prints what methods let pass without those, too.

`starts` says what it costs not to know where to test. A gate that knew the truth could put all of its confidence on one
number of rows, the best to start from, and if that passes take the lowest score whose own exact test passes, without
allowing for the search. Told is what it lets pass as a multiple of `exact`, and what the same start gives on the other
truths; a gate must do with part of the confidence at every start.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import optimize, special, stats

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

#: What MAPIE 1.6.0 let pass in 100 samples of 500 rows, 0.9 wanted, and of 2000 rows, 0.95; it broke no promise.
MAPIE_PASSES = {
    "llm_claude_3_7_sonnet_20250219": (0.029, 0.0),
    "toplabel_resnet50_birds": (0.423, 0.284),
    "imagenet_timm_efficientnet_b3a": (0.279, 0.011),
    "imagenet_resnet34_pytorch": (0.348, 0.226),
}


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
    """Print a line for each method: broken promises with their standard error, and the share that passes.

    In brackets is the share without rows beyond the best possible one, which `bound` limits.
    """
    best = population.best(precision)
    found: dict[str, list[tuple[float, bool]]] = {method: [] for method in methods}
    for labels, scores in draws:
        for method in methods:
            found[method].append(population.judge(METHODS[method](labels, scores, precision), precision))
    for method, judged in found.items():
        shares, broken = (np.array(column, dtype=float) for column in zip(*judged, strict=True))
        error = np.sqrt(broken.mean() * (1.0 - broken.mean()) / len(broken))
        print(
            f"{name:32s} n={n_rows:<5d} {precision:.2f}  best {best:.3f}  {method:14s}"
            f"broken {broken.mean():.3f} ± {error:.3f}  passes {shares.mean():.3f} "
            f"({np.minimum(shares, best).mean():.4f})",
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
        for setting, (n_rows, precision) in enumerate(SETTINGS):

            def draw(scores: Floats = scores, labels: Any = labels, n_rows: int = n_rows) -> Any:
                for run in range(runs):
                    rows = np.random.default_rng(run).integers(len(scores), size=n_rows)
                    yield labels[rows], scores[rows]

            report(name, Population(scores, labels), precision, draw(), methods, n_rows)
            if "mapie" not in methods:
                passes = MAPIE_PASSES.get(name, (0.0, 0.0))[setting]
                print(f"{name:32s} n={n_rows:<5d} {precision:.2f}  mapie, recorded: broken 0.000  passes {passes:.3f}")


def bound(n_drawn: int = 4000, runs: int = 3000) -> None:
    """Print what a valid gate can let pass at most, on each simulated truth."""
    rng, scores = np.random.default_rng(7), SCORES.isf((np.arange(n_drawn) + 0.5) / n_drawn)
    shares = np.unique(np.append([0.005, 0.01, 0.02], np.linspace(0.05, 1.0, 20)))
    for n_rows, precision in SETTINGS:
        for name, truth in TRUTHS.items():
            kept = np.flatnonzero(np.cumsum(truth(scores) - precision) >= 0.0)
            if len(kept):
                best, drawn = int(kept[-1]) + 1, rng.integers(n_drawn, size=(runs, n_rows))
                nulls = [worst_truth(truth(scores), precision, max(int(share * best), 1)) for share in shares]
                powers = [most_power(truth(scores), null, drawn, rng) for null in nulls]
                often = np.minimum.accumulate([powers[0], *powers[:-1]])  # passing more is rarer; the step from below
                most = best / n_drawn * float(np.diff(shares, prepend=0.0) @ often)
                print(
                    f"{name:32s} n={n_rows:<5d} {precision:.2f}  best {best / n_drawn:.3f}  at most {most:.4f}",
                    flush=True,
                )


def starts(runs: int) -> None:
    """Print what the best single start of each truth lets pass, there and on the others, as a share of exact tests."""
    population = SCORES.ppf((np.arange(FINE) + 0.5) / FINE)
    for n_rows, precision in SETTINGS:
        tried = np.unique(np.geomspace(20, n_rows, 40).astype(int))
        found = {}
        for name, truth in TRUTHS.items():
            judge, passed = Population(population, truth(population)), np.zeros((runs, 1 + len(tried)))
            for run in range(runs):
                rng = np.random.default_rng(run)
                drawn = rng.beta(4, 1.2, n_rows)
                at, rows, right = cumulated(rng.random(n_rows) < truth(drawn), drawn)
                accepted = stats.binom.sf(right - 1.0, rows, precision) <= 1.0 - CONFIDENCE
                share = judge.judge(lowest(at, accepted), precision)[0]
                passed[run] = share * np.append(1.0, accepted[tried - 1])
            exact_share, *shares = passed.mean(axis=0)
            found[name] = np.array(shares) / max(exact_share, 1e-9)
        for name, shares in found.items():
            best = int(np.argmax(shares))
            others = "  ".join(f"{other} {share[best]:.2f}" for other, share in found.items() if other != name)
            print(f"{name:14s} n={n_rows:<5d} from {tried[best]} rows {shares[best]:.2f}; {others}", flush=True)


def worst_truth(truth: Floats, precision: float, passing: int) -> Floats:
    """A truth near to the given one with less than the precision wherever at least so many of its rows pass."""
    peak = passing + int(np.argmax(np.cumsum(truth - precision)[passing - 1 :]))
    null = truth.copy()
    null[passing:peak] = np.minimum(truth[passing:peak], precision)
    odds = special.logit(np.clip(truth[:passing], 1e-9, 1.0 - 1e-9))

    def excess(shift: float) -> float:
        null[:passing] = special.expit(odds - shift)
        return float(np.cumsum(null - precision)[passing - 1 :].max())

    excess(optimize.brentq(excess, 0.0, 30.0) if excess(0.0) > 0.0 else 0.0)
    return null


def most_power(truth: Floats, null: Floats, drawn: Any, rng: np.random.Generator) -> float:
    """How often the test of level 1 − confidence by the ratio of likelihoods tells the truth from the other one."""
    if_right, if_wrong = np.log(truth / null), np.log1p(-truth) - np.log1p(-null)

    def ratios(probabilities: Floats) -> Floats:
        right = rng.random(drawn.shape) < probabilities[drawn]
        return np.where(right, if_right[drawn], if_wrong[drawn]).sum(axis=1)

    under_null, under_truth = ratios(null), ratios(truth)
    cut = np.quantile(under_null, CONFIDENCE, method="higher")
    ties = (under_null == cut).mean()
    share = (1.0 - CONFIDENCE - (under_null > cut).mean()) / ties
    return float((under_truth > cut).mean() + share * (under_truth == cut).mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("simulated", "real", "bound", "starts"))
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=list(METHODS)[:-1])
    options = parser.parse_args()
    if options.what == "simulated":
        simulated(options.runs, options.methods)
    elif options.what == "bound":
        bound()
    elif options.what == "starts":
        starts(options.runs)
    else:
        real(options.folder, options.runs, options.methods)


if __name__ == "__main__":
    main()
