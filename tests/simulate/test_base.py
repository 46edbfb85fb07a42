import numpy as np
import pytest

from calibrant import simulate
from calibrant.errors import InvalidInputError

BINARY = {
    "bayes_iso": simulate.bayes_iso,
    "xor": simulate.xor,
    "circular": simulate.circular,
    "separable": simulate.separable,
} | {name: truth.sample for name, truth in simulate.TRUTHS.items()}


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
