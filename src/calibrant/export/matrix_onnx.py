"""A map of several classes as an ONNX graph: a log-softmax, ramps, sums of products, and the mean of softmaxes."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibrant import _validation
from calibrant._optional import require
from calibrant._typing import Floats
from calibrant.export import matrix_parity
from calibrant.export.expression_graph import LARGEST
from calibrant.export.matrix_form import NEAR_ZERO, MatrixForm, Ramps
from calibrant.export.onnx import DTYPES, NEWEST_OPSET, GraphWriter, run_session
from calibrant.maps.matrix import MatrixMap

__all__ = ["matrix_to_onnx"]

CALLER = "calibrant.export.to_onnx"


def matrix_to_onnx(map_: MatrixMap, *, dtype: str = "float64", opset: int | None = None) -> Any:
    """An ONNX model with the input ``scores`` and the output ``probabilities``, both of shape (n, K).

    Parameters
    ----------
    map_ : MatrixMap
        The map of a fitted calibrator of several classes, ``calibrator.map_``.
    dtype : {"float64", "float32"}
        Type of input and output; inside, numbers are doubles.
    opset : int, optional
        Version of the ONNX operators; by default the newest that both `onnx` and current runtimes know.

    Returns
    -------
    onnx.ModelProto
        Its metadata holds the labels of the columns and a test vector. A row that the map does not accept gives NaN.

    Examples
    --------
    >>> from calibrant.multiclass.vector_scaling import VectorScaling
    >>> from calibrant.export.matrix_onnx import matrix_to_onnx
    >>> scores, y = [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4]] * 4, [0, 1, 1] * 4
    >>> model = matrix_to_onnx(VectorScaling().fit(scores, y).map_)
    >>> model.graph.input[0].name, model.graph.output[0].name
    ('scores', 'probabilities')
    """
    _validation.check_choice("dtype", dtype, DTYPES)
    onnx = require("onnx", "onnx", CALLER)
    current = min(NEWEST_OPSET, onnx.defs.onnx_opset_version())
    model = _model(map_, dtype, current if opset is None else opset, onnx)
    scores = matrix_parity.probe(map_).astype(dtype).astype(np.float64)
    tolerance = matrix_parity.TOLERANCE if dtype == "float64" else 1e-6
    matrix_parity.check(map_, lambda x: _run(model, dtype, x), f"ONNX ({dtype})", tolerance, scores)
    return model


def _model(map_: MatrixMap, dtype: str, opset: int, onnx: Any) -> Any:
    helper, types = onnx.helper, onnx.TensorProto
    outer = types.DOUBLE if dtype == "float64" else types.FLOAT
    writer = GraphWriter(helper, onnx.numpy_helper)
    result = write_form(writer, MatrixForm.from_map(map_), writer.node("Cast", "scores", to=types.DOUBLE))
    writer.nodes.append(helper.make_node("Cast", [result], ["probabilities"], to=outer))
    shape = ["n", len(map_.classes)]
    graph = helper.make_graph(
        writer.nodes,
        "calibrant",
        [helper.make_tensor_value_info("scores", outer, shape)],
        [helper.make_tensor_value_info("probabilities", outer, shape)],
        writer.tensors,
    )
    opsets = [helper.make_opsetid("", opset)]
    model = helper.make_model(
        graph, opset_imports=opsets, producer_name="calibrant", ir_version=helper.find_min_ir_version_for(opsets)
    )
    labels = ",".join(map(str, map_.classes))
    vector = matrix_parity.vector_text(map_)
    helper.set_model_props(model, {"method": map_.method, "classes": labels, "test_vector": vector})
    onnx.checker.check_model(model, full_check=True)
    return model


def write_form(writer: GraphWriter, form: MatrixForm, scores: str) -> str:
    """Add the graph of a map to doubles (n, K); return the name of its result, rows of NaN where it accepts none."""
    x = scores
    if form.space == "probability":
        x = writer.node("Log", writer.node("Max", scores, writer.constant(form.floor)))
    tempered = writer.node("Mul", x, writer.constant(form.inverse_temperature))
    ell = writer.node("LogSoftmax", tempered, axis=1)
    u = _clip(writer, ell, form.low, form.high)
    z = _logits(writer, form, ell, u)
    members = writer.node("Softmax", z, axis=2)
    mean = writer.node("Einsum", writer.constant(form.weights), members, equation="m,nmk->nk")
    return writer.node("Where", _accepted(writer, form, scores), mean, writer.constant(np.nan))


def _logits(writer: GraphWriter, form: MatrixForm, ell: str, u: str) -> str:
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


def _accepted(writer: GraphWriter, form: MatrixForm, scores: str) -> str:
    """Whether the map accepts a row, (n, 1)."""
    axis = writer.constant(np.array([1]))
    if form.space == "logits":
        largest = writer.node("ReduceMax", writer.node("Abs", scores), axis)
        return writer.node("LessOrEqual", largest, writer.constant(LARGEST))
    positive = writer.node("GreaterOrEqual", writer.node("ReduceMin", scores, axis), writer.constant(0.0))
    off = writer.node("Abs", writer.node("Sub", writer.node("ReduceSum", scores, axis), writer.constant(1.0)))
    near_one = writer.node("LessOrEqual", off, writer.constant(_validation.ROW_SUM_TOLERANCE))
    return writer.node("And", positive, near_one)


def _run(model: Any, dtype: str, scores: Floats) -> Floats:
    out: Floats = run_session(model, {"scores": scores.astype(dtype)})[0].astype(np.float64)
    return out
