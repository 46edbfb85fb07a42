import numpy as np
import pytest
from scipy.special import log_softmax, softmax

from calibrant import simulate
from calibrant.errors import InvalidInputError


def test_the_known_temperature_gives_the_truth_and_the_least_loss():
    data = simulate.temperature_logits(20_000, n_classes=5, temperature=1.7, rng=0)
    assert softmax(data.logits / 1.7, axis=1) == pytest.approx(data.probabilities, abs=1e-12)
    rows = np.arange(len(data))
    temperatures = np.linspace(1.2, 2.4, 25)
    losses = [-log_softmax(data.logits / t, axis=1)[rows, data.labels].mean() for t in temperatures]
    assert temperatures[np.argmin(losses)] == pytest.approx(1.7, abs=0.11)


def test_labels_have_the_true_frequencies():
    data = simulate.temperature_logits(50_000, n_classes=3, rng=1)
    assert np.bincount(data.labels) / 50_000 == pytest.approx(data.probabilities.mean(axis=0), abs=0.01)
    assert repr(data) == "MulticlassSimulation(50000 rows, 3 classes, true temperature 2)"


@pytest.mark.parametrize("options", [{"n_classes": 1}, {"temperature": 0.0}, {"sharpness": -1.0}])
def test_refuses_impossible_options(options):
    with pytest.raises(InvalidInputError):
        simulate.temperature_logits(10, **options)
