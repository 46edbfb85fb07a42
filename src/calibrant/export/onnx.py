"""A map as an ONNX graph, in which a search is unrolled into log2(pieces) steps."""

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from calibrant import _validation
from calibrant._optional import require
from calibrant._typing import Floats
from calibrant.errors import InvalidInputError
from calibrant.export import expression_graph as graph
from calibrant.export import parity
from calibrant.export.panel_graph import domains, graph_of, names_of
from calibrant.maps.base import LARGEST, FrozenMap
from calibrant.maps.matrix import MatrixMap
from calibrant.maps.panel import PanelMap

CALLER = "calibrant.export.to_onnx"
OPERATORS = {kind: kind.capitalize() for kind in (*graph.ARITHMETIC, "tanh", "einsum")}  # ONNX has the same names
OPERATORS |= {"log_softmax": "LogSoftmax", "softmax": "Softmax", "highest": "ReduceMax", "column": "Unsqueeze"}
AXES = {"log_softmax": 1, "softmax": 2}
AXIS_INPUTS = {"highest": 1, "column": -1}  # ONNX takes the axis of these as a second input
DTYPES = ("float64", "float32")
NEWEST_OPSET = 26  # the newest that onnxruntime 1.31 runs
SINGLES = float(np.finfo(np.float32).min), float(np.finfo(np.float32).max)
LEVELS_OPSET = {"ai.onnx.ml": 3}  # of the look-up of levels
Variable: TypeAlias = tuple[Any, Sequence[Any]]  # type and shape


