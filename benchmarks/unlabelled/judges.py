"""A generous judge: the share of right answers by calibrant, counting, PPI++, Rogan–Gladen and the efficient estimator.

    python -m benchmarks.unlabelled.judges [--labels 100 200] [--seeds 200]

The judge of docs/howto/llm-judges.md: of 5000 answers it scores the rounded root of the probability to be right. The
truth is the share of right ones among the answers without a label. Error is the root of the mean squared error, as a
multiple of that of counting; intervals are at 90 %. Rogan–Gladen takes the judge at 0.7 as a test with yes and no. The
efficient estimator adds the mean residual of the labelled rows to the mean of a curve fitted by cross-fitted Platt
scaling; its interval is that of the influence function.
"""

from __future__ import annotations

import argparse

import numpy as np

from calibrant import Blend, PlattScaling
from calibrant._typing import Floats

N_ROWS, Z, CUT, FOLDS = 5000, 1.6448536, 0.7, 5
Found = tuple[float, float]  # an estimate and its standard error


def count(y: Floats, s: Floats, rest: Floats) -> Found:
    del s, rest
    return float(y.mean()), float(y.std(ddof=1) / np.sqrt(len(y)))


def ppi(y: Floats, s: Floats, rest: Floats) -> Found:
    """PPI++: the weight of the judge that has the smallest variance."""
    n, m = len(y), len(rest)
    spread = np.var(np.append(s, rest))
    weight = float(np.cov(y, s)[0, 1] / spread / (1.0 + n / m))
    value = y.mean() + weight * (rest.mean() - s.mean())
    return float(value), float(np.sqrt(np.var(y - weight * s) / n + weight**2 * np.var(rest) / m))


def rogan_gladen(y: Floats, s: Floats, rest: Floats) -> Found:
    """The share that the judge calls right, corrected by its sensitivity and specificity among the labelled rows."""
    called, positive = s >= CUT, y > 0.5
    sensitivity, false_alarms = called[positive].mean(), called[~positive].mean()
    youden = max(sensitivity - false_alarms, 0.05)
    share = (rest >= CUT).mean()
    value = float(np.clip((share - false_alarms) / youden, 0.0, 1.0))
    parts = (
        share * (1.0 - share) / len(rest),
        value**2 * sensitivity * (1.0 - sensitivity) / positive.sum(),
        (1.0 - value) ** 2 * false_alarms * (1.0 - false_alarms) / (~positive).sum(),
    )
    return value, float(np.sqrt(sum(parts)) / youden)


def efficient(y: Floats, s: Floats, rest: Floats) -> Found:
    fold = np.arange(len(y)) % FOLDS
    own, others = np.empty(len(y)), np.zeros(len(rest))
    for each in range(FOLDS):
        fitted = PlattScaling().fit(s[fold != each], y[fold != each].astype(int))
        own[fold == each] = fitted.predict(s[fold == each])
        others += fitted.predict(rest) / FOLDS
    residuals = y - own
    error = np.sqrt(residuals.var(ddof=1) / len(y) + others.var() / len(rest))
    return float(others.mean() + residuals.mean()), float(error)


RIVALS = {"counting": count, "PPI++": ppi, "Rogan-Gladen": rogan_gladen, "efficient": efficient}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--labels", type=int, nargs="+", default=[100, 200])
    parser.add_argument("--seeds", type=int, default=200)
    options = parser.parse_args()
    for n_labels in options.labels:
        found: dict[str, list[tuple[float, float, float]]] = {}  # error, held, width
        for seed in range(options.seeds):
            rng = np.random.default_rng(seed)
            truth = rng.beta(2.0, 2.0, N_ROWS)
            scores, right = np.round(np.sqrt(truth), 2), (rng.random(N_ROWS) < truth).astype(float)
            y, s, rest = right[:n_labels], scores[:n_labels], scores[n_labels:]
            wanted = float(right[n_labels:].mean())
            answer = Blend().fit(s, y.astype(int)).estimate(rest, "mean")
            ends = {"calibrant": (answer.value, answer.low, answer.high)}
            for name, rival in RIVALS.items():
                value, error = rival(y, s, rest)
                ends[name] = (value, value - Z * error, value + Z * error)
            for name, (value, low, high) in ends.items():
                found.setdefault(name, []).append((value - wanted, low <= wanted <= high, high - low))
        columns = {name: np.array(rows, dtype=float).T for name, rows in found.items()}
        unit = np.sqrt(np.mean(columns["counting"][0] ** 2))
        for name, (error, held, width) in columns.items():
            figures = f"error {np.sqrt(np.mean(error**2)) / unit:.2f}  held {held.mean():.2f}  width {width.mean():.3f}"
            print(f"{n_labels:4d} labels  {name:13s} {figures}", flush=True)


if __name__ == "__main__":
    main()
