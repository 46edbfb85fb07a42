"""The slow, obvious way to compute a graph, which every export has to reproduce."""

import numpy as np
import pytest

from calibrant.export.expression_graph import ARITHMETIC, Number, Operation, Pick, Score, Search, walk


def evaluate(root, scores):
    """The value of the graph at each score, with numpy: the result that every export has to reproduce."""
    values = {}
    for node in walk(root):
        if isinstance(node, Score):
            values[id(node)] = scores
        elif isinstance(node, Number):
            values[id(node)] = np.full(len(scores), node.value)
        elif isinstance(node, Search):
            values[id(node)] = np.searchsorted(node.edges, values[id(node.of)], side="left")
        elif isinstance(node, Pick):
            values[id(node)] = node.table[values[id(node.search)]]
        elif isinstance(node, Operation):
            values[id(node)] = ARITHMETIC[node.kind](*(values[id(x)] for x in node.of))
    return values[id(root)]


@pytest.fixture(scope="session", name="evaluate")
def evaluator():
    return evaluate