def to_onnx(map_: FrozenMap, *, dtype: str = "float64", opset: int | None = None) -> Any:
    """An ONNX model of a map of one score, of several classes or of several scores.

    Parameters
    ----------
    map_ : CalibrationMap, MatrixMap or PanelMap
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
        ``probabilities``, both (n, K); for several scores an input for each under its name, (n,), numbers or strings,
        in which NaN or the empty string is missing. Its metadata holds a test vector and the labels of the classes.
        Scores that the map does not accept give NaN; so do missing ones, if there are more than three numeric scores
        and the fit was never without this one.

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

    scores = parity.probe(map_)
    columns = scores if shape == "panel" else dict.fromkeys(names_of(map_), scores)
    if dtype == "float32":  # such numbers alone can be asked for
        within = {name: x if x.dtype == object else np.clip(x, *SINGLES) for name, x in columns.items()}
        columns = {name: x.astype(x.dtype if x.dtype == object else dtype) for name, x in within.items()}
        scores = columns if shape == "panel" else columns[names_of(map_)[0]]
    given = {name: np.array([x or "" for x in y], object) if y.dtype == object else y for name, y in columns.items()}
    got, most = run_session(model, given)[0], 1e-6 if dtype == "float32" else parity.tolerance_of(map_)
    parity.compare(parity.as_rows(scores), map_(scores), got, f"ONNX ({dtype})", most)
    return model


def _model(map_: Any, shape: str, dtype: str, opset: int, onnx: Any) -> Any:
    size = ["n", len(map_.classes)] if shape == "matrix" else ["n"]
    writer, numeric, names = GraphWriter(onnx), domains(map_), names_of(map_)
    inputs = [writer.node("Cast", x, to=writer.type("float64")) if j in numeric else x for j, x in enumerate(names)]
    taken = "probability" in names
    name_out = "probabilities" if shape == "matrix" else "calibrated_probability" if taken else "probability"
    writer.node("Cast", write_map(writer, map_, *inputs), output=name_out, to=writer.type(dtype))
    types = {name: (dtype if j in numeric else object, size) for j, name in enumerate(names)}
    model = writer.model(types, {name_out: (dtype, size)}, {"": opset} | (LEVELS_OPSET if shape == "panel" else {}))
    properties = {"method": map_.method, "test_vector": json.dumps(map_.test_vector())}
    if shape == "matrix":
        properties["classes"] = ",".join(map(str, map_.classes))
    onnx.helper.set_model_props(model, properties)
    return model


class GraphWriter:
    """Collects ONNX nodes and tensors; works on doubles of any shape."""

    def __init__(self, onnx: Any) -> None:
        self.onnx = onnx
        self.nodes: list[Any] = []
        self.tensors: list[Any] = []

    def type(self, dtype: Any) -> int:
        """The number that stands for a type of numpy."""
        return int(self.onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))

    def node(self, operator: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        """Add one operator; return the name of its output."""
        name = output or f"calibrant_v{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def constant(self, value: Any) -> str:
        """Add a number or table; return its name."""
        name = f"calibrant_c{len(self.tensors)}"
        self.tensors.append(self.onnx.numpy_helper.from_array(np.asarray(value), name))
        return name

    def model(self, inputs: Mapping[str, Variable], outputs: Mapping[str, Variable], opsets: Mapping[str, int]) -> Any:
        """What was collected as a model with these variables, each of a type and a shape."""
        helper = self.onnx.helper
        ends = [
            [helper.make_tensor_value_info(name, self.type(dtype), shape) for name, (dtype, shape) in variables.items()]
            for variables in (inputs, outputs)
        ]
        written = helper.make_graph(self.nodes, "calibrant", *ends, self.tensors)
        known = [helper.make_opsetid(domain_name, version) for domain_name, version in opsets.items()]
        version = helper.find_min_ir_version_for(known)
        model = helper.make_model(written, opset_imports=known, producer_name="calibrant", ir_version=version)
        self.onnx.checker.check_model(model, full_check=True)
        return model


def write_map(writer: GraphWriter, map_: Any, *scores: str) -> str:
    """Add the graph of a map to doubles and text; return the name of its result, NaN where it accepts no such row."""
    result: str = graph.fold(graph_of(map_), partial(_write_node, writer, scores))
    if isinstance(map_, MatrixMap):
        accepted = [_accepted_rows(writer, map_.space, scores[0])]
    else:
        accepted = [_accepted_scores(writer, scores[j], *bounds) for j, bounds in domains(map_).items()]
    if isinstance(map_, PanelMap):  # where no level matters, it is a number
        result = writer.node("Expand", result, writer.node("Shape", scores[0]))
    for inside in accepted:
        result = writer.node("Where", inside, result, writer.constant(np.nan))
    return result


def _choose(writer: GraphWriter, score: str, levels: tuple[str | None, ...], *branches: str) -> str:
    """The branch of a missing number; or that of a level, of which the missing one is the empty text."""
    if levels == (None,):
        return writer.node("Where", writer.node("IsNaN", score), *branches)
    texts = ["" if level is None else level for level in levels]
    if len(set(texts)) < len(texts):
        raise InvalidInputError("A level that is an empty text cannot be told from a missing one in ONNX. Name it.")
    known: dict[str, Any] = {
        "keys_strings": texts,
        "values_int64s": list(range(len(texts))),
        "default_int64": len(texts),
    }
    code = writer.node("LabelEncoder", score, domain="ai.onnx.ml", **known)
    one = writer.constant(np.array([1]))
    table = writer.node("Concat", *(writer.node("Reshape", branch, one) for branch in branches), axis=0)
    return writer.node("Gather", table, code)


def _write_node(writer: GraphWriter, scores: Sequence[str], node: graph.Node, *parents: str) -> str:
    if isinstance(node, graph.Number | graph.Array):
        return writer.constant(np.asarray(node.value))
    if isinstance(node, graph.Operation):
        attributes: dict[str, Any] = {"equation": node.equation} if node.equation else {}
        if node.kind in AXES:
            attributes["axis"] = AXES[node.kind]
        axes = [writer.constant(np.array([AXIS_INPUTS[node.kind]]))] if node.kind in AXIS_INPUTS else []
        return writer.node(OPERATORS[node.kind], *parents, *axes, **attributes)
    if isinstance(node, graph.Search):
        return _search(writer, parents[0], node.edges)
    if isinstance(node, graph.Pick):
        return writer.node("Gather", writer.constant(node.table), parents[0])
    if isinstance(node, graph.Choice):
        return _choose(writer, scores[node.column], node.levels, *parents)
    assert isinstance(node, graph.Score)
    return scores[node.column]


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


def _accepted_scores(writer: GraphWriter, score: str, low: float, high: float, optional: bool) -> str:
    above = writer.node("GreaterOrEqual", score, writer.constant(low))
    inside = writer.node("And", above, writer.node("LessOrEqual", score, writer.constant(high)))
    return writer.node("Or", writer.node("IsNaN", score), inside) if optional else inside


def _accepted_rows(writer: GraphWriter, space: str, scores: str) -> str:
    """Whether the map accepts a row, (n, 1)."""
    axis = writer.constant(np.array([1]))
    if space != "probability":
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
    return session.run(None, inputs)
