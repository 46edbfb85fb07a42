import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression

from calibrant import IsotonicCalibration


def data(n=300, seed=0):
    rng = np.random.default_rng(seed)
    s = np.round(rng.standard_normal(n), 2)
    return s, (rng.random(n) < 1.0 / (1.0 + np.exp(-2.0 * s))).astype(int)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("weighted", [False, True])
def test_agrees_with_scikit_learn(seed, weighted):
    s, y = data(seed=seed)
    weights = np.random.default_rng(seed).uniform(0.2, 3.0, len(y)) if weighted else None
    peer = IsotonicRegression(out_of_bounds="clip").fit(s, y, weights)
    ours = IsotonicCalibration(target_correction=False).fit(s, y, weights)
    grid = np.linspace(-5.0, 5.0, 500)
    np.testing.assert_allclose(ours.predict(grid), peer.predict(grid), rtol=0, atol=1e-9)


def test_agrees_with_scikit_learn_on_corrected_targets():
    s, y = data()
    n_positive, n_negative = y.sum(), (1 - y).sum()
    targets = np.where(y == 1, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))
    peer = IsotonicRegression(out_of_bounds="clip").fit(s, targets)
    np.testing.assert_allclose(IsotonicCalibration().fit(s, y).predict(s), peer.predict(s), rtol=0, atol=1e-9)


BLOCKS = [1.0, 2.0, 4.0, 6.0, 8.0], [0, 1, 0, 1, 1]  # pooled: 0 at 1, ½ over 2 … 4, 1 over 6 … 8


@pytest.mark.parametrize(
    ("interpolation", "expected"),
    [
        #          0    1.5   2.5  3.0   5.0   6.5  9
        ("linear", [0, 0.25, 0.5, 0.5, 0.75, 1.0, 1.0]),
        ("step", [0, 0.0, 0.5, 0.5, 0.5, 1.0, 1.0]),
        ("centred", [0, 0.125, 0.375, 0.5, 0.75, 0.9375, 1.0]),
    ],
)
def test_between_the_blocks_by_hand(interpolation, expected):
    calibrator = IsotonicCalibration(interpolation=interpolation, target_correction=False).fit(*BLOCKS)
    np.testing.assert_allclose(calibrator.predict([0.0, 1.5, 2.5, 3.0, 5.0, 6.5, 9.0]), expected, atol=1e-12)


def test_centred_has_no_flat_piece_inside():
    s, y = data(2000)
    calibrator = IsotonicCalibration(interpolation="centred").fit(s, y)
    inside = np.linspace(calibrator.map_.function.x[0], calibrator.map_.function.x[-1], 500)
    assert np.diff(calibrator.predict(inside)).min() > 0.0


def test_rounding_does_not_part_a_block():
    # A third is not a double: 1/3 of 3 rows, 2/6 of 6 and 10/30 of 30 are one block all the same.
    scores = np.repeat([1.0, 2.0, 3.0, 4.0], [3, 6, 30, 1])
    y = np.concatenate([np.arange(n) < k for n, k in ((3, 1), (6, 2), (30, 10), (1, 1))])
    for correction in (False, True):
        function = (
            IsotonicCalibration(interpolation="centred", target_correction=correction).fit(scores, y).map_.function
        )
        np.testing.assert_allclose(function.x, [(3 * 1 + 6 * 2 + 30 * 3) / 39, 4.0])


def test_correction_keeps_off_0_and_1():
    s, y = np.arange(10.0), np.arange(10) >= 5
    corrected = IsotonicCalibration().fit(s, y).predict(s)
    np.testing.assert_allclose(corrected, np.where(y, 6 / 7, 1 / 7))
    assert IsotonicCalibration(target_correction=False).fit(s, y).predict(s).tolist() == y.astype(float).tolist()


@pytest.mark.parametrize("interpolation", ["linear", "step", "centred"])
def test_recovers_the_truth(interpolation):
    rng = np.random.default_rng(0)
    s = rng.random(100_000)
    calibrator = IsotonicCalibration(interpolation=interpolation).fit(s, rng.random(100_000) < s**2)
    grid = np.linspace(0.05, 0.95, 50)
    assert np.abs(calibrator.predict(grid) - grid**2).mean() < 0.02


def test_scores_barely_apart_keep_their_blocks():
    for low, high in ((1.0 - 1e-11, 1.0), (1.0, 1.0 + 1e-11)):
        calibrator = IsotonicCalibration(interpolation="step", target_correction=False).fit([low, high], [0, 1])
        assert calibrator.predict([low, high]).tolist() == [0.0, 1.0]
