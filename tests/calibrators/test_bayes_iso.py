import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from calibrant import BayesIso, Tally, simulate
from calibrant.errors import InvalidInputError


def tally_of(n):
    return Tally(np.linspace(0, 1, n), (np.arange(n) % 3 == 0).astype(float), np.ones(n))


def excess_log_loss(truth, p):
    return float(np.mean(truth * np.log(truth / p) + (1 - truth) * np.log((1 - truth) / (1 - p))))


def test_one_score_is_laplaces_rule():
    # One cell has a uniform prior: 3 of 4 positive gives Beta(4, 2), mean 4/6.
    calibrator = BayesIso(n_draws=4000).fit([0.5] * 4, [1, 1, 1, 0])
    assert calibrator.predict([0.1, 0.5, 0.9]) == pytest.approx([2 / 3] * 3, abs=0.02)
    low, high = calibrator.predict_interval([0.5])
    assert (low[0], high[0]) == pytest.approx((0.343, 0.924), abs=0.03)  # quantiles of Beta(4, 2)


def test_two_rows_by_hand():
    # Either cell is the root: c1 = u, c2 = u + v (1 − u), or c2 = u, c1 = u v, each weighted by c2 (1 − c1).
    u, v = np.meshgrid((np.arange(400) + 0.5) / 400, (np.arange(400) + 0.5) / 400)
    pairs = [(u, u + v * (1 - u)), (u * v, u)]
    mass = sum((b * (1 - a)).sum() for a, b in pairs)
    exact = [sum((c[k] * c[1] * (1 - c[0])).sum() for c in pairs) / mass for k in (0, 1)]
    for sampler in ("tree", "importance"):
        p = BayesIso(sampler=sampler, n_draws=20_000, bounds=None).fit([1, 2], [0, 1]).predict([1, 2])
        assert p == pytest.approx(exact, abs=0.015)


@pytest.mark.parametrize(("n", "seed"), [(10, 0), (20, 1), (30, 2)])
def test_both_samplers_agree_on_few_rows(n, seed):
    data = simulate.bayes_iso(n, rng=seed)
    tree = BayesIso(n_draws=6000, max_cells=100).fit(data.scores, data.labels)
    importance = BayesIso(sampler="importance", bounds=None, n_draws=100_000).fit(data.scores, data.labels)
    assert importance.diagnostics_["ess"] > 300
    np.testing.assert_allclose(tree.predict(data.scores), importance.predict(data.scores), atol=0.04)
    for a, b in zip(tree.predict_interval(data.scores), importance.predict_interval(data.scores), strict=True):
        np.testing.assert_allclose(a, b, atol=0.12)


@pytest.mark.parametrize(("n", "limit"), [(100, 0.040), (1000, 0.005), (30_000, 0.0006)])
def test_recovery_on_the_papers_task(n, limit):
    test = simulate.bayes_iso(20_000, rng=99)
    losses = []
    for seed in range(5):
        data = simulate.bayes_iso(n, rng=1000 + seed)
        p = BayesIso().fit(data.scores, data.labels).predict(test.scores)
        losses.append(excess_log_loss(test.probabilities, p))
    assert np.mean(losses) < limit


TRUTHS = {"straight": lambda s: s, "curved": lambda s: s**2, "flat": lambda s: 0.2 + 0.15 * s}


@pytest.mark.parametrize("n", [300, 3000])
def test_intervals_cover_monotone_truths(n):
    at = np.linspace(0.02, 0.98, 97)
    covered = []
    for truth in TRUTHS.values():
        for seed in range(6):
            rng = np.random.default_rng(seed)
            scores = rng.random(n)
            calibrator = BayesIso().fit(scores, rng.random(n) < truth(scores))
            low, high = calibrator.predict_interval(at, level=0.9)
            covered.append(((low <= truth(at)) & (truth(at) <= high)).mean())
    assert 0.82 < np.mean(covered) < 0.98


def test_diagnostics_of_the_tree_sampler():
    data = simulate.bayes_iso(2000, rng=0)
    found = BayesIso().fit(data.scores, data.labels).diagnostics_
    assert found["converged"]
    assert 1.0 <= found["r_hat"] <= 1.1
    assert 30 <= found["ess"] <= found["ess_median"] <= found["n_draws"]
    assert found["n_cells"] == 55  # eight times the fourth root of 2000, made odd
    assert found["n_chains"] > 1
    assert 0.4 < found["acceptance"] < 0.8
    assert 0.0 < found["error"] < 0.005


def test_a_fit_that_has_not_converged_warns():
    data = simulate.bayes_iso(2000, rng=0)
    with pytest.warns(ConvergenceWarning, match="max_sweeps"):
        calibrator = BayesIso(n_draws=100, max_sweeps=10).fit(data.scores, data.labels)
    assert not calibrator.diagnostics_["converged"]


def test_a_part_of_a_mixture_does_not_warn_of_what_its_user_cannot_set():
    data = simulate.bayes_iso(2000, rng=0)
    part = BayesIso(n_draws=100, max_sweeps=10)
    part._convergence = (1.0, 1e9)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        part.fit(data.scores, data.labels)
    assert not part.diagnostics_["converged"]


