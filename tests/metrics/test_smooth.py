import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrant import metrics, simulate
from calibrant.errors import InvalidInputError

smooth = metrics.smooth_calibration_error


def brute_force(y, p, width, n_grid=4000):
    """∫ |Σ (p − y) K(t, p)| dt / n with the kernel summed over nine reflections."""
    t = (np.arange(n_grid) + 0.5) / n_grid
    total = np.zeros(n_grid)
    for score, label in zip(p, y, strict=True):
        for k in range(-4, 5):
            for image in (2 * k + score, 2 * k - score):
                total += (score - label) * np.exp(-0.5 * ((t - image) / width) ** 2)
    return np.abs(total).mean() / (np.sqrt(2 * np.pi) * width * len(y))


@pytest.mark.parametrize("width", [0.003, 0.02, 0.1, 0.7])
def test_follows_the_definition_at_any_width(width):
    rng = np.random.default_rng(1)
    p = np.concatenate((rng.random(25), [0.0, 1.0, 1.0]))
    y = rng.random(28) < p**2
    assert smooth(y, p, width=width) == pytest.approx(brute_force(y, p, width), abs=5e-5)


def test_the_width_is_the_fixed_point():
    data = simulate.from_truth("underconfident", 2000, rng=1).tally
    value = smooth(data)
    assert smooth(data, width=value) == pytest.approx(value, abs=1e-5)


def test_one_sided_errors_at_the_end_keep_all_their_mass():
    y, p = [1, 1, 1, 0] * 10, np.ones(40)
    assert smooth(y, p) == pytest.approx(0.25, abs=1e-9)


@settings(deadline=None, max_examples=30)
@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=30))
def test_lies_between_the_mean_residual_and_the_mean_absolute_residual(rows):
    p, y = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    value = smooth(y, p)
    assert abs((p - y).mean()) - 1e-6 <= value <= np.abs(p - y).mean() + 1e-6


def test_finds_the_true_error_in_many_rows():
    data = simulate.from_truth("underconfident", 100_000, rng=3)
    truth = simulate.TRUTHS["underconfident"].calibration_error()
    assert 0.8 * truth < smooth(data.tally) < 1.05 * truth


def test_refuses_unknown_options():
    with pytest.raises(InvalidInputError, match="`width`"):
        smooth([0, 1], [0.2, 0.4], width=0.0)
    with pytest.raises(InvalidInputError, match="exact, relplot"):
        smooth([0, 1], [0.2, 0.4], convention="mine")
