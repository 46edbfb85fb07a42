"""A calibrated classifier as one ONNX model: its scikit-learn models by skl2onnx, and the maps behind them."""

from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator

from calibrant import _validation
from calibrant._optional import require
from calibrant.errors import InvalidInputError, ModelFileError
from calibrant.export.onnx import DTYPES, GraphWriter, Variable, run_session, write_map
from calibrant.maps.matrix import MatrixMap

CALLER = "calibrant.export.classifier_to_onnx"
OPSETS = {"": 18, "ai.onnx.ml": 3}  # skl2onnx writes no newer ones for all models


def classifier_to_onnx(
    model: Any,
    X: Any,  # noqa: N803  # scikit-learn's name
    *,
    dtype: str = "float64",
    tolerance: float = 1e-4,
) -> Any:
    """An ONNX model that computes what a fitted ``CalibratedClassifier`` computes.

    Parameters
    ----------
    model : CalibratedClassifier
        Fitted, for two classes or several, with any `multiclass` view.
    X : array of shape (n, n_features)
        Some rows, on which the export is compared with the model.
    dtype : {"float64", "float32"}
        Type of the features.
    tolerance : float
        The largest difference of a probability. The maps are exact to 1e-12, but skl2onnx keeps trees and support
        vector machines in float32, and a steep map enlarges a difference of scores.

    Returns
    -------
    onnx.ModelProto
        With the outputs ``label`` and ``probabilities``, (n, n_classes).

    Raises
    ------
    ModelFileError
        If onnxruntime does not compute the model's probabilities for `X`.

    Examples
    --------
    >>> from calibrant import CalibratedClassifier
    >>> from calibrant.export import classifier_to_onnx
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = make_classification(random_state=0)
    >>> model = CalibratedClassifier(LogisticRegression(), "beta", cv=2).fit(X, y)
    >>> [output.name for output in classifier_to_onnx(model, X).graph.output]
    ['label', 'probabilities']
    """
    onnx = require("onnx", "onnx", CALLER)
    _validation.check_choice("dtype", dtype, DTYPES)
    if not hasattr(model, "calibrated_classifiers_"):
        raise InvalidInputError(f"`model` must be a fitted CalibratedClassifier; got {type(model).__name__}.")
    rows, writer = np.asarray(X, dtype=dtype), GraphWriter(onnx)
    known = model.classes_
    labels = known.astype(np.int64) if known.dtype.kind in "iub" else known.astype(str).astype(object)
    _write_classifier(model, labels, rows, writer)
    outputs: dict[str, Variable] = {"label": (labels.dtype, ["n"]), "probabilities": (dtype, ["n", len(labels)])}
    converted = writer.model({"X": (dtype, ["n", rows.shape[1]])}, outputs, OPSETS)
    off = float(np.abs(run_session(converted, {"X": rows})[1] - model.predict_proba(rows)).max())
    if not off <= tolerance:
        raise ModelFileError(
            f"The export to ONNX was refused: its probabilities differ from the model's by {off:.2g}, more than "
            f"{tolerance:g}. Try dtype='float64', or another classifier; skl2onnx does not convert all of them exactly."
        )
    return converted


def _write_classifier(model: Any, labels: Any, rows: Any, writer: GraphWriter) -> None:
    """Every calibrated model, then the mean of their probabilities and its best class."""
    parts = model.calibrated_classifiers_
    total = ""
    for i, part in enumerate(parts):
        proba = _calibrated(part, _scores(part, f"model_{i}_", rows, writer), writer)
        total = writer.node("Add", total, proba) if total else proba
    mean = writer.node("Div", total, writer.constant(float(len(parts))))
    writer.node("Cast", mean, output="probabilities", to=writer.type(rows.dtype))
    best = writer.node("ArgMax", mean, axis=1, keepdims=0)
    writer.node("Gather", writer.constant(labels), best, output="label")


