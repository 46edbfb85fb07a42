import numpy as np
import pytest

from calibrant.metrics import smooth_ece


@pytest.fixture
def prefix():
    rng = np.random.default_rng(0)
    scores = np.unique(np.concatenate((np.round(rng.random(80), 3), [0.0, 0.5, 1.0])))
    totals = rng.integers(1, 4, len(scores)).astype(float)
    return smooth_ece.Prefix(scores, rng.binomial(totals.astype(int), scores).astype(float), totals)


@pytest.mark.parametrize("n_points", [2, 11, 1001])
def test_the_grid_keeps_mass_and_mean(prefix, n_points):
    residual, mass = prefix.on_grid(n_points)
    nodes = np.linspace(0, 1, n_points)
    assert mass.sum() == pytest.approx(prefix.mass[-1])
    assert mass @ nodes == pytest.approx(prefix.mass_score[-1])
    assert residual.sum() == pytest.approx(prefix.residual[-1])
    assert mass.min() > -1e-9


def test_each_cell_is_shared_between_its_two_neighbours():
    one = smooth_ece.Prefix(np.array([0.25]), np.array([0.0]), np.array([2.0]))
    residual, mass = one.on_grid(3)
    assert mass.tolist() == [1.0, 1.0, 0.0]
    assert residual.tolist() == [0.25, 0.25, 0.0]


def test_smoothing_never_raises_the_error(prefix):
    spectrum = smooth_ece.Spectrum(prefix)
    errors = [spectrum.error_at(width) for width in (0.001, 0.01, 0.05, 0.2, 1.0)]
    assert (np.diff(errors) <= 1e-9).all()


def test_the_first_version_of_relplot_lost_mass_at_the_ends():
    ones = smooth_ece.Prefix(np.array([1.0]), np.array([30.0]), np.array([40.0]))
    assert smooth_ece.FirstRelplot(ones)(0.05) == pytest.approx(0.125, abs=0.01)
    assert smooth_ece.Spectrum(ones).error_at(0.05) == pytest.approx(0.25, abs=1e-9)
