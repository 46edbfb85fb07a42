import numpy as np
import pytest

from calibrant._compiled import loess


def brute_force(x, y, mass, span, degree):
    out = []
    for at in x:
        distance = np.abs(x - at)
        order = np.argsort(distance, kind="stable")
        inside = order[: np.searchsorted(np.cumsum(mass[order]), span * mass.sum() - 1e-9) + 1]
        reach = distance[inside].max()
        weights = mass * np.clip(1 - (distance / reach) ** 3, 0, None) ** 3
        weights[np.setdiff1d(np.arange(len(x)), inside)] = 0.0
        out.append(np.polynomial.polynomial.polyfit(x - at, y, degree, w=np.sqrt(weights))[0])
    return np.array(out)


@pytest.mark.parametrize("degree", [0, 1, 2])
@pytest.mark.parametrize("span", [0.3, 0.75, 1.0])
def test_agrees_with_weighted_least_squares(span, degree):
    rng = np.random.default_rng(0)
    x = np.sort(rng.random(60))
    y, mass = rng.random(60), rng.integers(1, 5, 60).astype(float)
    assert loess.fit(x, y, mass, span, degree) == pytest.approx(brute_force(x, y, mass, span, degree), abs=1e-7)


def test_few_cells_fall_back_to_a_lower_degree():
    one = loess.fit(np.array([0.5]), np.array([0.3]), np.array([4.0]), 0.75, 2)
    assert one.tolist() == [0.3]
    two = loess.fit(np.array([0.2, 0.8]), np.array([0.1, 0.9]), np.array([5.0, 5.0]), 0.75, 2)
    assert two.tolist() == [0.1, 0.9]
    three = loess.fit(np.array([0.2, 0.3, 0.8]), np.array([0.1, 0.2, 0.9]), np.ones(3), 0.75, 2)
    assert np.isfinite(three).all()
