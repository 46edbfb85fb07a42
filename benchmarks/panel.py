"""Several scores per row against what else one could do with them: `python -m benchmarks.panel FOLDER`.

FOLDER holds the development tables, one Parquet file each: `y`, and a column for each score. Of every table 30 % of the
rows judge, and 50 to 2000 of the others are labels, three times; all methods get the same rows. Printed are mean
log-losses of `PanelCalibrator`, and how much higher those of the others are, in thousandths. Then simulated truths: the
excess over the true probabilities, the regret against Blend of the one informative score, the coverage of 90 %
intervals, and the price of not knowing which score it is (`--bound` prints only that, `--truth NAME` only one simulated
truth; neither needs a FOLDER). LightGBM, CatBoost and pyGAM take part where they are installed.
"""

import argparse
import importlib.util
import time
import warnings
import zlib
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import expit, logit

from calibrant import Blend, PanelCalibrator

LANGUAGE_MODELS = (
    "Llama-3.2-3B-Instruct",
    "Qwen3-0.6B-Base",
    "Qwen3-235B-A22B-fp8-tput",
    "Qwen3-8B-FP8",
    "gemma-3-12b-it",
    "claude-3-7-sonnet-20250219",
)
TABLES = (
    *(f"llm_{name}" for name in LANGUAGE_MODELS),
    *("battles_models", "battles_verdicts", "llmbar", "flares_C1", "recidivism", "football_home"),
    *("football_draw_like", "mnist_3", "mnist_8", "supernovae_boost", "supernovae_knn"),
)
NO_PROBABILITIES = {"decile": "decision", "number": "decision"}
SIZES = (50, 100, 250, 500, 1000, 2000)
REPETITIONS = 3
BOUND_REPETITIONS = 400
LIMITS = (0.441, 0.426, 0.418, 0.417, 0.401, 0.398)


def split(name, size, repetition, n_rows):
    """Rows to learn from and rows to judge by."""
    order = np.random.default_rng([zlib.crc32(name.encode()), repetition]).permutation(n_rows)
    cut = int(0.7 * n_rows)
    return order[:cut][:size], order[cut:]


def log_loss(p, y):
    p = np.clip(p, 1e-9, 1.0 - 1e-9)
    return -np.mean(y * np.log(p) + (1.0 - y) * np.log1p(-p))


def numbers(train, test):
    """Logits of probabilities, other numbers standardised, levels as indicators, gaps at the mean with an indicator."""
    both, parts = pd.concat((train, test), ignore_index=True), []
    for name in both:
        if both[name].dtype.kind not in "fiu":
            parts.append(pd.get_dummies(both[name].fillna("missing"), dtype=float).to_numpy())
            continue
        values = both[name].to_numpy(float)
        if name not in NO_PROBABILITIES:
            clipped = np.clip(values, 1e-4, 1.0 - 1e-4)
            values = np.log(clipped / (1.0 - clipped))
        gone = np.isnan(values)
        known = values[: len(train)][~gone[: len(train)]]
        values = np.where(gone, known.mean() if len(known) else 0.0, values)
        if name in NO_PROBABILITIES:
            values = (values - known.mean()) / max(known.std(), 1e-9)
        parts.append(np.column_stack((values, gone)))
    columns = np.concatenate(parts, axis=1)
    return columns[: len(train)], columns[len(train) :]


def panel(train, y, test):
    return PanelCalibrator(space=NO_PROBABILITIES).fit(train, y).predict(test)