def test_importance_sampling_flags_domination():
    data = simulate.bayes_iso(3000, rng=0)
    with pytest.warns(ConvergenceWarning, match="outweighs"):
        calibrator = BayesIso(sampler="importance", bounds=None, n_draws=300).fit(data.scores, data.labels)
    assert calibrator.diagnostics_["dominated"]
    assert calibrator.diagnostics_["ess"] < 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        small = BayesIso(sampler="importance", bounds="paper").fit(data.scores[:50], data.labels[:50])
    assert not small.diagnostics_["dominated"]
    assert small.diagnostics_["n_draws"] == 10_000


def test_cells_and_their_number():
    data = simulate.bayes_iso(5000, rng=0)
    few = BayesIso(max_cells=20).fit(data.scores, data.labels)
    assert len(few.map_.function.x) == few.diagnostics_["n_cells"] == 20
    one = BayesIso(sampler="importance", max_cells=10).fit(data.scores[:200], data.labels[:200])
    assert one.diagnostics_["n_cells"] == 10


def test_the_seed_decides():
    data = simulate.bayes_iso(200, rng=0)

    def p(seed):
        return BayesIso(random_state=seed).fit(data.scores, data.labels).predict(data.scores)

    before = np.random.get_state()[1].copy()  # noqa: NPY002 - the global state must stay as it is
    np.testing.assert_array_equal(p(1), p(1))
    np.testing.assert_array_equal(p(np.random.default_rng(1)), p(np.random.default_rng(1)))
    np.testing.assert_array_equal(p(np.random.RandomState(1)), p(np.random.RandomState(1)))
    assert not np.array_equal(p(1), p(2))
    assert p(None).shape == (200,)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002
    np.testing.assert_allclose(p(1), p(2), atol=0.025)


@pytest.mark.parametrize("n", [30, 101, 1000])
def test_exchanging_the_labels_gives_one_minus_the_map(n):
    data = simulate.bayes_iso(n, rng=3)
    p = BayesIso().fit(data.scores, data.labels).predict(data.scores)
    q = BayesIso().fit(1.0 - data.scores, 1 - data.labels).predict(1.0 - data.scores)
    np.testing.assert_allclose(p, 1.0 - q, atol=1e-9)


def test_default_cells_grow_slowly():
    counts = [BayesIso(n_draws=100).fit_tally(tally_of(n)).diagnostics_["n_cells"] for n in (30, 100, 1000, 30_000)]
    assert counts == [17, 27, 45, 101]


def test_more_draws_than_kept_repeat_some():
    data = simulate.bayes_iso(200, rng=0)
    calibrator = BayesIso(n_draws=100, max_sweeps=2000).fit(data.scores, data.labels)
    draws = calibrator.sample_maps(np.linspace(0, 1, 5), n_draws=5000)
    assert draws.shape == (5000, 5)
    np.testing.assert_allclose(draws.mean(axis=0), calibrator.predict(np.linspace(0, 1, 5)), atol=0.02)


def test_never_zero_or_one():
    p = BayesIso().fit(np.arange(50), np.arange(50) >= 25).predict(np.arange(50))
    assert 0.0 < p.min() < 0.1
    assert 0.9 < p.max() < 1.0


@pytest.mark.filterwarnings("ignore:High scores go with the negative class")
@settings(max_examples=12, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 8), st.booleans(), st.sampled_from([0.3, 1.0, 1e4])), min_size=1, max_size=25))
def test_any_rows_give_a_monotone_map_inside_the_unit_interval(rows):
    scores, y, weights = map(np.array, zip(*rows, strict=True))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        calibrator = BayesIso(n_draws=100, max_sweeps=300).fit(scores, y, weights)
    p = calibrator.predict(np.arange(-1, 10))
    assert (np.diff(p) >= 0.0).all()
    assert ((p > 0.0) & (p < 1.0)).all()


def test_millions_of_rows_cost_no_more_sweeps():
    truth = np.linspace(0.02, 0.97, 5000)
    totals = np.full(5000, 2000.0)
    tally = Tally(np.linspace(0, 1, 5000), np.random.default_rng(0).binomial(2000, truth).astype(float), totals)
    calibrator = BayesIso().fit_tally(tally)
    assert calibrator.diagnostics_["n_sweeps"] < 2000
    assert np.abs(calibrator.predict(tally.scores) - truth).max() < 0.02


@pytest.mark.parametrize(
    ("parameters", "word"),
    [
        ({"sampler": "gibbs"}, "sampler"),
        ({"bounds": "tight"}, "bounds"),
        ({"max_cells": 0}, "max_cells"),
        ({"n_draws": 10}, "n_draws"),
        ({"n_draws": 200.5}, "n_draws"),
        ({"sampler": "importance", "n_draws": 0}, "n_draws"),
        ({"max_sweeps": True}, "max_sweeps"),
    ],
)
def test_wrong_parameters_are_named(parameters, word):
    with pytest.raises(InvalidInputError, match=f"`{word}`"):
        BayesIso(**parameters).fit([0.1, 0.9], [0, 1])


def test_nothing_works_before_fit():
    for call in (BayesIso().sample_maps, BayesIso().predict_interval):
        with pytest.raises(NotFittedError):
            call([0.5])
