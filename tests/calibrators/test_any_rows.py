"""Whatever the rows, whatever the options: probabilities, in order where that is promised, inside their interval."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrant import (
    ABB,
    BayesianTemperature,
    BayesIso,
    Blend,
    EnsembleTemperatureScaling,
    IsotonicCalibration,
    PlattScaling,
    SplineCalibration,
)

SCORES = st.just(0.0) | st.floats(1e-200, 1.0)  # closer ones are refused
GRID = np.linspace(0.0, 1.0, 101)
METHODS = [
    ABB(n_draws=100),
    ABB(n_draws=100, interval="posterior"),
    BayesIso(),
    BayesianTemperature(),
    Blend(),
    EnsembleTemperatureScaling(),
    EnsembleTemperatureScaling(composed="isotonic"),
    SplineCalibration(),
    SplineCalibration(monotone=True),
]
OF_ANY_NUMBER = [
    PlattScaling(space="decision"),
    *(IsotonicCalibration(interpolation=way, target_correction=False) for way in ("linear", "step", "centred")),
    *(IsotonicCalibration(interpolation=way, target_correction=True) for way in ("linear", "step", "centred")),
]


@pytest.mark.filterwarnings("ignore:High scores go with the negative class")
@pytest.mark.parametrize("method", METHODS, ids=repr)
@settings(max_examples=12, deadline=None)
@given(rows=st.lists(st.tuples(SCORES, st.booleans(), st.sampled_from([1e-6, 0.3, 1.0, 1e4])), min_size=1, max_size=25))
def test_any_rows_give_probabilities_inside_their_interval(method, rows):
    scores, y, weights = (np.array(column) for column in zip(*rows, strict=True))
    p = method.fit(scores, y, weights).predict(GRID)
    assert ((p >= 0.0) & (p <= 1.0)).all()
    if method.monotone:
        assert np.diff(p).min() >= -1e-12
    if method.bayesian:
        low, high = method.predict_interval(GRID)
        assert ((low <= p) & (p <= high)).all()


@pytest.mark.parametrize("method", OF_ANY_NUMBER, ids=repr)
@settings(max_examples=20, deadline=None)
@given(rows=st.lists(st.tuples(st.floats(-1e308, 1e308), st.booleans()), min_size=1))
def test_any_numbers_are_scores(method, rows):
    scores, y = (np.array(column) for column in zip(*rows, strict=True))
    scores = np.sort(np.where(np.abs(scores) < 1e-280, 0.0, scores))  # scores that hardly differ are refused
    p = method.fit(scores, y).predict(scores)
    assert ((p >= 0.0) & (p <= 1.0)).all()
    if method.monotone:
        assert np.diff(p).min(initial=0.0) >= -1e-12
