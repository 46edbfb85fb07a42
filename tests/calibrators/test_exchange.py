"""Calling the other label positive, and reversing the scores, gives one minus the map."""

import numpy as np
import pytest

from calibrant import ABB, BayesianTemperature, BayesIso, Blend, SplineCalibration, simulate


@pytest.mark.parametrize("make", [ABB, BayesIso, BayesianTemperature, Blend, SplineCalibration])
@pytest.mark.parametrize("n", [30, 300, 603])  # 300 rows in 200 cells had rows on the boundaries of cells
@pytest.mark.parametrize("seed", [1, 2])
def test_exchanging_the_labels_mirrors_the_map(make, n, seed):
    data = simulate.TRUTHS["underconfident"].sample(n, rng=seed)
    p = make().fit(data.scores, data.labels).predict(data.scores)
    q = make().fit(1.0 - data.scores, 1 - data.labels).predict(1.0 - data.scores)
    np.testing.assert_allclose(p, 1.0 - q, atol=0.002)
