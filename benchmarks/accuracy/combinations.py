"""Segments of several classes, and several labels as segments: one model of all against one for all and one for each.

python -m benchmarks.accuracy.combinations [--repeats 10] [--data ../shared/data/multiclass]

Simulated truths are known: the figure is the log-loss above that of the truth, × 1000, with the share of 90 % intervals
that hold it. Four classes: 12 segments, each with a temperature and biases of its own. Eight labels, each with a shift
and a slope of its own. Real tables, log-loss on other rows: public nets on CIFAR-10 and language models with four
options (segments are the models; from `--data`, skipped without it), properties of scikit-learn's digits, each
predicted from the pixels by Gaussian naive Bayes, and facts about people of a census, each predicted by the same from
age, occupation, race and the other facts (`raw/adult.parquet` beside the folder of `--data`).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from sklearn.datasets import load_digits
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import OneHotEncoder

from calibrant import Blend, SegmentedCalibrator
from calibrant._numerics import links
from calibrant._typing import Floats, Ints

SEGMENTS, CLASSES, LABELS = 12, 4, 8
SCALES = ((0.0, 0.0), (0.3, 0.15), (0.6, 0.3))  # of biases or shifts, and of log-temperatures
PROPERTIES = {
    "even": (0, 2, 4, 6, 8),
    "above four": (5, 6, 7, 8, 9),
    "has a loop": (0, 6, 8, 9),
    "prime": (2, 3, 5, 7),
    "only straight": (1, 4, 7),
    "open below": (4, 7, 9),
    "multiple of three": (3, 6, 9),
}
TABLES = {
    "nets": [f"cifar10_{name}" for name in ("densenet121", "resnet110", "resnet110_b", "vgg16", "wide_resnet")]
    + [f"cifar10_focal_{name}" for name in ("densenet121", "resnet110", "resnet50", "wide_resnet")],
    "language models": [
        "llm_falcon_7b_emotion_task_four",
        "llm_llama_2_7b_hf_emotion_task_four",
        "llm_qwen_14b_emotion_shared_four",
        "llm_qwen_7b_emotion_base_four",
        "llm_yi_6b_emotion_task_four",
    ],
}


def log_loss(truth: Floats, predicted: Floats) -> float:
    """Mean over rows of the expected −log of a label with these true probabilities, (n, K), or 0 and 1."""
    return float(-(truth * np.log(links.clip(predicted))).sum(axis=1).mean())


def both_classes(p: Floats) -> Floats:
    """The probabilities of labels, of any shape, as those of their absence and presence, (n, 2)."""
    return np.column_stack((1.0 - p.ravel(), p.ravel()))


def one_for_each(fit: Callable[[Ints], Blend], scores: Floats, segment: Ints) -> Floats:
    out = np.empty(scores.shape)
    for g in np.unique(segment):
        out[segment == g] = fit(g).predict(scores[segment == g])
    return out


def compare_classes(
    rows: tuple[Floats, Ints, Ints], scores: Floats, segment: Ints
) -> tuple[list[Floats], list[Floats]]:
    """Predictions of the segmented model, of one for all and of one for each; and the ends of the intervals."""
    own, y, groups = rows
    model = SegmentedCalibrator().fit(own, y, segment=groups)
    each = one_for_each(lambda g: Blend().fit(own[groups == g], y[groups == g]), scores, segment)
    predicted = [model.predict(scores, segment=segment), Blend().fit(own, y).predict(scores), each]
    return predicted, list(model.predict_interval(scores, segment=segment))


def compare_labels(rows: tuple[Floats, Ints], scores: Floats) -> tuple[list[Floats], list[Floats]]:
    own, y = rows
    model = SegmentedCalibrator().fit(own, y)
    each = [Blend().fit(own[:, k], y[:, k]).predict(scores[:, k]) for k in range(own.shape[1])]
    pooled = model.pooled_.predict(scores.ravel()).reshape(scores.shape)
    return [model.predict(scores), pooled, np.column_stack(each)], list(model.predict_interval(scores))


def simulate_classes(rng: np.random.Generator, scales: tuple[float, float], rows: int) -> tuple[Floats, ...]:
    bias, hot = rng.normal(0.0, scales[0], (SEGMENTS, CLASSES)), np.exp(rng.normal(0.0, scales[1], SEGMENTS))

    def draw(n: int) -> tuple[Floats, Ints, Floats]:
        segment, z = np.repeat(np.arange(SEGMENTS), n), rng.normal(0.0, 2.0, (n * SEGMENTS, CLASSES))
        return links.softmax(z), segment, links.softmax(0.7 * hot[segment, None] * z + bias[segment])

    (own, groups, p), (scores, segment, truth) = draw(rows), draw(200)
    y = (p.cumsum(axis=1) < rng.random((len(p), 1))).sum(axis=1)
    predicted, ends = compare_classes((own, y, groups), scores, segment)
    return truth, predicted, np.mean((ends[0] <= truth) & (truth <= ends[1]))


def simulate_labels(rng: np.random.Generator, scales: tuple[float, float], rows: int) -> tuple[Floats, ...]:
    shift, hot = rng.normal(0.0, scales[0], LABELS), np.exp(rng.normal(0.0, scales[1], LABELS))

    def draw(n: int) -> tuple[Floats, Floats]:
        z = rng.normal(-1.0, 1.5, (n, LABELS))
        return links.expit(z), links.expit(0.8 * hot * z + shift)

    (own, p), (scores, truth) = draw(rows), draw(300)
    predicted, ends = compare_labels((own, (rng.random(p.shape) < p).astype(int)), scores)
    inside = np.mean((ends[0] <= truth) & (truth <= ends[1]))
    return both_classes(truth), [both_classes(q) for q in predicted], inside


def judge_tables(folder: Path, names: list[str], rng: np.random.Generator, rows: int) -> list[float]:
    parts = [np.load(folder / f"{name}.npz") for name in names]
    orders = [rng.permutation(len(part["y"])) for part in parts]
    scores, y = zip(
        *((links.softmax(p["logp"].astype(float))[o], p["y"][o]) for p, o in zip(parts, orders, strict=True)),
        strict=True,
    )
    train, test = slice(0, rows), slice(rows, rows + 1000)
    groups, segment = np.repeat(np.arange(len(names)), rows), np.repeat(np.arange(len(names)), 1000)
    own = [np.concatenate([column[train] for column in columns]) for columns in (scores, y)]
    left = [np.concatenate([column[test] for column in columns]) for columns in (scores, y)]
    predicted, _ = compare_classes((own[0], own[1], groups), left[0], segment)
    return [log_loss(np.eye(left[0].shape[1])[left[1]], q) for q in predicted]


def judge_labels(y: Ints, features: Callable[[int], Floats], rows: int) -> list[float]:
    """Naive Bayes on 300 rows for each label, from the features that it may see; calibrated on `rows` others."""
    scores = np.empty(y.shape)
    for k in range(y.shape[1]):
        X = features(k)
        scores[:, k] = GaussianNB(var_smoothing=1e-2).fit(X[:300], y[:300, k]).predict_proba(X)[:, 1]
    train, test = slice(300, 300 + rows), slice(800, 3800)
    predicted, _ = compare_labels((scores[train], y[train]), scores[test])
    truth = both_classes(y[test].astype(float))
    return [log_loss(truth, both_classes(q)) for q in predicted]


def judge_digits(rng: np.random.Generator, rows: int) -> list[float]:
    X, digit = load_digits(return_X_y=True)
    order = rng.permutation(len(digit))
    y = np.column_stack([np.isin(digit[order], members) for members in PROPERTIES.values()]).astype(int)
    return judge_labels(y, lambda _: X[order], rows)


def judge_census(file: Path, rng: np.random.Generator, rows: int) -> list[float]:
    people = pq.read_table(file).to_pandas().sample(3800, random_state=int(rng.integers(2**31)))
    facts = {
        "earns over 50 000": people["target"] == 1,
        "married": people["marital_status"] == "Married-civ-spouse",
        "man": people["sex"] == "Male",
        "employed by a firm": people["workclass"] == "Private",
        "born in the country": people["native_country"] == "United-States",
        "graduate": people["education_num"] >= 13,
        "full time": people["hours_per_week"] >= 40,
        "has capital": (people["capital_gain"] > 0) | (people["capital_loss"] > 0),
    }
    y = np.column_stack(list(facts.values())).astype(int)
    others = OneHotEncoder(sparse_output=False).fit_transform(people[["occupation", "race"]])
    shared = np.column_stack((people["age"] / 10.0, others))
    return judge_labels(y, lambda k: np.column_stack((shared, np.delete(y, k, axis=1))), rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--data", type=Path)
    options = parser.parse_args()
    for name, simulate in (("four classes", simulate_classes), ("eight labels", simulate_labels)):
        for scales in SCALES:
            for rows in (50, 200):
                found = []
                for seed in range(options.repeats):
                    truth, predicted, inside = simulate(np.random.default_rng([seed, 11]), scales, rows)
                    found.append([1000 * (log_loss(truth, q) - log_loss(truth, truth)) for q in predicted] + [inside])
                ours, pooled, each, inside = np.mean(found, axis=0)
                print(
                    f"{name}, scales {scales}, {rows} rows: segmented {ours:.1f}, for all {pooled:.1f}, for each "
                    f"{each:.1f}; coverage {100 * inside:.0f} %",
                    flush=True,
                )
    judges: dict[str, Callable[[np.random.Generator, int], list[float]]] = {"digits": judge_digits}
    if options.data is None:
        print("census, nets, language models: skipped, `--data` names no folder")
    else:
        judges["census"] = lambda rng, rows: judge_census(options.data.parent / "raw" / "adult.parquet", rng, rows)
        for name, tables in TABLES.items():
            judges[name] = lambda rng, rows, tables=tables: judge_tables(options.data, tables, rng, rows)
    for name, judge in judges.items():
        for rows in (50, 200, 500):
            losses = np.array([judge(np.random.default_rng([seed, 12]), rows) for seed in range(options.repeats)])
            ours, pooled, each = losses.mean(axis=0)
            lead = losses[:, :1] - losses[:, 1:]
            error = lead.std(axis=0, ddof=1) / np.sqrt(len(lead))
            print(
                f"{name}, {rows} rows: log-loss segmented {ours:.4f}, for all {pooled:.4f} (± {error[0]:.4f}), "
                f"for each {each:.4f} (± {error[1]:.4f})",
                flush=True,
            )


if __name__ == "__main__":
    main()
