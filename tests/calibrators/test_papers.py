"""Published and recorded results of methods on the data that they were published for; see tests/data/README.md."""

import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from calibrant import BBQ, BPM, Tally
from calibrant import metrics as m

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))  # benchmarks are not installed

from benchmarks.peers.smooth_ece import relplot_1_0_1  # noqa: E402

DATA = Path(__file__).parents[1] / "data"


def test_bbq_on_its_authors_example():
    with np.load(DATA / "bbq_example.npz") as data:
        calibrator = BBQ().fit(data["train_scores"], data["train_labels"])
        p, y = calibrator.predict(data["test_scores"]), data["test_labels"]
    groups = np.array_split(np.argsort(p, kind="stable"), 10)
    gaps = [abs(p[group].mean() - y[group].mean()) for group in groups]
    measured = [np.sqrt(((p - y) ** 2).mean()), roc_auc_score(y, p), ((p >= 0.5) == y).mean(), max(gaps), np.mean(gaps)]
    np.testing.assert_allclose(measured, [0.0716, 0.9999, 0.9930, 0.0491, 0.0090], atol=5.1e-5)
    assert len(calibrator.n_bins_) == 36


def test_bpm_on_resnet_110():
    """Fitted on validation rows, judged on test rows; the published row needs fitting on the test rows."""
    with np.load(DATA / "resnet110_cifar10.npz") as data:
        val, test = (Tally.from_arrays(data[f"{part}_scores"], data[f"{part}_labels"]) for part in ("val", "test"))
    calibrated = test.rescored(BPM().fit_tally(val).predict(test.scores))
    assert m.expected_calibration_error(calibrated, strategy="quantile") == pytest.approx(0.00571, abs=2e-4)
    assert m.debiased_calibration_error(calibrated, p=1) == pytest.approx(0.00387, abs=2e-5)
    assert m.sweep_calibration_error(calibrated) == pytest.approx(0.00551, abs=2e-5)
    assert m.ks_calibration_error(calibrated) == pytest.approx(0.00512, abs=2e-5)
    assert relplot_1_0_1(calibrated) == pytest.approx(0.00767, abs=3e-5)
    assert m.tce_bpm(calibrated) == pytest.approx(0.00514, abs=1e-4)
