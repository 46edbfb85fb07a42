"""An unknown base rate: tables resampled to new shares of positives; error and coverage of the estimated share.

python -m benchmarks.unlabelled.prior FOLDER
"""

from __future__ import annotations

import argparse
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from calibrant import Blend
from calibrant.adjust.prior import estimate_prior

TASKS = (
    "imagenet_alexnet_pytorch",
    "imagenet_vgg11_pytorch",
    "imagenet_torchvision_resnet101",
    "toplabel_densenet40_c100",
    "toplabel_resnet110_c10",
    "forecast_club_soccer_matches",
    "forecast_governors_elections",
    "llm_o3_2025_04_16",
    "llm_deepseek_v3",
    "compas_violent_decile",
)
RATES = (0.1, 0.3, 0.5, 0.7, 0.9)
SIZES = (250, 1000)
ROWS = 2000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--reps", type=int, default=5)
    options = parser.parse_args()
    rows = []
    for task, n, rate, rep in product(TASKS, SIZES, RATES, range(options.reps)):
        table = pd.read_parquet(options.folder / f"{task}.parquet")
        scores, labels = table["score"].to_numpy(np.float64), table["label"].to_numpy(np.int64)
        rng = np.random.default_rng([7, rep, n, int(100 * rate)])
        order = rng.permutation(len(scores))
        own, rest = order[:n], order[n:]
        n_positive = rng.binomial(ROWS, rate)
        new = np.concatenate(
            [rng.choice(rest[labels[rest] == y], size) for y, size in ((1, n_positive), (0, ROWS - n_positive))]
        )
        blend = Blend().fit(scores[own], labels[own])
        answer, truth = estimate_prior(blend, scores[new]), n_positive / ROWS
        rows.append(
            {
                "task": task,
                "labels": n,
                "rate": rate,
                "coverage": answer.low <= truth <= answer.high,
                "width": answer.high - answer.low,
                "error": abs(answer.value - truth),
                "error of the mean probability": abs(blend.predict(scores[new]).mean() - truth),
                "doubts": bool(answer.warning),
            }
        )
    table = pd.DataFrame(rows)
    for keys in (["labels", "rate"], ["labels"], ["labels", "task"]):
        print(table.groupby(keys).mean(numeric_only=True).round(3).to_string(), end="\n\n")


if __name__ == "__main__":
    main()