def mean_of_logits(train, y, test):
    """Blend of the mean over the scores that a row has; a level has the logit of its rate, shrunk by two rows."""
    parts, base = [], y.mean()
    for name in train:
        own, other = train[name], test[name]
        if own.dtype.kind not in "fiu":
            counts = pd.DataFrame({"level": own.fillna("missing"), "y": y}).groupby("level")["y"].agg(["sum", "size"])
            rates = (counts["sum"] + 2.0 * base) / (counts["size"] + 2.0)
            values = [column.fillna("missing").map(rates).fillna(base).to_numpy() for column in (own, other)]
        else:
            values = [column.to_numpy(float) for column in (own, other)]
        if name in NO_PROBABILITIES:
            middle, spread = np.nanmean(values[0]), max(np.nanstd(values[0]), 1e-9)
            parts.append([(value - middle) / spread for value in values])
        else:
            parts.append([logit(np.clip(value, 1e-4, 1.0 - 1e-4)) for value in values])
    inside, outside = (np.nan_to_num(np.nanmean(columns, axis=0)) for columns in zip(*parts, strict=True))
    return Blend(space="decision").fit(inside, y).predict(outside)


def logistic(train, y, test):
    from sklearn.linear_model import LogisticRegression

    inside, outside = numbers(train, test)
    return LogisticRegression(max_iter=1000).fit(inside, y).predict_proba(outside)[:, 1]


def ridge(train, y, test):
    from sklearn.linear_model import LogisticRegressionCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    inside, outside = numbers(train, test)
    model = LogisticRegressionCV(Cs=np.geomspace(1e-3, 1e2, 10), cv=5, scoring="neg_log_loss", max_iter=1000)
    return make_pipeline(StandardScaler(), model).fit(inside, y).predict_proba(outside)[:, 1]


def with_categories(train, test):
    """Both tables with levels as categories, as boosting takes them; gaps stay gaps."""
    both = pd.concat((train, test), ignore_index=True)
    levels = [name for name in both if both[name].dtype.kind not in "fiu"]
    both[levels] = both[levels].fillna("missing").astype(str)
    return both[: len(train)], both[len(train) :], levels


def lightgbm(train, y, test):
    from lightgbm import LGBMClassifier

    inside, outside, levels = with_categories(train, test)
    kinds = {name: pd.CategoricalDtype(sorted({*inside[name], *outside[name]})) for name in levels}
    model = LGBMClassifier(
        n_estimators=100, learning_rate=0.05, num_leaves=8, min_child_samples=10, verbose=-1, n_jobs=1
    )
    return model.fit(inside.astype(kinds), y).predict_proba(outside.astype(kinds))[:, 1]


def catboost(train, y, test):
    from catboost import CatBoostClassifier

    inside, outside, levels = with_categories(train, test)
    model = CatBoostClassifier(verbose=0, thread_count=1, allow_writing_files=False, cat_features=levels)
    return model.fit(inside, y).predict_proba(outside)[:, 1]


def pygam(train, y, test):
    from pygam import LogisticGAM
    from pygam.utils import OptimizationError

    inside, outside = numbers(train, test)
    kept = inside.std(axis=0) > 0
    for penalty in (0.6, 6.0, 60.0):  # the first is its default; where that diverges, a larger one
        try:
            return LogisticGAM(lam=penalty).fit(inside[:, kept], y).predict_proba(outside[:, kept])
        except OptimizationError:
            continue
    return np.full(len(test), y.mean())


RIVALS = {f.__name__: f for f in (mean_of_logits, logistic, ridge, lightgbm, catboost, pygam)}


def singles(train, y, test):
    """Predictions of each score alone, the best by leave-one-out first."""
    found = []
    for name in train:
        alone = PanelCalibrator(space=NO_PROBABILITIES).fit(train[[name]], y)
        found.append((alone.log_loss_, alone.predict(test[[name]])))
    return [p for _, p in sorted(found, key=lambda pair: pair[0])]


