import numpy as np
import pytest

from calibrant.export.case_tree import Split, decide
from calibrant.export.expression_graph import ARITHMETIC, Number, Operation, Pick, Search, fold, lower, walk
from calibrant.maps import functions

X, Y = np.sort(np.random.default_rng(1).random((2, 50)))
LINEAR = functions.Linear(X, Y)
STEP = functions.Step(X[:30] ** 2, Y[:31] ** 0.5)
LOGIT = functions.LogitLinear(np.linspace(-6, 6, 20), np.linspace(-4, 7, 20), 1.0, 1.0)
SCORES = np.concatenate((np.linspace(0.0, 1.0, 3001), X, np.nextafter(X, 1), np.nextafter(X, 0), [0.0, 1.0]))


def value(node, *of):
    """The value of a node of a tree at all scores, with numpy."""
    if isinstance(node, Number):
        return node.value
    if isinstance(node, Operation):
        return ARITHMETIC[node.kind](*of)
    return np.where(of[0] <= node.edge, *of[1:]) if isinstance(node, Split) else SCORES


def depth(node):
    return 1 + max(map(depth, node.of[1:])) if isinstance(node, Split) else 0


@pytest.mark.parametrize(
    "function",
    [
        LINEAR,
        STEP,
        LOGIT,
        functions.Chain((LINEAR, STEP)),
        functions.Chain((LOGIT, LINEAR, functions.Sigmoid(0.5, 0.1, "logit"))),
        functions.Chain((STEP, LOGIT)),
        functions.Chain((LOGIT, STEP, LINEAR)),
    ],
)
def test_the_tree_computes_what_the_function_computes(function):
    tree = decide(lower(function), (0.0, 1.0))
    assert not any(isinstance(node, Search | Pick) for node in walk(tree))
    np.testing.assert_allclose(fold(tree, value), function(SCORES), rtol=0, atol=1e-13)


@pytest.mark.parametrize("m", [1, 2, 7, 200])
def test_the_tree_is_balanced(m):
    tree = decide(lower(functions.Step(np.arange(1.0, m + 1), np.linspace(0, 1, m + 1))), (-np.inf, np.inf))
    assert depth(tree) == int(m).bit_length()


def test_the_questions_of_a_chain_add_up():
    splits = lambda function: sum(isinstance(n, Split) for n in walk(decide(lower(function), (0.0, 1.0))))  # noqa: E731
    assert splits(functions.Chain((LINEAR, STEP))) < 3 * (splits(LINEAR) + splits(STEP))
    assert splits(functions.Chain((STEP, LINEAR))) == splits(STEP)  # constants are mapped when the tree is built


def test_edges_outside_the_domain_are_not_asked():
    tree = decide(lower(functions.Step([-1.0, 0.5, 2.0], [0.1, 0.2, 0.3, 0.4])), (0.0, 1.0))
    assert isinstance(tree, Split)
    assert (tree.edge, tree.of[1].value, tree.of[2].value) == (0.5, 0.2, 0.3)
