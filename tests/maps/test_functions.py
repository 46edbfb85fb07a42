import json
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrant import CalibrationMap, load
from calibrant._numerics.links import EPS
from calibrant.errors import InvalidInputError, ModelFileError
from calibrant.maps import functions
from calibrant.maps.functions import (
    MAP_FUNCTIONS,
    Beta,
    Chain,
    Identity,
    Linear,
    LogitLinear,
    MapFunction,
    Sigmoid,
    Step,
    register_function,
)

EXAMPLES = {
    "identity": Identity(),
    "step": Step([0.2, 0.5], [0.1, 0.3, 0.9]),
    "linear": Linear([0.1, 0.6, 0.9], [0.2, 0.2, 0.8]),
    "logit_linear": LogitLinear([-1.0, 0.0, 2.0], [-0.5, 0.1, 0.3], 1.0, 0.5),
    "sigmoid": Sigmoid(2.0, -0.5, "logit"),
    "beta": Beta(1.5, 0.7, 0.2),
    "chain": Chain((Sigmoid(1.0, 0.3, "logit"), Linear([0.0, 1.0], [0.1, 0.9]))),
}


def test_values_by_hand():
    s = np.array([0.2, 0.5, 0.6])
    assert EXAMPLES["step"](s).tolist() == [0.1, 0.3, 0.9]  # closed on the right
    assert EXAMPLES["linear"](np.array([0.0, 0.35, 0.75, 1.0])) == pytest.approx([0.2, 0.2, 0.5, 0.8])
    assert EXAMPLES["sigmoid"](np.array([0.5])) == pytest.approx(1 / (1 + np.exp(0.5)))
    assert Sigmoid(2.0, -0.5, "none")(np.array([1.0])) == pytest.approx(1 / (1 + np.exp(-1.5)))
    assert Beta(1.0, 1.0, 0.0)(s) == pytest.approx(s)
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


def test_every_function_has_an_example():
    assert set(EXAMPLES) == set(MAP_FUNCTIONS)


@pytest.mark.parametrize("name", EXAMPLES)
def test_round_trip_through_json(name):
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


@pytest.fixture
def half(monkeypatch):
    """A function of another package."""

    @dataclass(frozen=True, eq=False)
    class Half(MapFunction):
        share: float
        name: ClassVar[str] = "half"

        def __call__(self, scores):
            return self.share * scores

    monkeypatch.setattr(functions, "MAP_FUNCTIONS", dict(MAP_FUNCTIONS))
    return Half


def test_a_function_of_another_package_saves_and_loads_once_it_is_registered(half, tmp_path):
    saved = CalibrationMap(half(0.5), "probability", True)
    saved.save(tmp_path / "map.json")
    with pytest.raises(ModelFileError, match="import that package first"):
        load(tmp_path / "map.json")
    assert register_function(register_function(half)) is half
    assert load(tmp_path / "map.json") == saved


def test_names_of_functions_are_not_shared(half):
    taken = dataclass(frozen=True, eq=False)(type("Taken", (half,), {"name": "step"}))
    with pytest.raises(InvalidInputError, match="`name` of Taken must be its own; 'step' is Step"):
        register_function(taken)


@pytest.mark.parametrize("cls", [MapFunction, type("NoDataclass", (Step,), {"name": "mine"})])
def test_functions_without_fields_of_their_own_are_refused(cls):
    with pytest.raises(InvalidInputError, match="must be a dataclass"):
        register_function(cls)


def test_straight_lines_over_the_smallest_gaps_stay_finite():
    line = Linear(np.array([0.0, 5e-324, 1e-310, 1.0]), np.array([0.1, 0.4, 0.6, 0.9]))
    found = line(np.array([-1.0, 0.0, 5e-324, 5e-311, 1e-310, 0.5, 2.0]))
    np.testing.assert_allclose(found[[0, 1, 2, 4, 6]], [0.1, 0.1, 0.4, 0.6, 0.9])
    assert (np.diff(found) >= 0.0).all()