def compare_tables(folder, rivals):
    losses = {}
    for name in TABLES:
        table = pd.read_parquet(folder / f"{name}.parquet")
        scores, y = table.drop(columns="y"), table["y"].to_numpy(float)
        of_numbers = scores.select_dtypes("number").columns
        scores[of_numbers] = scores[of_numbers].where(scores[of_numbers] >= 0.0)  # flare systems write -0.01 for a gap
        for size in SIZES:
            if size > 0.7 * len(y):
                continue
            for repetition in range(REPETITIONS):
                train, test = (scores.iloc[rows] for rows in split(name, size, repetition, len(y)))
                labels, truth = (y[rows] for rows in split(name, size, repetition, len(y)))
                found = {"panel": log_loss(panel(train, labels, test), truth)}
                if rivals is not None:
                    alone = [log_loss(p, truth) for p in singles(train, labels, test)]
                    found |= {"best by leave-one-out": alone[0], "best in hindsight": min(alone)}
                    found |= {key: log_loss(rival(train, labels, test), truth) for key, rival in rivals.items()}
                for key, loss in found.items():
                    losses.setdefault((key, size), []).append(loss)
    methods = list(dict.fromkeys(key for key, _ in losses))
    print("| log-loss | " + " | ".join(map(str, SIZES)) + " |")
    print("| at most | " + " | ".join(f"{limit:.3f}" for limit in LIMITS) + " |")
    print("| panel | " + " | ".join(f"{np.mean(losses['panel', size]):.4f}" for size in SIZES) + " |")
    for key in methods[1:]:
        more = [1000 * (np.mean(losses[key, size]) - np.mean(losses["panel", size])) for size in SIZES]
        print(f"| {key} | " + " | ".join(f"{value:+.1f}" for value in more) + " |")


def draw(kind, n, rng):
    """Scores, labels and the true probabilities of a simulated panel."""
    z = rng.standard_normal((n, 10))
    if kind == "one good among nine useless":
        scores, logits = {f"score {j}": expit(1.5 * z[:, j]) for j in range(10)}, 1.5 * z[:, 0]
    elif kind in ("one dominating", "the mean beside such a one"):
        scores = {"score 0": expit(2 * z[:, 0])} | {f"weak {j}": expit(z[:, 0] + 1.5 * z[:, j]) for j in range(1, 5)}
        of_mean = kind != "one dominating"
        logits = logit(exact_maps("one dominating", pd.DataFrame(scores))[-1]) if of_mean else 2 * z[:, 0]
    elif kind == "copies":
        own = {f"copy {j}": 1.5 * z[:, 0] + 0.3 * z[:, j] for j in range(1, 6)}
        share = 2.25 / (2.25 + 0.018)
        logits = share * np.mean(list(own.values()), axis=0) / np.sqrt(1 + np.pi * share * 0.018 / 8)
        scores = {name: expit(1.6 * value) for name, value in own.items()}
    elif kind == "independent":
        parts = z[:, :4] * [1.0, 0.8, 0.6, 0.4]
        scores, logits = {f"score {j}": expit(parts[:, j]) for j in range(4)}, parts.sum(axis=1) - 0.5
    elif kind == "a curve":
        u = rng.random((n, 4))
        scores = {f"score {j}": u[:, j] for j in range(4)}
        logits = 0.7 * np.log(u[:, 0] / (1 - u[:, 0])) + 4 * np.abs(u[:, 1] - 0.5) - 1
    elif kind == "levels":
        group, verdict = rng.integers(0, 8, n), rng.integers(0, 3, n)
        effects = np.linspace(-1.2, 1.2, 8)[[3, 0, 6, 1, 7, 2, 5, 4]]
        scores = {"score 0": expit(1.5 * z[:, 0]), "group": group.astype(str), "verdict": verdict.astype(str)}
        logits = z[:, 0] + effects[group] + 0.8 * (verdict - 1.0)
    else:
        scores = {"score 0": expit(z[:, 0]), "score 1": expit(z[:, 1]), "number": 10 + 3 * z[:, 2]}
        logits = 0.8 * z[:, 0] + 0.5 * z[:, 1] + 0.6 * z[:, 0] * (z[:, 2] > 0)
    p = expit(logits)
    return pd.DataFrame(scores), (rng.random(n) < p).astype(float), p


TRUTHS = (
    *("one good among nine useless", "one dominating", "copies", "independent", "a curve", "levels", "two together"),
    "the mean beside such a one",
)


