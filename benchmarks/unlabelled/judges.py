"""A generous judge: the share of right answers by calibrant, counting, PPI++, Rogan–Gladen and the efficient estimator.

    python -m benchmarks.unlabelled.judges [--labels 100 200] [--seeds 200]
    python -m benchmarks.unlabelled.judges FOLDER --out judges.csv [--labels 50 100 250 1000] [--seeds 20]
    python -m benchmarks.unlabelled.summary judges.csv

The judge of docs/howto/llm-judges.md: of 5000 answers it scores the rounded root of the probability to be right. The
truth is the share of right ones among the answers without a label. Error is the root of the mean squared error, as a
multiple of that of counting; intervals are at 90 %. Rogan–Gladen takes the judge at 0.7 as a test with yes and no. The
efficient estimator adds the mean residual of the labelled rows to the mean of a curve fitted by cross-fitted Platt
scaling; its interval is that of the influence function. All intervals are for the very rows without labels. With a
folder, the scores of its tables are the judge, and a yes is a score of at least 0.5.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from benchmarks.unlabelled import splits
from calibrant import Blend, PlattScaling
from calibrant._typing import Floats

N_ROWS, CUT, FOLDS = 5000, 0.7, 5
Found = tuple[float, float]  # an estimate and its standard error


def spread(residuals: Floats, n_hidden: int) -> float:
    """The standard error of the mean of as many other rows, from the residuals of the labelled ones."""
    return float(residuals.std(ddof=1) * np.sqrt(1.0 / len(residuals) + 1.0 / n_hidden))


def count(y: Floats, s: Floats, rest: Floats, cut: float) -> Found:
    del s, cut
    return float(y.mean()), spread(y, len(rest))


def ppi(y: Floats, s: Floats, rest: Floats, cut: float) -> Found:
    """PPI++: the weight of the judge that has the smallest variance."""
    del cut
    n, m = len(y), len(rest)
    weight = float(np.cov(y, s)[0, 1] / max(np.var(np.append(s, rest)), 1e-12) / (1.0 + n / m))
    return float(y.mean() + weight * (rest.mean() - s.mean())), spread(y - weight * s, m)


def rogan_gladen(y: Floats, s: Floats, rest: Floats, cut: float) -> Found:
    """The share that the judge calls right, corrected by its sensitivity and specificity among the labelled rows."""
    called, positive = s >= cut, y > 0.5
    sensitivity, false_alarms = called[positive].mean(), called[~positive].mean()
    youden = max(sensitivity - false_alarms, 0.05)
    value = float(np.clip(((rest >= cut).mean() - false_alarms) / youden, 0.0, 1.0))
    parts = (
        value * sensitivity * (1.0 - sensitivity) * (value / positive.sum() + 1.0 / len(rest)),
        (1.0 - value) * false_alarms * (1.0 - false_alarms) * ((1.0 - value) / (~positive).sum() + 1.0 / len(rest)),
    )
    return value, float(np.sqrt(sum(parts)) / youden)


def efficient(y: Floats, s: Floats, rest: Floats, cut: float) -> Found:
    del cut
    fold = np.arange(len(y)) % FOLDS
    own, others = np.empty(len(y)), np.zeros(len(rest))
    for each in range(FOLDS):
        fitted = PlattScaling().fit(s[fold != each], y[fold != each].astype(int))
        own[fold == each] = fitted.predict(s[fold == each])
        others += fitted.predict(rest) / FOLDS
    return float(others.mean() + (y - own).mean()), spread(y - own, len(rest))


RIVALS = {"counting labels": count, "PPI++": ppi, "Rogan-Gladen": rogan_gladen, "efficient": efficient}


def answers(y: Floats, s: Floats, rest: Floats, cut: float) -> dict[str, splits.Answer]:
    """The mean outcome of the rest and the ends of its interval, by every method."""
    answer = Blend().fit(s, y.astype(int)).estimate(rest, "mean")
    found = {"calibrant": (answer.value, answer.low, answer.high)}
    several = len(np.unique(y)) > 1
    for name, rival in RIVALS.items():
        value, error = rival(y, s, rest, cut) if several or rival in (count, ppi) else (np.nan, np.nan)
        found[name] = (value, value - splits.Z * error, value + splits.Z * error)
    return found


def answer_run(run: splits.Run) -> dict[str, splits.Answer]:
    found = answers(run.labels.astype(float), run.scores, run.hidden_scores, splits.THRESHOLD)
    return {f"{name}/mean": numbers for name, numbers in found.items()}


def simulate(sizes: list[int], seeds: int) -> None:
    for n_labels in sizes:
        found: dict[str, list[tuple[float, float, float]]] = {}  # error, held, width
        for seed in range(seeds):
            rng = np.random.default_rng(seed)
            truth = rng.beta(2.0, 2.0, N_ROWS)
            scores, right = np.round(np.sqrt(truth), 2), (rng.random(N_ROWS) < truth).astype(float)
            y, s, rest = right[:n_labels], scores[:n_labels], scores[n_labels:]
            wanted = float(right[n_labels:].mean())
            ends = answers(y, s, rest, CUT)
            for name, (value, low, high) in ends.items():
                found.setdefault(name, []).append((value - wanted, low <= wanted <= high, high - low))
        columns = {name: np.array(rows, dtype=float).T for name, rows in found.items()}
        unit = np.sqrt(np.mean(columns["counting labels"][0] ** 2))
        for name, (error, held, width) in columns.items():
            figures = f"error {np.sqrt(np.mean(error**2)) / unit:.2f}  held {held.mean():.2f}  width {width.mean():.3f}"
            print(f"{n_labels:4d} labels  {name:15s} {figures}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--out", type=Path, default=Path("judges.csv"))
    parser.add_argument("--labels", type=int, nargs="+")
    parser.add_argument("--seeds", type=int)
    options = parser.parse_args()
    if options.folder is None:
        simulate(options.labels or [100, 200], options.seeds or 200)
    else:
        sizes = tuple(options.labels or splits.SIZES)
        every = splits.runs(options.folder, splits.JUDGED, sizes, options.seeds or 20, apart=True)
        splits.write(options.out, "", every, answer_run)


if __name__ == "__main__":
    main()
