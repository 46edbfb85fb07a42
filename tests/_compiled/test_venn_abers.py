import numpy as np
from scipy.optimize import isotonic_regression

from calibrant._compiled.venn_abers import pair, with_a_positive


def brute_force(positives, totals, label):
    out = np.empty(len(totals))
    for i in range(len(totals)):
        k, n = positives.copy(), totals.copy()
        k[i] += label
        n[i] += 1.0
        out[i] = isotonic_regression(k / n, weights=n).x[i]
    return out


def random_cells(rng, m, weighted):
    totals = rng.uniform(0.2, 3.0, m) if weighted else rng.integers(1, 4, m).astype(float)
    positives = totals * rng.random(m) if weighted else np.floor(totals * rng.random(m) * 1.3).clip(0, totals)
    return positives, totals


def test_equals_one_isotonic_fit_for_each_place():
    rng = np.random.default_rng(0)
    for trial in range(150):
        positives, totals = random_cells(rng, int(rng.integers(1, 14)), trial % 2 == 0)
        p0, p1 = pair(positives, totals)
        np.testing.assert_allclose(p0, brute_force(positives, totals, 0.0), atol=1e-12)
        np.testing.assert_allclose(p1, brute_force(positives, totals, 1.0), atol=1e-12)


def test_by_hand():
    # 0 1 0 1, a positive added at each: (1 0 1 0) → ½ | 2/3 of (1 1 0) | 2/3 | 1.
    labels, ones = np.array([0.0, 1.0, 0.0, 1.0]), np.ones(4)
    np.testing.assert_allclose(with_a_positive(labels, ones), [1 / 2, 2 / 3, 2 / 3, 1.0])


def test_runs_of_one_label_stay_inside_the_unit_interval():
    p0, p1 = pair(np.zeros(50), np.ones(50))
    assert (p0 == 0.0).all()
    np.testing.assert_allclose(p1, 1.0 / np.arange(51, 1, -1))
    p0, p1 = pair(np.ones(50), np.ones(50))
    assert (p1 == 1.0).all()
