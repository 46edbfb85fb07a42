"""Record what peer packages say about small data with ties and weights, for tests/metrics/peers.json.

Needs relplot, scikit-learn, torchmetrics with torch, model-diagnostics, uncertainty-calibration and statsmodels;
they are no dependencies of calibrant, so its tests compare with the recorded values.

Run: python benchmarks/record/metrics.py tests/metrics/peers.json
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from pathlib import Path

import calibration
import numpy as np
import relplot
import statsmodels.api as sm
import torch
from model_diagnostics.scoring import LogLoss, SquaredError, decompose
from sklearn import metrics as sk
from torchmetrics.functional.classification import (
    binary_calibration_error,
    multiclass_calibration_error,
)

PEERS = ["relplot", "scikit-learn", "torchmetrics", "model-diagnostics", "uncertainty-calibration", "statsmodels"]


def draw(seed: int, n: int, shape: tuple[float, float], decimals: int) -> dict[str, list[float]]:
    """Scores with ties, labels from a bent truth, integer weights; no score on an edge of 10 or 15 bins."""
    rng = np.random.default_rng(seed)
    scores = np.clip(np.round(rng.beta(*shape, n), decimals), 0.001, 0.999)
    for n_bins in (10, 15):
        on_edge = np.isclose(scores * n_bins, np.round(scores * n_bins))
        scores[on_edge] += 0.0004
    labels = rng.random(n) < scores**1.4
    return {
        "scores": scores.tolist(),
        "labels": labels.astype(int).tolist(),
        "weights": rng.integers(1, 4, n).tolist(),
    }


def record(data: dict[str, list[float]]) -> dict[str, float]:
    p, y, w = np.array(data["scores"]), np.array(data["labels"]), np.array(data["weights"])
    rows, hits = np.repeat(p, w), np.repeat(y, w)
    tensors = torch.tensor(rows), torch.tensor(hits)
    out = {
        "brier_score": sk.brier_score_loss(y, p, sample_weight=w),
        "log_loss": sk.log_loss(y, p, sample_weight=w),
        "roc_auc": sk.roc_auc_score(y, p, sample_weight=w),
        "accuracy": sk.accuracy_score(y, p > 0.5, sample_weight=w),
        "smooth": relplot.smECE(rows, hits),
        "smooth_at_0.05": relplot.smECE_sigma(rows, hits, 0.05),
        "debiased_width_10": calibration.utils.lower_bound_scaling_ce(
            rows, hits, p=2, num_bins=10, binning_scheme=calibration.utils.get_equal_prob_bins
        ),
        "plain_cells": calibration.utils.get_binning_ce(rows, hits, p=2, debias=False),
        "debiased_cells": calibration.utils.get_binning_ce(rows, hits, p=2, debias=True),
    }
    for norm, key in (("l1", "ece"), ("l2", "ece_l2"), ("max", "mce")):
        out[key] = float(binary_calibration_error(*tensors, n_bins=15, norm=norm))
    for loss, key in ((SquaredError(), "brier"), (LogLoss(), "log")):
        parts = decompose(y, p, weights=w, scoring_function=loss)
        for name in ("miscalibration", "discrimination", "uncertainty", "score"):
            out[f"corp_{key}_{name}"] = parts[name][0]
    z = np.log(rows / (1 - rows))
    line = sm.Logit(hits, sm.add_constant(z)).fit(disp=0, method="newton", tol=1e-12)
    large = sm.GLM(hits, np.ones(len(hits)), family=sm.families.Binomial(), offset=z).fit(tol=1e-12)
    out |= {"slope": line.params[1], "slope_error": line.bse[1]}
    out |= {"intercept": large.params[0], "intercept_error": large.bse[0]}
    return {key: float(value) for key, value in out.items()}


def record_multiclass() -> dict[str, object]:
    rng = np.random.default_rng(7)
    logits = 1.5 * rng.standard_normal((150, 4))
    matrix = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    labels = np.array([rng.choice(4, p=row) for row in matrix])
    matrix = np.round(matrix, 6)
    matrix[:, -1] = 1.0 - matrix[:, :-1].sum(axis=1)
    top = multiclass_calibration_error(torch.tensor(matrix), torch.tensor(labels), num_classes=4, n_bins=15)
    marginal = calibration.utils.lower_bound_scaling_ce(
        matrix,
        labels,
        p=1,
        debias=False,
        num_bins=15,
        binning_scheme=calibration.utils.get_equal_prob_bins,
        mode="marginal",
    )
    return {"probabilities": matrix.tolist(), "labels": labels.tolist(), "top": float(top), "marginal": float(marginal)}


def main() -> None:
    cases = []
    for seed, (n, shape, decimals) in enumerate([(60, (2, 2), 2), (150, (0.6, 0.9), 2), (400, (1, 3), 3)]):
        data = draw(seed, n, shape, decimals)
        cases.append({"data": data, "peers": record(data)})
    document = {
        "versions": {name: version(name) for name in PEERS},
        "cases": cases,
        "multiclass": record_multiclass(),
    }
    Path(sys.argv[1]).write_text(json.dumps(document) + "\n", encoding="utf-8")
    print(f"recorded {len(cases)} cases")


if __name__ == "__main__":
    main()