def simulate(truths, sizes, seeds):
    print("| truth | labels | excess | regret | coverage | width |")
    coverages = []
    for kind in truths:
        for size in sizes:
            rows = []
            for seed in seeds:
                rng = np.random.default_rng([seed, size])
                (train, y, _), (test, _, p) = draw(kind, size, rng), draw(kind, 2000, rng)
                model = PanelCalibrator(space=NO_PROBABILITIES).fit(train, y)
                low, high = model.predict_interval(test)
                best = Blend().fit(train["score 0"], y).predict(test["score 0"]) if kind in TRUTHS[:2] else p
                excess, other = (log_loss(q, p) - log_loss(p, p) for q in (model.predict(test), best))
                rows.append(
                    [1000 * excess, 1000 * (excess - other), np.mean((low <= p) & (p <= high)), np.mean(high - low)]
                )
            excess, regret, coverage, width = np.mean(rows, axis=0)
            coverages.append(coverage)
            error = np.std(rows, axis=0, ddof=1)[1] / len(rows) ** 0.5
            said = f"{regret:+.1f} ± {error:.1f}" if kind in TRUTHS[:2] else ""
            print(f"| {kind} | {size} | {excess:.1f} | {said} | {coverage:.2f} | {width:.2f} |", flush=True)
    print(f"coverage on average {np.mean(coverages):.3f}, lowest {min(coverages):.2f}")


def exact_maps(kind, scores):
    """The probabilities that each score alone implies in truth, (candidates, n); of one dominating, and the mean."""
    own = logit(np.clip(scores.to_numpy(), 1e-12, 1.0 - 1e-12))
    if kind == "one good among nine useless":
        return expit(own).T
    nodes, masses = np.polynomial.hermite_e.hermegauss(40)

    def implied(values, slope, variance):
        """The mean of expit(2 z) where values = slope · z + noise, z ~ N(0, 1)."""
        share, spread = slope / (slope**2 + variance), np.sqrt(variance / (slope**2 + variance))
        return expit(2.0 * (share * values[:, None] + spread * nodes)) @ masses / masses.sum()

    weak = [implied(own[:, j], 1.0, 2.25) for j in range(1, 5)]
    return np.array([expit(own[:, 0]), *weak, implied(own.mean(axis=1), 1.2, 0.36)])


def know_all_but_which(repetitions):
    """What it costs not to know which score the labels follow, for somebody who knows all else.

    There are as many truths as candidates: labels follow what one of them implies. Bayes' rule with equal shares for
    all candidates has the least excess log-loss on average over these truths that there can be, so any other method
    that has less in one of them has more in another. One of those is Bayes' rule that thinks the first score as likely
    as all others together.
    """
    print("| truth | labels | on average over which it is | where it is the first | likewise, if half believed |")
    for kind in TRUTHS[:2]:
        for size in SIZES[:4]:
            rows = []
            for repetition in range(repetitions):
                rng = np.random.default_rng([repetition, size, 7])
                inside, outside = (exact_maps(kind, draw(kind, n, rng)[0]) for n in (size, 2000))
                u, count, equal, half = rng.random(size), len(inside), [], []
                prior = np.array([0.5] + [0.5 / (count - 1)] * (count - 1))
                for own, p in zip(inside, outside, strict=True):
                    log_likelihoods = np.log(np.where(u < own, inside, 1.0 - inside)).sum(axis=1)
                    likelihoods, least = np.exp(log_likelihoods - log_likelihoods.max()), log_loss(p, p)
                    for shares, found in ((likelihoods, equal), (prior * likelihoods, half)):
                        found.append(1000 * (log_loss(shares @ outside / shares.sum(), p) - least))
                rows.append((np.mean(equal), equal[0], half[0]))
            cells = zip(np.mean(rows, axis=0), np.std(rows, axis=0) / repetitions**0.5, strict=True)
            said = " | ".join(f"{mean:.2f} ± {error:.2f}" for mean, error in cells)
            print(f"| {kind} | {size} | {said} |", flush=True)
    print("Thousandths of log-loss, with standard errors. Less than the first figure no method has on average over")
    print("which score the labels follow, even if it knows exactly what each of them implies.")


