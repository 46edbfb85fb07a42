import sys
from pathlib import Path

import numpy as np
import pytest

import calibrant
from calibrant import ABB, SBB, Tally, simulate
from calibrant.calibrators.abb import average_binnings
from calibrant.calibrators.published.printed_abb import PrintedABB

sys.path.insert(0, str(Path(__file__).parents[2]))  # benchmarks are not installed

from benchmarks.papers.planes import circular, xor

SCORES = np.array([0.05, 0.2, 0.25, 0.5, 0.8, 0.9])
POSITIVES = np.array([0.0, 1.0, 0.0, 3.0, 2.0, 1.0])
TOTALS = np.array([1.0, 1.0, 2.0, 3.0, 2.0, 3.0])
CELLS = Tally(SCORES, POSITIVES, TOTALS)


def exact_mean(calibrator):
    return average_binnings(calibrator._posterior)[0]


def test_lambda_is_averaged_by_evidence():
    grid = [1.0, 4.0, 16.0]
    averaged = ABB(lam=grid).fit_tally(CELLS)
    single = [ABB(lam=lam).fit_tally(CELLS) for lam in grid]
    evidence = np.exp([one.evidence_ for one in single])
    np.testing.assert_allclose(averaged.lam_posterior_, evidence / evidence.sum(), rtol=1e-12)
    assert averaged.evidence_ == pytest.approx(np.log(evidence.mean()), abs=1e-12)
    x = np.linspace(0.0, 1.0, 57)
    expected = sum(w * exact_mean(one)(x) for w, one in zip(averaged.lam_posterior_, single, strict=True))
    np.testing.assert_allclose(exact_mean(averaged)(x), expected, rtol=0, atol=1e-13)
    np.testing.assert_allclose(averaged.predict(x), expected, rtol=0, atol=1e-5)
    boundary = sum(w * one.boundary_probability_ for w, one in zip(averaged.lam_posterior_, single, strict=True))
    np.testing.assert_allclose(averaged.boundary_probability_, boundary, rtol=0, atol=1e-13)
    assert ABB().fit_tally(CELLS).lam_grid_.tolist() == (2.0 ** np.arange(9)).tolist()


@pytest.mark.parametrize("truth", ["D1", "hump", "wave"])
def test_the_interval_covers_the_truth_about_as_often_as_it_says(truth):
    covered = []
    for seed in range(4):
        data = simulate.from_truth(truth, 3000, rng=1000 + seed)
        low, high = ABB(n_draws=400).fit(data.scores, data.labels).predict_interval(data.scores)
        covered.append(((low <= data.probabilities) & (data.probabilities <= high)).mean())
    assert 0.8 < np.mean(covered) <= 1.0


@pytest.mark.parametrize("simulation", [xor, circular])
def test_recovers_maps_that_are_not_monotone(simulation):
    data = simulation(6000, rng=2)
    error = np.abs(ABB().fit(data.scores, data.labels).predict(data.scores) - data.probabilities).mean()
    isotonic = calibrant.IsotonicCalibration().fit(data.scores, data.labels)
    assert error < 0.035
    assert error < 0.25 * np.abs(isotonic.predict(data.scores) - data.probabilities).mean()


def test_coarsening_changes_little():
    data = simulate.bayes_iso(5000, rng=0)
    fine = ABB(max_cells=5000).fit(data.scores, data.labels)
    coarse = ABB(max_cells=1024).fit(data.scores, data.labels)
    assert np.abs(fine.predict(data.scores) - coarse.predict(data.scores)).mean() < 2e-3
    assert len(coarse.cells_) == 1024


def test_boundaries_are_where_the_steps_are():
    rng = np.random.default_rng(0)
    scores = np.arange(2000) / 2000
    calibrator = ABB().fit(scores, rng.random(2000) < np.where(scores < 0.3, 0.1, 0.8))
    assert abs(scores[calibrator.boundary_probability_.argmax()] - 0.3) < 0.01
    near = np.abs(scores[:-1] - 0.3) < 0.03
    assert calibrator.boundary_probability_[near].sum() > 0.99


EXTREMES = {
    "a cell of 1e9 rows": ([0.1, 0.5, 0.9], [3.0, 5e8, 2.0], [10.0, 1e9, 10.0]),
    "cells of 1e9 rows of one class": (np.arange(6), [0.0, 1e9, 0.0, 1e9, 1e9, 0.0], np.full(6, 1e9)),
    "gaps of 1e-300": ([0.0, 1e-300, 2e-300, 1.0], [0.0, 50.0, 0.0, 3.0], [40.0, 50.0, 60.0, 5.0]),
    "a gap below all doubles": ([0.0, 5e-324, 1e300], [0.0, 5.0, 1.0], [5.0, 5.0, 5.0]),
    "the widest range": ([-1.7e308, 0.0, 1.7e308], [0.0, 1.0, 1.0], [1.0, 2.0, 1.0]),
    "the smallest range": ([0.0, 5e-324], [0.0, 1.0], [1.0, 1.0]),
    "one positive in a million": (np.linspace(0, 1, 1000), np.eye(1, 1000, 700).ravel(), np.full(1000, 1000.0)),
    "one cell": ([0.3], [2.0], [5.0]),
    "tiny weights": ([0.1, 0.2, 0.3], [1e-12, 0.0, 1e-9], [1e-12, 1e-10, 1e-9]),
}


@pytest.mark.parametrize("lam", [1e-3, 1.0, 256.0, 1e6, "average"])
@pytest.mark.parametrize("case", list(EXTREMES))
def test_extremes_are_finite_and_inside_the_unit_interval(case, lam):
    tally = Tally(*(np.asarray(column, dtype=float) for column in EXTREMES[case]))
    calibrator = ABB(lam=lam, n_draws=50).fit_tally(tally)
    middle = 0.5 * tally.scores[1:] + 0.5 * tally.scores[:-1]
    x = np.concatenate((tally.scores, middle, [-1e308, 1e308]))
    p = calibrator.predict(x)
    assert ((p > 0.0) & (p < 1.0)).all()
    assert np.isfinite(calibrator.evidence_)
    assert ((calibrator.boundary_probability_ >= 0.0) & (calibrator.boundary_probability_ <= 1.0)).all()
    for values in (*calibrator.predict_interval(x), calibrator.sample_maps(x, 20)):
        assert np.isfinite(values).all()
    averaged = "best" if lam == "average" else lam
    assert np.isfinite(SBB(lam=averaged).fit_tally(tally).log_score_)
    assert np.isfinite(PrintedABB(lam=lam).fit_tally(tally).predict(x)).all()


def test_sharp_data_win_over_a_tiny_prior():
    tally = Tally(np.array([0.0, 1e-300, 1.0]), np.array([0.0, 2000.0, 0.0]), np.array([2000.0, 2000.0, 1.0]))
    p = ABB(lam=1.0).fit_tally(tally).predict([0.0, 1e-300])
    np.testing.assert_allclose(p, [1 / 2002, 2001 / 2002], atol=1e-3)
