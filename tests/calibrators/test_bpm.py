import os
from pathlib import Path

import numpy as np
import pytest
from scipy.special import softmax

from calibrant import BPM, Tally, simulate
from calibrant import metrics as m
from calibrant.errors import InvalidInputError
from calibrant.map_functions import Beta

DATA = Path(os.environ.get("CALIBRANT_DATA", Path(__file__).parents[3] / "shared" / "data"))
LOGITS = DATA / "raw" / "resnet110_c10_logits.npz"


def test_recovers_d1_as_published():
    """Mean error over a uniform grid at N = 10000: published .0099 (median), .0110 over our 30 seeds."""
    grid = np.linspace(0.0, 1.0, 1001)[1:-1]
    truth = simulate.TRUTHS["D1"](grid)
    errors = []
    for seed in range(30):
        data = simulate.from_truth("D1", 10_000, rng=seed)
        errors.append(np.abs(BPM().fit(data.scores, data.labels).predict(grid) - truth).mean())
    assert 0.008 < np.mean(errors) < 0.0121
    assert 0.008 < np.median(errors) < 0.011


def test_the_map_is_equation_12():
    data = simulate.from_truth("asymmetric", 3000)
    calibrator = BPM().fit(data.scores, data.labels)
    assert calibrator.map_.function.to_dict() == Beta(calibrator.alpha_, calibrator.beta_, -calibrator.c_).to_dict()
    s = np.array([0.2, 0.7])
    expected = 1.0 / (1.0 + s**-calibrator.alpha_ * (1.0 - s) ** calibrator.beta_ * np.exp(calibrator.c_))
    np.testing.assert_allclose(calibrator.predict(s), expected)


@pytest.mark.parametrize("n", [3, 10, 60, 239])
def test_any_number_of_rows(n):
    data = simulate.from_truth("underconfident", n, rng=4)
    y = data.labels.copy()
    y[:2] = [0, 1]
    assert np.isfinite(BPM().fit(data.scores, y).predict([0.0, 0.3, 1.0])).all()


def test_one_class_is_refused():
    with pytest.raises(InvalidInputError, match="both classes"):
        BPM().fit([0.2, 0.4], [1, 1])


def test_the_validation_row_of_resnet_110():
    """Fitted on validation rows, judged on test rows; the published row needs fitting on the test rows."""
    if not LOGITS.exists():
        pytest.skip(f"needs the public logits at {LOGITS}; set CALIBRANT_DATA to their folder")
    with np.load(LOGITS) as data:
        val, test = (_top_label(data, part) for part in ("val", "test"))
    calibrated = test.rescored(BPM().fit_tally(val).predict(test.scores))
    assert m.expected_calibration_error(calibrated, strategy="quantile") == pytest.approx(0.00571, abs=2e-4)
    assert m.sweep_calibration_error(calibrated) == pytest.approx(0.00551, abs=2e-5)
    assert m.ks_calibration_error(calibrated) == pytest.approx(0.00512, abs=2e-5)
    assert m.smooth_calibration_error(calibrated, convention="relplot-1.0.1") == pytest.approx(0.00767, abs=3e-5)
    assert m.tce_bpm(calibrated) == pytest.approx(0.00514, abs=1e-4)


def _top_label(data, part):
    p = softmax(data[f"{part}_logits"].astype(float), axis=1)
    return Tally.from_arrays(p.max(axis=1), p.argmax(axis=1) == data[f"{part}_labels"].ravel())
