import numpy as np
import pytest

from calibrant._compiled.monotone_draws import draw_levels
from calibrant.calibrators.bayes_iso_posterior import build_model, integrate, sum_inside


def test_one_cell_by_hand():
    # Two levels each: ends at the first and the last, and a cell whose levels have the masses 1/4 and 3/4.
    table = np.zeros((6, 6))
    table[0, 2:4], table[2:4, 5] = (1.0, 1.0), (0.25, 0.75)
    uniforms = np.array([[0.0], [0.24], [0.26], [0.99]])
    assert draw_levels(table, np.ascontiguousarray(table.T), uniforms, 2).tolist() == [[0], [0], [1], [1]]


@pytest.mark.compiled
@pytest.mark.parametrize("m", [1, 2, 5, 14])
def test_frequencies_are_the_masses(m):
    rng = np.random.default_rng(m)
    found = integrate((rng.random(m) < np.linspace(0.1, 0.9, m)).astype(float), np.ones(m))
    model = build_model(found.positives, found.totals, found.levels, found.values.shape[1])
    table, n = sum_inside(model), 20_000
    steps = draw_levels(table, np.ascontiguousarray(table.T), rng.random((n, m)), model.size)
    seen = np.stack([np.bincount(column, minlength=model.size) for column in steps.T]) / n
    error = np.sqrt(found.masses * (1.0 - found.masses) / n)
    assert (np.abs(seen - found.masses) < 4.5 * error + 2.0 / n).all()
    assert (np.diff(model.places[1:-1, 0] + steps, axis=1) >= 0).all()
