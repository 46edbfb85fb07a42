"""A map as an ONNX graph.

Of one score: a search unrolled into log2(pieces) steps, table lookups and arithmetic. Of several classes: a
log-softmax, ramps, sums of products, and the mean of softmaxes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from calibrant import _validation
from calibrant._optional import require
from calibrant._typing import Floats
from calibrant.export import parity
from calibrant.export.expression_graph import (
    ARITHMETIC,
    LARGEST,
    Node,
    Number,
    Operation,
    Pick,
    Search,
    domain,
    lower,
    walk,
)
from calibrant.export.pool_form import NEAR_ZERO, PoolForm, Ramps
from calibrant.maps.base import FrozenMap
from calibrant.maps.matrix import MatrixMap
from calibrant.maps.score import CalibrationMap

CALLER = "calibrant.export.to_onnx"
OPERATORS = {kind: kind.capitalize() for kind in ARITHMETIC}  # ONNX has the same names
DTYPES = ("float64", "float32")
NEWEST_OPSET = 26  # the newest that onnxruntime 1.31 runs
LARGEST_SINGLE = float(np.finfo(np.float32).max)
NAMES = {"score": ("score", "probability"), "matrix": ("scores", "probabilities")}  # of input and output


def to_onnx(map_: FrozenMap, *, dtype: str = "float64", opset: int | None = None) -> Any:
    """An ONNX model of a map of one score or of several classes.

    Parameters
    ----------
    map_ : CalibrationMap or MatrixMap
        The map of a fitted calibrator, ``calibrator.map_``.
    dtype : {"float64", "float32"}
        Type of input and output. Inside, numbers are doubles in both cases: knots keep their place, and the
        difference to the map at a float32 score is the rounding of the output alone.
    opset : int, optional
        Version of the ONNX operators; by default the newest that both `onnx` and current runtimes know.

    Returns
    -------
    onnx.ModelProto
        With the input ``score`` and the output ``probability``, both (n,); for several classes ``scores`` and
        ``probabilities``, both (n, K). Its metadata holds a test vector and the labels of the classes. Scores that the
        map does not accept give NaN.

    Examples
    --------
    >>> from calibrant import PlattScaling
    >>> from calibrant.export import to_onnx
    >>> model = to_onnx(PlattScaling().fit([0.1, 0.4, 0.6, 0.9], [0, 1, 0, 1]).map_)
    >>> model.graph.input[0].name, model.graph.output[0].name
    ('score', 'probability')
    """
    shape = parity.check_shape(map_, "to_onnx")
    _validation.check_choice("dtype", dtype, DTYPES)
    onnx = require("onnx", "onnx", CALLER)
    current = min(NEWEST_OPSET, onnx.defs.onnx_opset_version())
    model = _model(map_, shape, dtype, current if opset is None else opset, onnx)

    def run(scores: Floats) -> Floats:
        return np.asarray(run_session(model, {NAMES[shape][0]: scores.astype(dtype)})[0], dtype=np.float64)

    tolerance = parity.TOLERANCE if dtype == "float64" else 1e-6
    parity.check(map_, run, f"ONNX ({dtype})", tolerance, _probe(map_, dtype))
    return model


def _probe(map_: Any, dtype: str) -> Floats:
    """Scores to compare at that are numbers of the type: others cannot be asked for."""
    scores = parity.probe(map_)
    if dtype == "float32":
        scores = np.clip(scores, -LARGEST_SINGLE, LARGEST_SINGLE).astype(np.float32).astype(np.float64)
    return scores


def _model(map_: Any, shape: str, dtype: str, opset: int, onnx: Any) -> Any:
    helper, types = onnx.helper, onnx.TensorProto
    outer = types.DOUBLE if dtype == "float64" else types.FLOAT
    name_in, name_out = NAMES[shape]
    size = ["n", len(map_.classes)] if shape == "matrix" else ["n"]
    writer = GraphWriter(helper, onnx.numpy_helper)
    result = write_map(writer, map_, writer.node("Cast", name_in, to=types.DOUBLE))
    writer.nodes.append(helper.make_node("Cast", [result], [name_out], to=outer))
    graph = helper.make_graph(
        writer.nodes,
        "calibrant",
        [helper.make_tensor_value_info(name_in, outer, size)],
        [helper.make_tensor_value_info(name_out, outer, size)],
        writer.tensors,
    )
    opsets = [helper.make_opsetid("", opset)]
    model = helper.make_model(
        graph, opset_imports=opsets, producer_name="calibrant", ir_version=helper.find_min_ir_version_for(opsets)
    )
    properties = {"method": map_.method, "test_vector": parity.vector_text(map_)}
    if shape == "matrix":
        properties["classes"] = ",".join(map(str, map_.classes))
    helper.set_model_props(model, properties)
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


def write_map(writer: GraphWriter, map_: CalibrationMap | MatrixMap, scores: str) -> str:
    """Add the graph of a map to doubles; return the name of its result, NaN where the map accepts no score."""
    if isinstance(map_, MatrixMap):
        form = PoolForm.from_map(map_)
        result, accepted = _write_pool(writer, form, scores), _accepted_rows(writer, form, scores)
    else:
        result, accepted = _write_graph(writer, lower(map_.function), scores), _accepted_scores(writer, map_, scores)
    return writer.node("Where", accepted, result, writer.constant(np.nan))


def _write_graph(writer: GraphWriter, root: Node, score: str) -> str:
    written: dict[int, str] = {}
    for node in walk(root):
        written[id(node)] = _write_node(writer, node, written, score)
    return written[id(root)]


def _write_node(writer: GraphWriter, node: Node, written: dict[int, str], score: str) -> str:
    if isinstance(node, Number):
        return writer.constant(np.float64(node.value))
    if isinstance(node, Operation):
        return writer.node(OPERATORS[node.kind], *(written[id(x)] for x in node.of))
    if isinstance(node, Search):
        return _search(writer, written[id(node.of)], node.edges)
    if isinstance(node, Pick):
        return writer.node("Gather", writer.constant(node.table), written[id(node.search)])
    return score


def _search(writer: GraphWriter, value: str, edges: Floats) -> str:
    """Bisection with a fixed number of steps: add the largest power of two that still lies below the value."""
    n_steps = len(edges).bit_length()
    found = writer.constant(np.int64(0))  # a scalar; the comparisons give it the shape of the value
    if n_steps == 0:
        return found
    # Position i holds the edge that must lie below the value for i edges to be below; the rest is never below.
    padded = np.full(2**n_steps, np.inf)
    padded[1 : len(edges) + 1] = edges
    table = writer.constant(padded)
    for step in reversed(range(n_steps)):
        tried = writer.node("Add", found, writer.constant(np.int64(2**step)))
        fits = writer.node("Less", writer.node("Gather", table, tried), value)
        found = writer.node("Where", fits, tried, found)
    return found


def _accepted_scores(writer: GraphWriter, map_: CalibrationMap, score: str) -> str:
    low, high = domain(map_.space)
    above = writer.node("GreaterOrEqual", score, writer.constant(low))
    return writer.node("And", above, writer.node("LessOrEqual", score, writer.constant(high)))


def _write_pool(writer: GraphWriter, form: PoolForm, scores: str) -> str:
    """The mean of the members' softmaxes, (n, K)."""
    x = scores
    if form.space == "probability":
        x = writer.node("Log", writer.node("Max", scores, writer.constant(form.floor)))
    tempered = writer.node("Mul", x, writer.constant(form.inverse_temperature))
    ell = writer.node("LogSoftmax", tempered, axis=1)
    u = _clip(writer, ell, form.low, form.high)
    members = writer.node("Softmax", _logits(writer, form, ell, u), axis=2)
    return writer.node("Einsum", writer.constant(form.weights), members, equation="m,nmk->nk")


