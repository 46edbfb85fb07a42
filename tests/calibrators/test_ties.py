"""Few distinct scores: intervals of Blend let the rows of each score speak."""

import numpy as np
import pytest
from scipy import integrate

from calibrant import Blend, Tally
from calibrant._numerics import links
from calibrant.calibrators import ties

VALUES = np.array([0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0])
SHARES = np.array([0.02, 0.03, 0.08, 0.1, 0.15, 0.2, 0.22, 0.15, 0.05])
TRUTH = np.array([0.35, 0.4, 0.45, 0.5, 0.55, 0.5, 0.7, 0.8, 0.88])  # a real dip at 85 %


def test_a_score_with_rows_of_its_own_is_one_with_twenty():
    assert ties.has_few_scores(Tally([0.2, 0.7], [3.0, 9.0], [20.0, 20.0]))
    assert not ties.has_few_scores(Tally([0.2, 0.7], [3.0, 9.0], [20.0, 19.0]))
    assert not ties.has_few_scores(Tally([0.2], [3.0], [20.0]))


def test_deviations_agree_with_a_numeric_posterior(monkeypatch):
    """One scale, so that each score is by itself: the posterior of δ by integration of the exact likelihood."""
    monkeypatch.setattr(ties, "SCALES", (0.3,))
    cells, curve = Tally([0.3, 0.6], [50.0, 90.0], [200.0, 150.0]), np.array([-0.9, 0.3])
    drawn = ties.deviations(np.tile(curve, (20_000, 1)), cells, np.random.default_rng(0))
    for column, (k, n, z) in enumerate(zip(cells.positives, cells.totals, curve, strict=True)):
        grid = np.linspace(-1.5, 1.5, 4001)
        p = links.expit(z + grid)
        log_density = k * np.log(p) + (n - k) * np.log1p(-p) - 0.5 * (grid / 0.3) ** 2
        density = np.exp(log_density - log_density.max())
        density /= integrate.trapezoid(density, grid)
        mean = integrate.trapezoid(grid * density, grid)
        spread = np.sqrt(integrate.trapezoid((grid - mean) ** 2 * density, grid))
        assert drawn[:, column].mean() == pytest.approx(mean, abs=0.02)
        assert drawn[:, column].std() == pytest.approx(spread, rel=0.05)


def test_scatter_beyond_chance_chooses_a_wider_scale():
    scores, totals = np.linspace(0.1, 0.9, 9), np.full(9, 400.0)
    near = Tally(scores, np.round(scores * 400), totals)
    shifted = links.expit(links.logit(scores) + 0.7 * (-1.0) ** np.arange(9))
    far = Tally(scores, np.round(shifted * 400), totals)
    curves = np.tile(links.logit(scores), (2000, 1))
    small, large = (ties.deviations(curves, cells, np.random.default_rng(0)).std() for cells in (near, far))
    assert small < 0.15 < 0.5 < large


def test_a_scale_of_many_scores_has_no_deviations(monkeypatch):
    """Cells that many scores were merged into have as many rows as few scores would."""
    calls = []
    monkeypatch.setattr("calibrant.calibrators.blend.deviations", lambda z, *_: calls.append(1) or np.zeros_like(z))
    rng = np.random.default_rng(0)
    scores = rng.random(6000)
    Blend().fit(scores, rng.random(6000) < scores).predict_interval([0.5])
    assert not calls
    Blend().fit(scores.round(1), rng.random(6000) < scores).predict_interval([0.5])
    assert calls


def test_intervals_hold_a_dip_of_stated_confidence():
    covered = []
    for seed in range(30):
        rng = np.random.default_rng(2000 + seed)
        which = rng.choice(len(VALUES), 2000, p=SHARES)
        low, high = Blend().fit(VALUES[which], rng.random(2000) < TRUTH[which]).predict_interval(VALUES)
        covered.append((low <= TRUTH) & (high >= TRUTH))
    assert np.mean(covered) > 0.85
    assert np.mean(covered, axis=0)[4:6].min() > 0.7  # 0.87 of 300 samples, less three standard errors of 30
