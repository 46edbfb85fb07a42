import numpy as np
import pytest

from calibrant.calibrators.published.bayes_iso_sampler import bounds, sample


def test_the_papers_bounds_by_hand():
    # 20 rows of one each: bins of B = 2 rows that begin or end at the row itself, slack 1/√2.
    labels = np.array([0.0, 0.0, 1.0, 0.0] + [1.0] * 16)
    lower, upper = bounds(labels, np.ones(20), "paper")
    slack = 1 / np.sqrt(2)
    assert upper[0] == pytest.approx(0.0 + slack)  # rows 0 and 1
    assert upper[1] == 1.0  # rows 1 and 2: ½ + .71
    assert lower[-1] == pytest.approx(1.0 - slack)
    assert lower[3] == 0.0  # rows 2 and 3: ½ − .71
    assert lower[0] == 0.0
    # A bin at the end of the ranking is smaller, and its slack larger.
    assert bounds(np.zeros(20), np.ones(20), "paper")[1][-1] == 1.0


def test_the_programs_bounds_by_hand():
    # 40 rows: bins of 40 // 20 = 2 rows without the row itself, slack 1/√40, widened to the isotonic fit.
    labels = (np.arange(40) >= 20).astype(float)
    lower, upper = bounds(labels, np.ones(40), "code")
    slack = 1 / np.sqrt(40)
    np.testing.assert_allclose(upper[:18], slack)
    assert upper[18] == pytest.approx(0.5 + slack)  # rows 19 and 20
    assert (upper[19:] == 1.0).all()
    np.testing.assert_allclose(lower[22:], 1 - slack)
    assert lower[21] == pytest.approx(0.5 - slack)
    assert (lower[:21] == 0.0).all()


def test_the_mean_and_the_kept_draws_do_not_depend_on_chunks(monkeypatch):
    positives, totals = np.array([0.0, 1.0, 1.0, 2.0]), np.array([2.0, 2.0, 1.0, 2.0])
    whole = sample(positives, totals, np.random.default_rng(0), 20_000, None)
    monkeypatch.setattr("calibrant.calibrators.published.bayes_iso_sampler.CHUNK", 400)
    parts = sample(positives, totals, np.random.default_rng(1), 20_000, None)
    np.testing.assert_allclose(whole.mean, parts.mean, atol=0.02)
    np.testing.assert_allclose(whole.resampled.mean(axis=0), whole.mean, atol=0.03)
    np.testing.assert_allclose(parts.resampled.mean(axis=0), parts.mean, atol=0.03)
    assert len(whole.log_weights) == 20_000


def test_one_cell_is_the_beta_posterior():
    found = sample(np.array([2.0]), np.array([3.0]), np.random.default_rng(0), 50_000, None)
    assert found.mean == pytest.approx([3 / 5], abs=0.01)
