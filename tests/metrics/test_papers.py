"""The uncalibrated ResNet-110 row of Dong et al. 2025, Table 1, on the public scores."""

import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from calibrant import Tally
from calibrant import metrics as m

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))  # benchmarks are not installed

from benchmarks.peers.smooth_ece import relplot_1_0_1  # noqa: E402

SCORES = Path(__file__).parents[1] / "data" / "resnet110_cifar10.npz"


@pytest.fixture(scope="module")
def tally():
    with np.load(SCORES) as data:
        return Tally.from_arrays(data["test_scores"], data["test_labels"])


@pytest.mark.parametrize(
    ("metric", "published", "tolerance"),
    [
        # The authors' bins count equally though the last is larger; see the next test. Proper weights give .04750.
        (partial(m.expected_calibration_error, strategy="quantile"), 0.04755, 6e-5),
        # Theirs is a simulation of what ours computes; a run of it gave .04734.
        (partial(m.debiased_calibration_error, p=1, strategy="uniform"), 0.04752, 2e-4),
        (m.sweep_calibration_error, 0.04750, 1e-5),
        (m.ks_calibration_error, 0.04750, 1e-5),
        (relplot_1_0_1, 0.04271, 2e-5),
        # Theirs skips bins and sums over a grid; ours is Algorithm 1 as printed and an accurate integral.
        (m.tce_bpm, 0.05511, 2e-4),
    ],
)
def test_the_published_row(tally, metric, published, tolerance):
    assert metric(tally) == pytest.approx(published, abs=tolerance)


def test_the_authors_binned_error_is_the_mean_over_bins_of_n_over_15_rows(tally):
    assert tally.total == 10_000
    cells = np.repeat(np.arange(len(tally)), tally.totals.astype(int))  # of each row; a few scores are ties
    starts = np.arange(15) * (10_000 // 15)
    totals = np.diff([*starts, 10_000]).astype(float)
    shares = tally.positives / tally.totals
    coarse = Tally(
        np.add.reduceat(tally.scores[cells], starts) / totals, np.add.reduceat(shares[cells], starts), totals
    )
    assert m.adaptive_calibration_error(coarse, n_bins=15) == pytest.approx(0.04755, abs=5e-6)


def test_the_definition_of_smooth_ece_gives_the_mean_gap_of_one_sided_errors(tally):
    assert m.smooth_calibration_error(tally) == pytest.approx(m.ks_calibration_error(tally), abs=1e-6)
