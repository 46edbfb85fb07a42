"""Agreement with other packages on data with ties and weights; benchmarks/record/metrics.py records their values."""

import json
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from scipy import special

from calibrant import metrics as m
from calibrant.metrics.samples import read_sample

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))  # benchmarks are not installed

from benchmarks.peers.smooth_ece import relplot_1_0_3  # noqa: E402

RECORDED = json.loads((Path(__file__).parent / "peers.json").read_text(encoding="utf-8"))
OURS = {
    "brier_score": m.brier_score,
    "log_loss": m.log_loss,
    "roc_auc": m.roc_auc,
    "smooth": lambda y, p, sample_weight: relplot_1_0_3(read_sample(y, p, sample_weight).tally),
    "smooth_at_0.05": lambda y, p, sample_weight: relplot_1_0_3(read_sample(y, p, sample_weight).tally, width=0.05),
    "debiased_width_10": partial(m.debiased_calibration_error, n_bins=10, strategy="uniform"),
    "plain_cells": partial(m.expected_calibration_error, p=2, strategy="cells"),
    "debiased_cells": partial(m.debiased_calibration_error, strategy="cells"),
    "ece": m.expected_calibration_error,
    "ece_l2": partial(m.expected_calibration_error, p=2),
    "mce": m.maximum_calibration_error,
}


@pytest.mark.parametrize("case", RECORDED["cases"], ids=lambda case: str(len(case["data"]["scores"])))
@pytest.mark.parametrize("name", OURS)
def test_agrees_with_the_peer(case, name):
    data = case["data"]
    ours = OURS[name](data["labels"], data["scores"], sample_weight=data["weights"])
    assert ours == pytest.approx(case["peers"][name], abs=1e-6)


@pytest.mark.parametrize("case", RECORDED["cases"], ids=lambda case: str(len(case["data"]["scores"])))
@pytest.mark.parametrize("loss", ["brier", "log"])
def test_corp_agrees_with_model_diagnostics(case, loss):
    data = case["data"]
    parts = m.corp_decomposition(data["labels"], data["scores"], loss=loss, sample_weight=data["weights"])
    for name in ("miscalibration", "discrimination", "uncertainty", "score"):
        assert getattr(parts, name) == pytest.approx(case["peers"][f"corp_{loss}_{name}"], abs=1e-9)


@pytest.mark.parametrize("case", RECORDED["cases"], ids=lambda case: str(len(case["data"]["scores"])))
def test_calibration_line_agrees_with_statsmodels(case):
    data, peers = case["data"], case["peers"]
    line = m.calibration_slope(data["labels"], data["scores"], sample_weight=data["weights"], level=0.9)
    reach = special.ndtri(0.95)
    for ours, name in ((line.slope, "slope"), (line.intercept, "intercept")):
        assert ours.value == pytest.approx(peers[name], abs=1e-6)
        assert ours.high - ours.value == pytest.approx(reach * peers[f"{name}_error"], abs=1e-6)


def test_several_classes_agree():
    data = RECORDED["multiclass"]
    y, p = np.array(data["labels"]), np.array(data["probabilities"])
    assert m.top_label_calibration_error(y, p) == pytest.approx(data["top"], abs=1e-6)
    assert m.class_wise_calibration_error(y, p) == pytest.approx(data["marginal"], abs=1e-6)
