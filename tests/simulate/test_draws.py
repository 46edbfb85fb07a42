import numpy as np
import pytest
from scipy import stats
from scipy.special import log_softmax, softmax

from calibrant import simulate
from calibrant.errors import InvalidInputError

BINARY = {"bayes_iso": simulate.bayes_iso} | {name: truth.sample for name, truth in simulate.TRUTHS.items()}


@pytest.mark.parametrize("draw", BINARY.values(), ids=BINARY)
def test_every_simulation_keeps_its_promises(draw):
    data = draw(40_000, rng=3)
    assert len(data) == len(data.labels) == len(data.probabilities) == 40_000
    assert set(np.unique(data.labels)) == {0, 1}
    assert ((data.scores >= 0) & (data.scores <= 1)).all()
    assert ((data.probabilities >= 0) & (data.probabilities <= 1)).all()
    with pytest.raises(ValueError, match="read-only"):
        data.scores[0] = 0.0
    assert data.tally.total_positive == data.labels.sum()


@pytest.mark.parametrize("draw", BINARY.values(), ids=BINARY)
def test_labels_follow_the_stated_truth(draw):
    data = draw(40_000, rng=4)
    groups = np.array_split(np.argsort(data.scores, kind="stable"), 40)
    hits = np.array([data.labels[g].sum() for g in groups])
    expected = np.array([data.probabilities[g].sum() for g in groups])
    variance = np.array([(data.probabilities[g] * (1 - data.probabilities[g])).sum() for g in groups])
    assert (np.abs(hits - expected) <= 4.5 * np.sqrt(variance) + 1e-9).all()


@pytest.mark.parametrize("draw", BINARY.values(), ids=BINARY)
def test_the_same_seed_gives_the_same_rows(draw):
    first, again, other = draw(50, rng=1), draw(50, rng=np.random.default_rng(1)), draw(50, rng=2)
    assert np.array_equal(first.scores, again.scores)
    assert np.array_equal(first.labels, again.labels)
    assert not np.array_equal(first.scores, other.scores)


@pytest.mark.parametrize("n", [0, -1, 2.5, True])
def test_needs_a_number_of_rows(n):
    with pytest.raises(InvalidInputError, match="`n`"):
        simulate.bayes_iso(n)


def test_repr_says_how_far_the_scores_are_from_the_truth():
    data = simulate.bayes_iso(10, rng=0)
    assert repr(data) == f"Simulation(10 rows, 5 positive, mean |score − truth| {data.error:.4f})"


def test_follows_algorithm_three():
    data = simulate.binomial_process(1000, np.square, (2.0, 5.0), rng=7)
    rng = np.random.default_rng(7)
    scores = rng.beta(2.0, 5.0, 1000)
    assert np.array_equal(data.scores, scores)
    assert np.array_equal(data.probabilities, scores**2)
    assert np.array_equal(data.labels, rng.random(1000) < scores**2)


def test_takes_any_distribution_of_scores():
    data = simulate.binomial_process(100, np.ones_like, lambda rng, n: rng.normal(size=n), rng=0)
    assert data.scores.min() < 0
    assert data.labels.all()


@pytest.mark.parametrize("truth", [lambda s: 2 * s + 1, lambda s: s * np.nan, lambda s: s[:-1]])
def test_refuses_a_map_that_gives_no_probabilities(truth):
    with pytest.raises(InvalidInputError, match="probability"):
        simulate.binomial_process(20, truth, (1.0, 1.0))


def test_refuses_impossible_beta_parameters():
    with pytest.raises(InvalidInputError, match="Beta"):
        simulate.binomial_process(20, np.square, (0.0, 1.0))


def test_the_recipe_is_the_recorded_one():
    rng = np.random.default_rng(5)
    n, n1 = 1001, 500
    negatives = rng.beta(1, 3, n - n1)
    mask = rng.random(n1) < 0.5
    positives = np.where(mask, rng.beta(1.5, 3, n1), rng.beta(30, 3, n1))
    order = rng.permutation(n)
    data = simulate.bayes_iso(n, rng=5)
    assert np.array_equal(data.scores, np.concatenate((negatives, positives))[order])
    assert np.array_equal(data.labels, np.repeat((0, 1), (n - n1, n1))[order])


def test_the_truth_is_the_ratio_of_the_densities():
    data = simulate.bayes_iso(1000, rng=0)
    positive = 0.5 * stats.beta.pdf(data.scores, 1.5, 3) + 0.5 * stats.beta.pdf(data.scores, 30, 3)
    negative = stats.beta.pdf(data.scores, 1, 3)
    assert data.probabilities == pytest.approx(positive / (positive + negative), abs=1e-12)


def test_the_ideal_losses_are_the_published_ones():
    data = simulate.bayes_iso(100_000, rng=999_999)
    p, y = data.probabilities, data.labels
    assert np.mean((p - y) ** 2) == pytest.approx(0.162, abs=0.002)
    assert -np.mean(np.log(np.where(y, p, 1 - p))) == pytest.approx(0.473, abs=0.004)


def test_the_known_temperature_gives_the_truth_and_the_least_loss():
    data = simulate.temperature_logits(20_000, n_classes=5, temperature=1.7, rng=0)
    assert softmax(data.scores / 1.7, axis=1) == pytest.approx(data.probabilities, abs=1e-12)
    rows = np.arange(len(data))
    temperatures = np.linspace(1.2, 2.4, 25)
    losses = [-log_softmax(data.scores / t, axis=1)[rows, data.labels].mean() for t in temperatures]
    assert temperatures[np.argmin(losses)] == pytest.approx(1.7, abs=0.11)


def test_labels_have_the_true_frequencies():
    data = simulate.temperature_logits(50_000, n_classes=3, rng=1)
    assert np.bincount(data.labels) / 50_000 == pytest.approx(data.probabilities.mean(axis=0), abs=0.01)
    assert repr(data) == "Simulation(50000 rows, 3 classes)"


@pytest.mark.parametrize("options", [{"n_classes": 1}, {"temperature": 0.0}, {"sharpness": -1.0}])
def test_refuses_impossible_options(options):
    with pytest.raises(InvalidInputError):
        simulate.temperature_logits(10, **options)
