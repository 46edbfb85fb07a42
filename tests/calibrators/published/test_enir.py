import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression, lsq_linear

from calibrant import ENIR, IsotonicCalibration, simulate
from calibrant._numerics import links
from calibrant.calibrators.published.enir import Path, average_path


def test_by_hand():
    # 0 1 0 1 has one model with λ > 0, which pools the middle.
    calibrator = ENIR(target_correction=False).fit([1, 2, 3, 4], [0, 1, 0, 1])
    assert calibrator.predict([0, 1, 1.5, 2, 2.5, 3, 4, 5]).tolist() == [0, 0, 0.25, 0.5, 0.5, 0.5, 1, 1]
    assert calibrator.n_models_ == 1


def test_two_models_by_hand():
    # 1 0 1 0: the outer blocks fall with λ and the inner ones rise; all falls close in two steps, at λ = ½ and 1.
    y = np.array([1.0, 0.0, 1.0, 0.0])
    p = ENIR(target_correction=False).fit([1, 2, 3, 4], y).predict([1, 2, 3, 4])
    assert p[0] == pytest.approx(1 - p[3])
    assert p.mean() == pytest.approx(0.5)


def test_target_correction_avoids_zero_and_one():
    scores, y = np.arange(40), np.arange(40) >= 20
    assert ENIR(target_correction=False).fit(scores, y).predict([0, 39]).tolist() == [0.0, 1.0]
    assert ENIR().fit(scores, y).predict([0, 39]) == pytest.approx([1 / 22, 21 / 22])


def test_close_to_isotonic_where_the_truth_rises():
    data, test = simulate.bayes_iso(10_000, rng=0), simulate.bayes_iso(5000, rng=1)
    ensemble = ENIR().fit(data.scores, data.labels).predict(test.scores)
    isotonic = IsotonicCalibration().fit(data.scores, data.labels).predict(test.scores)
    assert np.abs(ensemble - isotonic).mean() < 0.01
    assert np.abs(ensemble - test.probabilities).mean() < 0.03


@pytest.mark.filterwarnings("ignore:High scores go with the negative class")
def test_recovers_a_fall_that_isotonic_regression_cannot():
    rng = np.random.default_rng(0)
    scores = rng.random(20_000)
    truth = np.where(scores < 0.5, 0.8, 0.3)
    calibrator = ENIR().fit(scores, rng.random(20_000) < truth)
    p = calibrator.predict([0.2, 0.8])
    assert p[0] - p[1] > 0.2
    assert not calibrator.map_.monotone


def test_points_of_the_map_are_few():
    data = simulate.bayes_iso(10_000, rng=0)
    assert len(ENIR().fit(data.scores, data.labels).map_.function.x) < 1000


@pytest.mark.filterwarnings("ignore:High scores go with the negative class")
@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 12), st.booleans(), st.sampled_from([0.5, 1.0, 4.0])), min_size=1, max_size=40)
)
def test_keeps_the_mean_and_the_range(rows):
    scores, y, weights = map(np.array, zip(*rows, strict=True))
    p = ENIR(target_correction=False).fit(scores, y, weights).predict(scores)
    # Every model keeps the weighted mean of the labels, because what λ adds to one block it takes from the next.
    assert np.average(p, weights=weights) == pytest.approx(np.average(y, weights=weights), abs=1e-9)
    assert p.min() >= 0.0
    assert p.max() <= 1.0


def by_dual(y, w, penalty):
    """Nearly-isotonic regression as a bounded least-squares problem: β = y − D'u / w with 0 ≤ u ≤ λ."""
    d = np.eye(len(y))[:-1] - np.eye(len(y))[1:]
    u = lsq_linear(d.T / np.sqrt(w)[:, None], np.sqrt(w) * y, bounds=(0, penalty), method="bvls", tol=1e-14).x
    return y - d.T @ u / w


def spread(model, m):
    return np.repeat(model.values, np.diff(np.append(model.starts, m)))


