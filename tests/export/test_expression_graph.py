import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrant.export.expression_graph import (
    LOWERINGS,
    SCORE,
    Number,
    Operation,
    Search,
    lower,
    operation,
    walk,
)
from calibrant.maps import functions

X, Y = np.sort(np.random.default_rng(0).random((2, 40)))
EXAMPLES = {
    "identity": functions.Identity(),
    "step": functions.Step(X[:-1], Y),
    "linear": functions.Linear(X, Y),
    "logit_linear": functions.LogitLinear(np.linspace(-40, 40, 30), np.sinh(np.linspace(-3, 2, 30)), 1.2, 0.7),
    "sigmoid": functions.Sigmoid(1.3, -0.2, "logit"),
    "beta": functions.Beta(1.2, 0.4, -0.3),
}
EXAMPLES["chain"] = functions.Chain((EXAMPLES["logit_linear"], EXAMPLES["linear"], EXAMPLES["sigmoid"]))


def probe(function):
    knots, rng = function.knots(), np.random.default_rng(1)
    scores = np.concatenate(
        (
            rng.random(2000),
            10.0 ** rng.uniform(-20, 0, 300),
            1 - 10.0 ** rng.uniform(-16, 0, 300),
            [0.0, 1.0, 5e-324],
            knots,
            np.nextafter(knots, 1),
            np.nextafter(knots, 0),
        )
    )
    return scores[(scores >= 0) & (scores <= 1)]


def test_every_function_has_an_example_and_a_description():
    assert set(EXAMPLES) == set(functions.MAP_FUNCTIONS)
    assert set(LOWERINGS) == set(functions.MAP_FUNCTIONS.values())


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_graph_computes_what_the_function_computes(evaluate, name):
    function = EXAMPLES[name]
    scores = probe(function)
    np.testing.assert_allclose(evaluate(lower(function), scores), function(scores), rtol=0, atol=1e-14)


def test_a_line_between_points_is_numpy_interp_bit_for_bit(evaluate):
    function = EXAMPLES["linear"]
    scores = probe(function)
    assert np.array_equal(evaluate(lower(function), scores), function(scores))


def test_decision_scores_beyond_all_knots(evaluate):
    function = functions.Linear([-3.0, 2.0], [0.1, 0.9])
    scores = np.array([-1e308, -3.0, 2.0, 1e308])
    assert evaluate(lower(function), scores).tolist() == [0.1, 0.1, 0.9, 0.9]
    steep = functions.Sigmoid(1e3, 0.0, "identity")
    with np.errstate(over="ignore"):
        assert evaluate(lower(steep), np.array([-1e308, 0.0, 1e308])).round(12).tolist() == [0.0, 0.5, 1.0]


def test_equal_work_is_done_once():
    curve = functions.LogitLinear([-1.0, 2.0], [0.0, 1.0], 1.0, 1.0)
    nodes = list(walk(lower(curve)))
    assert sum(isinstance(node, Search) for node in nodes) == 1
    assert sum(isinstance(node, Operation) and node.kind == "log" for node in nodes) == 2  # of s and of 1 - s


def test_numbers_are_computed_when_the_graph_is_built():
    three = operation("add", 1.0, 2.0)
    assert isinstance(three, Number)
    assert three.value == 3.0
    assert operation("mul", SCORE, 1.0) is SCORE
    assert operation("add", 0.0, SCORE) is SCORE
    zero = operation("mul", SCORE, 0.0)
    assert isinstance(zero, Number)
    assert zero.value == 0.0


def test_an_unknown_function_is_refused_until_it_has_a_rule(evaluate, monkeypatch):
    class Strange(functions.MapFunction):
        name = "strange"

    with pytest.raises(ValueError, match="'strange' cannot leave Python"):
        lower(Strange())
    monkeypatch.setitem(LOWERINGS, Strange, lambda _, x: x * 0.5)
    assert evaluate(lower(Strange()), np.array([0.4])).tolist() == [0.2]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.floats(-50, 50), min_size=1, max_size=20, unique=True),
    st.lists(st.floats(0, 1), min_size=1, max_size=30),
    st.integers(0, 2**31),
)
def test_any_broken_line_in_the_logit(evaluate, x, scores, seed):
    x = np.sort(np.array(x))
    if len(x) > 1 and np.diff(x).min() < 1e-6:
        return
    y = np.random.default_rng(seed).normal(size=len(x))
    function = functions.LogitLinear(x, y, 0.5, 2.0)
    scores = np.array(scores)
    np.testing.assert_allclose(evaluate(lower(function), scores), function(scores), rtol=0, atol=1e-12)