def _logits(writer: GraphWriter, form: PoolForm, ell: str, u: str) -> str:
    """The logits of all members, (n, M, K)."""

    def product(equation: str, left: str, table: Floats) -> str:
        return writer.node("Einsum", left, writer.constant(table), equation=equation)

    terms = [product("nk,m->nmk", ell, form.slope), writer.constant(form.bias), product("nk,mk->nmk", u, form.vector)]
    if form.curves.size:
        terms.append(product("nkj,mkj->nmk", _ramps(writer, form.ramps, ell), form.curves))
    if form.gate.size:
        best = writer.node("ReduceMax", ell, writer.constant(np.array([1])), keepdims=0)
        gates = _ramps(writer, form.gate_ramps, _log_odds(writer, best))
        terms.append(writer.node("Einsum", product("nj,mj->nm", gates, form.gate), u, equation="nm,nk->nmk"))
    if form.matrix.size:
        terms.append(product("ni,mki->nmk", u, form.matrix))
    if form.confusion.size:
        terms.append(product("ni,mki->nmk", writer.node("Exp", ell), form.confusion))
    total = terms[0]
    for term in terms[1:]:
        total = writer.node("Add", total, term)
    return total


def _clip(writer: GraphWriter, x: str, low: float, high: float) -> str:
    return writer.node("Max", writer.node("Min", x, writer.constant(high)), writer.constant(low))