def random_cells(seed):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, 12))
    y = rng.integers(0, 2, m).astype(float) if seed % 2 else rng.random(m)
    return y, np.ones(m) if seed % 3 else rng.uniform(0.3, 3.0, m)


@pytest.mark.parametrize("seed", range(60))
def test_every_model_of_the_path_solves_its_problem(seed):
    y, w = random_cells(seed)
    found = Path(y, w)
    for merges in found.breakpoints():
        penalty = found.penalties[merges - 1]
        np.testing.assert_allclose(spread(found.model(int(merges)), len(y)), by_dual(y, w, penalty), atol=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_the_path_ends_at_isotonic_regression(seed):
    y, w = random_cells(seed)
    found = Path(y, w)
    last = found.model(len(found.penalties))
    np.testing.assert_allclose(spread(last, len(y)), isotonic_regression(y, weights=w).x, atol=1e-12)


def test_a_path_by_hand():
    # 0 1 0 1: the fall in the middle closes at λ = ½, where both inner values are ½; nothing else moves.
    found = Path(np.array([0.0, 1.0, 0.0, 1.0]), np.ones(4))
    assert found.penalties.tolist() == [0.5]
    assert found.model(1).values.tolist() == [0.0, 0.5, 1.0]
    assert found.model(1).log_likelihood == pytest.approx(2 * np.log(0.5), abs=1e-9)
    assert found.n_blocks(found.breakpoints()).tolist() == [3]


def test_merges_at_one_penalty_are_one_model():
    # 1 0 1 0 1 0: by symmetry the outer falls close together.
    found = Path(np.array([1.0, 0.0, 1.0, 0.0, 1.0, 0.0]), np.ones(6))
    assert len(found.breakpoints()) < len(found.penalties)


@pytest.mark.parametrize("seed", range(24))
def test_equal_blocks_are_one_wherever_several_meet_at_once(seed):
    # Labels of 0 and 1 with weight 1 merge by threes at one λ all the time; BIC counts runs of equal values.
    rng = np.random.default_rng(seed)
    m = int(rng.integers(10, 300))
    y = (rng.random(m) < np.linspace(0.0, 1.0, m)).astype(float)
    found = Path(links.platt_targets(y, np.ones(m)) if seed % 2 else y, np.ones(m))
    for merges in found.breakpoints():
        assert np.abs(np.diff(found.model(int(merges)).values)).min(initial=1.0) > 1e-9


def all_models(y, w):
    found = Path(y, w)
    models = [found.model(int(k)) for k in found.breakpoints()]
    bic = np.array([len(m.values) * np.log(w.sum()) - 2 * m.log_likelihood for m in models])
    weights = np.exp(0.5 * (bic.min() - bic))
    return sum(a * spread(m, len(y)) for a, m in zip(weights / weights.sum(), models, strict=True))


@pytest.mark.parametrize("m", [10, 60, 400])
def test_skipping_hopeless_models_changes_nothing(m):
    rng = np.random.default_rng(m)
    y = (rng.random(m) < np.linspace(0.1, 0.9, m)).astype(float)
    w = np.ones(m)
    values, counted = average_path(y, w)
    np.testing.assert_allclose(values, all_models(y, w), atol=1e-13)
    assert counted >= 1


def test_likelihood_only_falls_along_the_path():
    rng = np.random.default_rng(5)
    y = rng.random(80)
    found = Path(y, rng.uniform(0.5, 2.0, 80))
    fits = [found.model(int(k)).log_likelihood for k in found.breakpoints()]
    assert (np.diff(fits) <= 1e-9).all()


def test_increasing_labels_are_their_own_fit():
    values, counted = average_path(np.array([0.0, 0.0, 0.25, 1.0]), np.ones(4))
    assert values.tolist() == [0.0, 0.0, 0.25, 1.0]
    assert counted == 1


def test_one_cell():
    assert average_path(np.array([0.3]), np.array([5.0]))[0] == pytest.approx([0.3])
