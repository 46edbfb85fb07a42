import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrant._kernels.links import EPS
from calibrant.errors import ModelFileError
from calibrant.map_functions import (
    MAP_FUNCTIONS,
    Beta,
    Chain,
    Identity,
    Linear,
    LogitLinear,
    MapFunction,
    Mixture,
    Sigmoid,
    Step,
)

EXAMPLES = {
    "identity": Identity(),
    "step": Step([0.2, 0.5], [0.1, 0.3, 0.9]),
    "linear": Linear([0.1, 0.6, 0.9], [0.2, 0.2, 0.8]),
    "logit_linear": LogitLinear([-1.0, 0.0, 2.0], [-0.5, 0.1, 0.3], 1.0, 0.5),
    "sigmoid": Sigmoid(2.0, -0.5, "logit"),
    "beta": Beta(1.5, 0.7, 0.2),
    "mixture": Mixture([0.25, 0.75], (Identity(), Step([0.5], [0.0, 1.0]))),
    "chain": Chain((Sigmoid(1.0, 0.3, "logit"), Linear([0.0, 1.0], [0.1, 0.9]))),
}


def test_values_by_hand():
    s = np.array([0.2, 0.5, 0.6])
    assert EXAMPLES["step"](s).tolist() == [0.1, 0.3, 0.9]  # closed on the right
    assert EXAMPLES["linear"](np.array([0.0, 0.35, 0.75, 1.0])) == pytest.approx([0.2, 0.2, 0.5, 0.8])
    assert EXAMPLES["sigmoid"](np.array([0.5])) == pytest.approx(1 / (1 + np.exp(0.5)))
    assert Sigmoid(2.0, -0.5, "none")(np.array([1.0])) == pytest.approx(1 / (1 + np.exp(-1.5)))
    assert Beta(1.0, 1.0, 0.0)(s) == pytest.approx(s)
    assert EXAMPLES["mixture"](s) == pytest.approx([0.05, 0.125, 0.9])
    logits = np.array([-2.0, -1.0, 1.0, 2.0, 4.0])
    expected = [-1.5, -0.5, 0.2, 0.3, 1.3]
    assert EXAMPLES["logit_linear"](1 / (1 + np.exp(-logits))) == pytest.approx(1 / (1 + np.exp(-np.array(expected))))


def test_ends_of_the_unit_interval_are_finite():
    for function in (EXAMPLES["beta"], EXAMPLES["sigmoid"], EXAMPLES["logit_linear"]):
        p = function(np.array([0.0, EPS, 1.0]))
        assert np.isfinite(p).all()
        assert p[0] == p[1]


def test_huge_scores_do_not_warn():
    assert Sigmoid(5.0, 0.0, "none")(np.array([-1e308, 1e308])).tolist() == [0.0, 1.0]


@pytest.mark.parametrize("name", MAP_FUNCTIONS)
def test_round_trip_through_json(name):
    if name not in EXAMPLES:
        pytest.skip("covered by the test of the method that made this function")
    function = EXAMPLES[name]
    again = MapFunction.from_dict(json.loads(json.dumps(function.to_dict())))
    scores = np.linspace(0, 1, 1001)
    assert type(again) is type(function)
    assert np.array_equal(again(scores), function(scores))


@pytest.mark.parametrize("name", EXAMPLES)
@settings(deadline=None, max_examples=50)
@given(scores=st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_values_are_probabilities(name, scores):
    p = EXAMPLES[name](np.array(scores))
    assert ((p >= 0) & (p <= 1)).all()


def test_beta_turns_where_its_knot_says():
    function = Beta(2.0, -1.0, 0.0)
    (knot,) = function.knots()
    grid = np.linspace(0.01, 0.99, 9801)
    assert grid[np.argmax(function(grid))] == pytest.approx(knot, abs=1e-3)


def test_arrays_are_frozen():
    with pytest.raises(ValueError, match="read-only"):
        EXAMPLES["step"].values[0] = 0.5


@pytest.mark.parametrize("data", [{}, {"kind": "pickle"}, {"kind": "step", "edges": [0.5]}, {"kind": ["step"]}])
def test_unknown_or_incomplete_descriptions_are_refused(data):
    with pytest.raises(ModelFileError, match="not a calibration map"):
        MapFunction.from_dict(data)
