import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from calibrant import BayesIso, simulate
from calibrant.calibrators.published.sampled_bayes_iso import SampledBayesIso, bounds, sample


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
    monkeypatch.setattr("calibrant.calibrators.published.sampled_bayes_iso.CHUNK", 400)
    parts = sample(positives, totals, np.random.default_rng(1), 20_000, None)
    np.testing.assert_allclose(whole.mean, parts.mean, atol=0.02)
    np.testing.assert_allclose(whole.resampled.mean(axis=0), whole.mean, atol=0.03)
    np.testing.assert_allclose(parts.resampled.mean(axis=0), parts.mean, atol=0.03)
    assert len(whole.log_weights) == 20_000


def test_one_cell_is_the_beta_posterior():
    found = sample(np.array([2.0]), np.array([3.0]), np.random.default_rng(0), 50_000, None)
    assert found.mean == pytest.approx([3 / 5], abs=0.01)


@pytest.mark.parametrize(("n", "seed"), [(10, 0), (20, 1), (30, 2)])
def test_the_sampler_and_the_sums_agree_on_few_rows(n, seed):
    data = simulate.bayes_iso(n, rng=seed)
    levels = BayesIso(max_cells=100).fit(data.scores, data.labels)
    importance = SampledBayesIso(bounds=None, n_draws=100_000).fit(data.scores, data.labels)
    assert importance.diagnostics_["ess"] > 300
    np.testing.assert_allclose(levels.predict(data.scores), importance.predict(data.scores), atol=0.04)
    for a, b in zip(levels.predict_interval(data.scores), importance.predict_interval(data.scores), strict=True):
        np.testing.assert_allclose(a, b, atol=0.12)


def test_importance_sampling_flags_domination():
    data = simulate.bayes_iso(3000, rng=0)
    with pytest.warns(ConvergenceWarning, match="outweighs"):
        calibrator = SampledBayesIso(bounds=None, n_draws=300).fit(data.scores, data.labels)
    assert calibrator.diagnostics_["dominated"]
    assert calibrator.diagnostics_["ess"] < 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        small = SampledBayesIso(bounds="paper").fit(data.scores[:50], data.labels[:50])
    assert not small.diagnostics_["dominated"]
    assert small.diagnostics_["n_draws"] == 10_000


def test_the_seed_decides():
    data = simulate.bayes_iso(200, rng=0)

    def p(seed):
        return SampledBayesIso(n_draws=1000, max_cells=15, random_state=seed).fit(data.scores, data.labels).predict(0.5)

    before = np.random.get_state()[1].copy()  # noqa: NPY002 - the global state must stay as it is
    assert p(1) == p(1)
    assert p(np.random.default_rng(1)) == p(np.random.default_rng(1))
    assert p(1) != p(np.random.RandomState(2))
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


def test_scores_may_be_merged():
    data = simulate.bayes_iso(200, rng=0)
    assert SampledBayesIso(max_cells=10).fit(data.scores, data.labels).diagnostics_["n_cells"] == 10


def test_more_candidates_than_kept_repeat_some():
    calibrator = SampledBayesIso(n_draws=500).fit(np.arange(20), np.arange(20) % 4 > 1)
    assert calibrator.sample_maps([3.0], n_draws=3000).shape == (3000, 1)
