"""A map as an ONNX graph: a search unrolled into log2(pieces) steps, table lookups and arithmetic."""

from typing import Any

import numpy as np

from calibrant import _validation
from calibrant._optional import require
from calibrant._typing import Floats
from calibrant.export import parity
from calibrant.export.expression_graph import ARITHMETIC, DOMAINS, Node, Number, Operation, Pick, Search, lower, walk
from calibrant.maps.matrix import MatrixMap
from calibrant.maps.score import CalibrationMap

CALLER = "calibrant.export.to_onnx"
OPERATORS = {kind: kind.capitalize() for kind in ARITHMETIC}  # ONNX has the same names
DTYPES = ("float64", "float32")
NEWEST_OPSET = 26  # the newest that onnxruntime 1.31 runs


def to_onnx(map_: CalibrationMap | MatrixMap, *, dtype: str = "float64", opset: int | None = None) -> Any:
    """An ONNX model with the input ``score`` and the output ``probability``, both of shape (n,).

    Parameters
    ----------
    map_ : CalibrationMap
        The map of a fitted calibrator, ``calibrator.map_``.
    dtype : {"float64", "float32"}
        Type of input and output. Inside, numbers are doubles in both cases: knots keep their place, and the
        difference to the map at a float32 score is the rounding of the output alone.
    opset : int, optional
        Version of the ONNX operators; by default the newest that both `onnx` and current runtimes know.

    Returns
    -------
    onnx.ModelProto
        Its metadata holds a test vector. A score that the map does not accept gives NaN.

    Examples
    --------
    >>> from calibrant import PlattScaling
    >>> from calibrant.export import to_onnx
    >>> model = to_onnx(PlattScaling().fit([0.1, 0.4, 0.6, 0.9], [0, 1, 0, 1]).map_)
    >>> model.graph.input[0].name, model.graph.output[0].name
    ('score', 'probability')
    """
    if isinstance(map_, MatrixMap):
        from calibrant.export import matrix_onnx

        return matrix_onnx.matrix_to_onnx(map_, dtype=dtype, opset=opset)
    parity.check_map(map_, "to_onnx")
    _validation.check_choice("dtype", dtype, DTYPES)
    onnx = require("onnx", "onnx", CALLER)
    current = min(NEWEST_OPSET, onnx.defs.onnx_opset_version())
    model = _model(map_, dtype, current if opset is None else opset, onnx)
    scores = parity.probe(map_)
    if dtype == "float32":  # a score between two float32 numbers cannot be asked for
        within = np.abs(scores) <= np.finfo(np.float32).max
        scores = np.unique(scores[within].astype(np.float32)).astype(np.float64)
        scores = scores[(scores >= DOMAINS[map_.space][0]) & (scores <= DOMAINS[map_.space][1])]
    tolerance = parity.TOLERANCE if dtype == "float64" else 1e-6
    parity.check(map_, lambda x: _run(model, dtype, x), f"ONNX ({dtype})", tolerance, scores)
    return model


def _model(map_: CalibrationMap, dtype: str, opset: int, onnx: Any) -> Any:
    helper, types = onnx.helper, onnx.TensorProto
    outer = types.DOUBLE if dtype == "float64" else types.FLOAT
    writer = GraphWriter(helper, onnx.numpy_helper)
    score = writer.node("Cast", "score", to=types.DOUBLE)
    result = writer.write(map_, score)
    writer.nodes.append(helper.make_node("Cast", [result], ["probability"], to=outer))
    graph = helper.make_graph(
        writer.nodes,
        "calibrant",
        [helper.make_tensor_value_info("score", outer, ["n"])],
        [helper.make_tensor_value_info("probability", outer, ["n"])],
        writer.tensors,
    )
    opsets = [helper.make_opsetid("", opset)]
    model = helper.make_model(
        graph, opset_imports=opsets, producer_name="calibrant", ir_version=helper.find_min_ir_version_for(opsets)
    )
    helper.set_model_props(model, {"method": map_.method, "test_vector": parity.vector_text(map_)})
    onnx.checker.check_model(model, full_check=True)
    return model


class GraphWriter:
    """Collects ONNX nodes and tensors; works on doubles of any shape."""

    def __init__(self, helper: Any, numpy_helper: Any, prefix: str = "calibrant_") -> None:
        self.helper = helper
        self.numpy_helper = numpy_helper
        self.prefix = prefix
        self.nodes: list[Any] = []
        self.tensors: list[Any] = []

    def write(self, map_: CalibrationMap, score: str) -> str:
        """Add the graph of a map; return the name of its result, NaN outside the map's domain."""
        root = lower(map_.function)
        written: dict[int, str] = {}
        for node in walk(root):
            written[id(node)] = self._written(node, written, score)
        low, high = DOMAINS[map_.space]
        above = self.node("GreaterOrEqual", score, self.constant(low))
        below = self.node("LessOrEqual", score, self.constant(high))
        return self.node("Where", self.node("And", above, below), written[id(root)], self.constant(np.nan))

    def node(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """Add one operator; return the name of its output."""
        name = f"{self.prefix}v{len(self.nodes)}"
        self.nodes.append(self.helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def constant(self, value: Any) -> str:
        """Add a number or table; return its name."""
        name = f"{self.prefix}c{len(self.tensors)}"
        self.tensors.append(self.numpy_helper.from_array(np.asarray(value), name))
        return name

    def _written(self, node: Node, written: dict[int, str], score: str) -> str:
        if isinstance(node, Number):
            return self.constant(np.float64(node.value))
        if isinstance(node, Operation):
            return self.node(OPERATORS[node.kind], *(written[id(x)] for x in node.of))
        if isinstance(node, Search):
            return self._search(written[id(node.of)], node.edges)
        if isinstance(node, Pick):
            return self.node("Gather", self.constant(node.table), written[id(node.search)])
        return score

    def _search(self, value: str, edges: Floats) -> str:
        """Bisection with a fixed number of steps: add the largest power of two that still lies below the value."""
        n_steps = len(edges).bit_length()
        found = self.constant(np.int64(0))  # a scalar; the comparisons give it the shape of the value
        if n_steps == 0:
            return found
        # Position i holds the edge that must lie below the value for i edges to be below; the rest is never below.
        padded = np.full(2**n_steps, np.inf)
        padded[1 : len(edges) + 1] = edges
        table = self.constant(padded)
        for step in reversed(range(n_steps)):
            tried = self.node("Add", found, self.constant(np.int64(2**step)))
            fits = self.node("Less", self.node("Gather", table, tried), value)
            found = self.node("Where", fits, tried, found)
        return found


def _run(model: Any, dtype: str, scores: Floats) -> Floats:
    out: Floats = run_session(model, {"score": scores.astype(dtype)})[0].astype(np.float64)
    return out


def run_session(model: Any, inputs: dict[str, np.ndarray[Any, Any]]) -> list[Any]:
    """All outputs of a model, computed by onnxruntime on one thread."""
    runtime = require("onnxruntime", "onnx", CALLER)
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    session = runtime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    out: list[Any] = session.run(None, inputs)
    return out
