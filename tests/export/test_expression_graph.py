import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrant import map_functions
from calibrant.export.expression_graph import LOWERINGS, SCORE, Number, Operation, evaluate, lower, operation, walk

RNG = np.random.default_rng(0)
X = np.sort(RNG.random(40))
Y = np.sort(RNG.random(40))
RATES = np.array([1.0, 30.0])
EXAMPLES = {
    "identity": map_functions.Identity(),
    "step": map_functions.Step(X[:-1], Y),
    "linear": map_functions.Linear(X, Y),
    "poisson_steps": map_functions.PoissonSteps(
        X, RATES, 0.5 * Y[:-1], 0.2 * RNG.random((2, 39)), 0.2 * RNG.random((2, 39))
    ),
    "logit_linear": map_functions.LogitLinear(np.linspace(-40, 40, 30), np.sort(3 * RNG.normal(size=30)), 1.2, 0.7),
    "sigmoid": map_functions.Sigmoid(1.3, -0.2, "logit"),
    "beta": map_functions.Beta(1.2, 0.4, -0.3),
}
EXAMPLES["mixture"] = map_functions.Mixture(
    [0.2, 0.3, 0.5], (EXAMPLES["identity"], EXAMPLES["logit_linear"], EXAMPLES["step"])
)
EXAMPLES["chain"] = map_functions.Chain((EXAMPLES["mixture"], EXAMPLES["linear"], EXAMPLES["sigmoid"]))


def probe(function):
    knots = function.knots()
    scores = np.concatenate(
        (
            RNG.random(2000),
            10.0 ** RNG.uniform(-20, 0, 300),
            1 - 10.0 ** RNG.uniform(-16, 0, 300),
            [0.0, 1.0, 5e-324],
            knots,
            np.nextafter(knots, 1),
            np.nextafter(knots, 0),
        )
    )
    return scores[(scores >= 0) & (scores <= 1)]


def test_every_form_has_an_example_and_a_description():
    assert set(EXAMPLES) == set(map_functions.MAP_FUNCTIONS)
    assert set(LOWERINGS) == set(map_functions.MAP_FUNCTIONS.values())


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_graph_computes_what_the_form_computes(name):
    function = EXAMPLES[name]
    scores = probe(function)
    np.testing.assert_allclose(evaluate(lower(function), scores), function(scores), rtol=0, atol=1e-14)


def test_a_line_between_points_is_numpy_interp_bit_for_bit():
    function = EXAMPLES["linear"]
    scores = probe(function)
    assert np.array_equal(evaluate(lower(function), scores), function(scores))


def test_decision_scores_beyond_all_knots():
    function = map_functions.Linear([-3.0, 2.0], [0.1, 0.9])
    scores = np.array([-1e308, -3.0, 2.0, 1e308])
    assert evaluate(lower(function), scores).tolist() == [0.1, 0.1, 0.9, 0.9]
    steep = map_functions.Sigmoid(1e3, 0.0, "identity")
    with np.errstate(over="ignore"):
        assert evaluate(lower(steep), np.array([-1e308, 0.0, 1e308])).round(12).tolist() == [0.0, 0.5, 1.0]


def test_equal_work_is_done_once():
    both = map_functions.Mixture(
        [0.5, 0.5], (map_functions.Sigmoid(2.0, 0.0, "logit"), map_functions.Sigmoid(3.0, 1.0, "logit"))
    )
    logs = [node for node in walk(lower(both)) if isinstance(node, Operation) and node.kind == "log"]
    assert len(logs) == 2  # of the score and of its complement


def test_numbers_are_computed_when_the_graph_is_built():
    three = operation("add", 1.0, 2.0)
    assert isinstance(three, Number)
    assert three.value == 3.0
    assert operation("mul", SCORE, 1.0) is SCORE
    assert operation("add", 0.0, SCORE) is SCORE
    zero = operation("mul", SCORE, 0.0)
    assert isinstance(zero, Number)
    assert zero.value == 0.0


def test_an_unknown_form_is_refused():
    class Strange(map_functions.MapFunction):
        name = "strange"

    with pytest.raises(ValueError, match="'strange' has no arithmetic"):
        lower(Strange())


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.floats(-50, 50), min_size=1, max_size=20, unique=True),
    st.lists(st.floats(0, 1), min_size=1, max_size=30),
    st.integers(0, 2**31),
)
def test_any_broken_line_in_the_logit(x, scores, seed):
    x = np.sort(np.array(x))
    if len(x) > 1 and np.diff(x).min() < 1e-6:
        return
    y = np.random.default_rng(seed).normal(size=len(x))
    function = map_functions.LogitLinear(x, y, 0.5, 2.0)
    scores = np.array(scores)
    np.testing.assert_allclose(evaluate(lower(function), scores), function(scores), rtol=0, atol=1e-12)
