"""The slow, obvious way to compute a graph, which every export has to reproduce; and maps of several classes."""

import numpy as np
import pytest

from calibrant._numerics.links import log_softmax
from calibrant.export.expression_graph import ARITHMETIC, Array, Number, Operation, Pick, Score, Search, fold
from calibrant.maps.matrix import MatrixMap, MatrixMember
from calibrant.multiclass.blend import MatrixBlend
from calibrant.multiclass.dirichlet import DirichletCalibration
from calibrant.multiclass.scaling import MatrixScaling, VectorScaling

ON_ROWS = {
    "tanh": np.tanh,
    "log_softmax": log_softmax,
    "softmax": lambda z: np.exp(z) / np.exp(z).sum(axis=2, keepdims=True),
    "highest": lambda x: x.max(axis=1, keepdims=True),
    "column": lambda x: x[..., None],
}


def evaluate(root, scores):
    """The value of the graph at each score or row, with numpy: the result that every export has to reproduce."""

    def value(node, *of):
        if isinstance(node, Score):
            return scores
        if isinstance(node, Number | Array):
            return node.value
        if isinstance(node, Search):
            return np.searchsorted(node.edges, *of, side="left")
        if isinstance(node, Pick):
            return node.table[of[0]]
        assert isinstance(node, Operation)
        return np.einsum(node.equation, *of) if node.equation else (ARITHMETIC | ON_ROWS)[node.kind](*of)

    return np.broadcast_to(fold(root, value), scores.shape)


@pytest.fixture(scope="session", name="evaluate")
def evaluator():
    return evaluate


def make_full(space):
    rng = np.random.default_rng(0)
    full = MatrixMember(
        0.75,
        0.1,
        rng.normal(size=4),
        rng.normal(size=3) / 9,
        rng.normal(size=3),
        rng.normal(size=3) / 5,
        rng.normal(size=(3, 2)),
        rng.normal(size=(3, 3)) / 5,
        rng.normal(size=(3, 3)),
    )
    knots = np.array([-6.0, -4.0, -1.0, -0.1]), np.array([-5.0, -0.2]), np.array([-1.0, 0.5, 3.0])
    members = full, MatrixMember(0.25)
    return MatrixMap(("a", "b", 'c */ """'), space, 1.3, members, 1e-6, -7.0, -0.01, *knots, method='Test */ """')


@pytest.fixture(params=["probability", "decision"])
def full_map(request):
    """A map of three classes with every part in one member and none in the other; names that try to end a comment."""
    return make_full(request.param)


@pytest.fixture
def map_of_probabilities():
    return make_full("probability")


@pytest.fixture(
    params=[MatrixBlend, VectorScaling, MatrixScaling, DirichletCalibration], ids=lambda method: method.__name__
)
def fitted_map(request):
    """A map of three classes that was fitted to rounded scores, with exact zeros among them."""
    rng = np.random.default_rng(1)
    truth = rng.dirichlet([0.4, 0.5, 0.6], size=200)
    scores = np.round(truth, 2)
    scores /= scores.sum(axis=1, keepdims=True)
    assert (scores == 0.0).any()
    return request.param().fit(scores, [rng.choice(3, p=p) for p in truth]).map_


@pytest.fixture
def rows_with_zeros():
    return np.array([[1.0, 0.0, 0.0], [0.0, 0.25, 0.75], [0.2, 0.3, 0.5]])