def _calibrated(part: Any, scores: str, writer: GraphWriter) -> str:
    """Probabilities of one calibrated model, (n, n_classes), in double."""
    if not part.known.all():
        raise InvalidInputError(
            "Every model must know all classes to be converted to ONNX; a fold was trained without some of them. "
            "Use folds that hold every class."
        )
    scores = writer.node("Cast", scores, to=writer.type("float64"))
    if part.response == "predict_proba":
        # Probabilities of float32 models can leave [0, 1] by rounding; the model clips them too.
        scores = writer.node("Max", writer.node("Min", scores, writer.constant(1.0)), writer.constant(0.0))
    views = {"OneVsRest": _one_vs_rest, "TopLabel": _top_label, "WholeMatrix": _whole_matrix}
    return views[type(part.view).__name__](part, scores, writer)


def _one_vs_rest(part: Any, scores: str, writer: GraphWriter) -> str:
    columns = []
    for column, calibrator in zip(part.view.columns, part.calibrators, strict=True):
        chosen = writer.node("Gather", scores, writer.constant(np.array([column], dtype=np.int64)), axis=1)
        columns.append(write_map(writer, calibrator.map_, chosen))
    if len(part.classes) == 2:
        return writer.node("Concat", writer.node("Sub", writer.constant(1.0), columns[0]), columns[0], axis=1)
    return _normalised(writer.node("Concat", *columns, axis=1), 1.0 / len(part.classes), writer)


def _top_label(part: Any, scores: str, writer: GraphWriter) -> str:
    """The calibrated confidence for the highest score; the others share the rest in proportion."""
    top = writer.node("ArgMax", scores, axis=1, keepdims=1)
    confidence = write_map(writer, part.calibrators[0].map_, writer.node("GatherElements", scores, top, axis=1))
    is_top = writer.node("Equal", writer.constant(np.arange(len(part.classes), dtype=np.int64)[None]), top)
    others = writer.node("Where", is_top, writer.constant(0.0), scores)
    shares = _normalised(others, 1.0 / (len(part.classes) - 1), writer)
    rest = writer.node("Mul", writer.node("Sub", writer.constant(1.0), confidence), shares)
    return writer.node("Where", is_top, confidence, rest)


def _whole_matrix(part: Any, scores: str, writer: GraphWriter) -> str:
    """A map of all classes."""
    calibrator = part.calibrators[0]
    map_ = getattr(calibrator, "map_", None)
    if isinstance(map_, MatrixMap):
        return write_map(writer, map_, scores)
    raise InvalidInputError(
        f"{type(calibrator).__name__} cannot be converted to ONNX for several classes; use 'blend', 'temperature', or "
        "a method that calibrates each class against the rest."
    )


def _normalised(proba: str, otherwise: float, writer: GraphWriter) -> str:
    """Rows that sum to one; where all entries are zero, each becomes `otherwise`."""
    sums = writer.node("ReduceSum", proba, writer.constant(np.array([1], dtype=np.int64)), keepdims=1)
    nothing = writer.node("Equal", sums, writer.constant(0.0))
    safe = writer.node("Where", nothing, writer.constant(1.0), sums)
    return writer.node("Where", nothing, writer.constant(otherwise), writer.node("Div", proba, safe))


def _scores(part: Any, prefix: str, rows: Any, writer: GraphWriter) -> str:
    """The scikit-learn model as a part of the graph; its probabilities or decision scores, (n, n_classes)."""
    skl2onnx, compose = require("skl2onnx", "onnx", CALLER), require("onnx.compose", "onnx", CALLER)
    estimator = part.estimator.estimator if isinstance(part.estimator, FrozenEstimator) else part.estimator
    raw = {"raw_scores": True} if part.response == "decision_function" else {}
    options = {id(_last_step(estimator)): {"zipmap": False, **raw}}
    try:
        converted = skl2onnx.to_onnx(estimator, rows[:1], options=options, target_opset=OPSETS)
    except RuntimeError:
        raise InvalidInputError(
            f"skl2onnx cannot convert {type(estimator).__name__}; choose a classifier that it knows."
        ) from None
    graph = compose.add_prefix(converted, prefix).graph
    writer.node("Identity", "X", output=graph.input[0].name)
    writer.nodes.extend(graph.node)
    writer.tensors.extend(graph.initializer)
    return str(graph.output[1].name)


def _last_step(estimator: Any) -> Any:
    return _last_step(estimator.steps[-1][1]) if hasattr(estimator, "steps") else estimator