def _ramps(writer: GraphWriter, ramps: Ramps, x: str) -> str:
    column = writer.node("Unsqueeze", x, writer.constant(np.array([-1])))
    moved = writer.node("Sub", column, writer.constant(ramps.starts))
    return _clip(writer, writer.node("Div", moved, writer.constant(ramps.widths)), 0.0, 1.0)


def _log_odds(writer: GraphWriter, log_p: str) -> str:
    """The log-odds, at most 35, from log p; ONNX has no expm1."""
    x = writer.node("Min", log_p, writer.constant(0.0))
    series = writer.constant(1.0)
    for n in (4.0, 3.0, 2.0):  # expm1(x) = x (1 + x/2 (1 + x/3 (1 + x/4)))
        part = writer.node("Mul", writer.node("Div", x, writer.constant(n)), series)
        series = writer.node("Add", part, writer.constant(1.0))
    near = writer.node("Neg", writer.node("Mul", x, series))
    far = writer.node("Sub", writer.constant(1.0), writer.node("Exp", x))
    others = writer.node("Where", writer.node("Greater", x, writer.constant(NEAR_ZERO)), near, far)
    return writer.node("Sub", log_p, writer.node("Log", writer.node("Max", others, writer.constant(1e-15))))


def _accepted_rows(writer: GraphWriter, form: PoolForm, scores: str) -> str:
    """Whether the map accepts a row, (n, 1)."""
    axis = writer.constant(np.array([1]))
    if form.space != "probability":
        largest = writer.node("ReduceMax", writer.node("Abs", scores), axis)
        return writer.node("LessOrEqual", largest, writer.constant(LARGEST))
    positive = writer.node("GreaterOrEqual", writer.node("ReduceMin", scores, axis), writer.constant(0.0))
    off = writer.node("Abs", writer.node("Sub", writer.node("ReduceSum", scores, axis), writer.constant(1.0)))
    near_one = writer.node("LessOrEqual", off, writer.constant(_validation.ROW_SUM_TOLERANCE))
    return writer.node("And", positive, near_one)


def run_session(model: Any, inputs: dict[str, np.ndarray[Any, Any]]) -> list[Any]:
    """All outputs of a model, computed by onnxruntime on one thread."""
    runtime = require("onnxruntime", "onnx", CALLER)
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    session = runtime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    out: list[Any] = session.run(None, inputs)
    return out