def compare_segments(repetitions):
    """Three scores in 12 segments that differ not at all, in their level, or in the weights of the scores, too."""
    print("| segments differ in | labels | all as one | one each | `segment` | coverage |")
    for kind, level, slope in (("nothing", 0.0, 0.0), ("level", 0.6, 0.0), ("level and slopes", 0.6, 0.4)):
        for size in (500, 2000, 8000):
            rows = []
            for repetition in range(repetitions):
                rng = np.random.default_rng([repetition, size])
                levels, slopes = level * rng.standard_normal(12), slope * rng.standard_normal((12, 3))
                z, own = rng.standard_normal((size + 4000, 3)), rng.integers(0, 12, size + 4000)
                p = expit(levels[own] + (z * ([1.0, 0.6, 0.3] + slopes[own])).sum(axis=1))
                scores = pd.DataFrame(expit(z), columns=list("abc"))
                inside, outside = slice(0, size), slice(size, None)
                y = (rng.random(size) < p[inside]).astype(int)
                model = PanelCalibrator().fit(scores[inside], y, segment=own[inside])
                low, high = model.predict_interval(scores[outside], segment=own[outside])
                pooled = PanelCalibrator().fit(scores[inside], y).predict(scores[outside])
                each = np.empty(4000)
                for k in range(12):
                    alone = PanelCalibrator().fit(scores[inside][own[inside] == k], y[own[inside] == k])
                    each[own[outside] == k] = alone.predict(scores[outside][own[outside] == k])
                held = np.mean((low <= p[outside]) & (p[outside] <= high))
                found = (pooled, each, model.predict(scores[outside], segment=own[outside]))
                least = log_loss(p[outside], p[outside])
                rows.append([*(1000 * (log_loss(q, p[outside]) - least) for q in found), held])
            excess, held = np.mean(rows, axis=0)[:3], np.mean(rows, axis=0)[3]
            print(f"| {kind} | {size} | " + " | ".join(f"{one:.1f}" for one in excess) + f" | {held:.2f} |", flush=True)


def measure_time():
    for n, count in ((2000, 5), (100_000, 10)):
        rng = np.random.default_rng(0)
        truth = rng.normal(size=n)
        scores = expit(truth[:, None] + rng.normal(size=(n, count)))
        y = rng.random(n) < expit(1.5 * truth)
        start = time.process_time()
        model = PanelCalibrator().fit(scores, y)
        fitted = time.process_time()
        model.predict(scores)
        print(
            f"{n} × {count}: fit {fitted - start:.2f} s, predict {time.process_time() - fitted:.2f} s of CPU",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", help="the development tables")
    parser.add_argument("--bound", action="store_true", help="only the price of not knowing which score it is")
    parser.add_argument("--truth", choices=TRUTHS, help="only this simulated truth")
    parser.add_argument("--alone", action="store_true", help="without rivals")
    parser.add_argument("--repetitions", type=int, default=6, help="of each simulated truth")
    parser.add_argument("--first", type=int, default=0, help="seed of the first of these repetitions")
    options = parser.parse_args()
    if options.bound:
        know_all_but_which(BOUND_REPETITIONS)
        return
    seeds = range(options.first, options.first + options.repetitions)
    if options.truth is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            simulate((options.truth,), SIZES[:4], seeds)
        return
    if options.folder is None:
        parser.error("the folder of the development tables must be given")
    known = {name: rival for name, rival in RIVALS.items() if name not in MODULES or MODULES[name]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        measure_time()
        simulate(TRUTHS, SIZES[:5], seeds)
        know_all_but_which(BOUND_REPETITIONS)
        compare_segments(options.repetitions)
        compare_tables(options.folder, None if options.alone else known)


MODULES = {name: importlib.util.find_spec(name) is not None for name in ("lightgbm", "catboost", "pygam")}

if __name__ == "__main__":
    main()
