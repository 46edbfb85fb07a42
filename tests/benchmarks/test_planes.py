import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))  # benchmarks are not installed

from benchmarks.papers import planes

ALL = (planes.xor, planes.circular, planes.separable)


@pytest.mark.parametrize("draw", ALL)
def test_labels_follow_the_stated_truth(draw):
    data = draw(40_000, rng=4)
    groups = np.array_split(np.argsort(data.scores, kind="stable"), 40)
    hits = np.array([data.labels[g].sum() for g in groups])
    expected = np.array([data.probabilities[g].sum() for g in groups])
    variance = np.array([(data.probabilities[g] * (1 - data.probabilities[g])).sum() for g in groups])
    assert (np.abs(hits - expected) <= 4.5 * np.sqrt(variance) + 1e-9).all()


@pytest.mark.parametrize("draw", ALL)
def test_the_same_seed_gives_the_same_rows(draw):
    first, again, other = draw(50, rng=1), draw(50, rng=np.random.default_rng(1)), draw(50, rng=2)
    assert np.array_equal(first.scores, again.scores)
    assert np.array_equal(first.labels, again.labels)
    assert not np.array_equal(first.scores, other.scores)


def test_xor_defeats_the_regression_but_not_its_calibration():
    accuracies = []
    for seed in range(8):
        data = planes.xor(2000, rng=seed)
        assert ((data.scores > 0.5) == data.labels).mean() < 0.75
        accuracies.append(((data.probabilities > 0.5) == data.labels).mean())
    assert max(accuracies) > 0.8


def test_circular_is_a_hill():
    data = planes.circular(5000, rng=1)
    order = np.argsort(data.scores)
    truth = data.probabilities[order]
    assert truth[0] == truth[-1] == 0.0
    assert truth[2000:3000].min() > 0.5
    assert ((data.probabilities > 0.5) == data.labels).mean() == pytest.approx(0.8, abs=0.03)


def test_separable_truths_are_certain():
    data = planes.separable(5000, rng=1)
    assert np.array_equal(data.probabilities, data.labels)
    assert 0.01 < data.error < 0.05
