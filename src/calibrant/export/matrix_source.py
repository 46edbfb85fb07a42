"""A map of several classes as source code without dependencies: one Python or C function, and its tables."""

from __future__ import annotations

import ctypes
import re
import shutil
from typing import Any

import numpy as np

from calibrant._typing import Floats
from calibrant._validation import ROW_SUM_TOLERANCE
from calibrant.export import matrix_parity
from calibrant.export.expression_graph import LARGEST
from calibrant.export.matrix_form import MatrixForm
from calibrant.export.matrix_templates import C_FILE, PYTHON_FILE
from calibrant.export.names import check_name
from calibrant.export.run_source import c_function, python_function
from calibrant.maps.matrix import MatrixMap

__all__ = ["matrix_to_c", "matrix_to_python"]


def matrix_to_python(map_: MatrixMap, *, name: str = "calibrate") -> str:
    """Source of a Python module with one function, from a list of K scores to a list of K probabilities.

    The module imports the standard library only, carries a test vector and checks itself when it is run. The text is
    executed and compared with the map before it is returned.

    Examples
    --------
    >>> from calibrant.multiclass.vector_scaling import VectorScaling
    >>> from calibrant.export.matrix_source import matrix_to_python
    >>> scores, y = [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4]] * 4, [0, 1, 1] * 4
    >>> map_ = VectorScaling().fit(scores, y).map_
    >>> namespace = {"__name__": "exported"}
    >>> exec(matrix_to_python(map_), namespace)
    >>> round(namespace["calibrate"](scores[0])[0] / float(map_(scores)[0, 0]), 12)
    1.0
    """
    text = _write(map_, name, PYTHON_FILE, lambda label, values: f"{label} = {_tuples(values.tolist())}")
    matrix_parity.check(map_, lambda scores: _run_python(text, name, scores), "Python")
    return text


def matrix_to_c(map_: MatrixMap, *, name: str = "calibrate") -> str:
    """Source of a C99 file with the function ``void name(const double *scores, double *out)`` and its tables.

    Where a C compiler is installed (``cc``), the file is compiled, run and compared with the map before it is
    returned; where there is none, the same arrays written in Python are checked instead.

    Examples
    --------
    >>> from calibrant.multiclass.vector_scaling import VectorScaling
    >>> from calibrant.export.matrix_source import matrix_to_c
    >>> scores, y = [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4]] * 4, [0, 1, 1] * 4
    >>> "void calibrate(const double *scores, double *out)" in matrix_to_c(VectorScaling().fit(scores, y).map_)
    True
    """
    text = _write(map_, name, C_FILE, _c_table)
    if shutil.which("cc"):
        matrix_parity.check(map_, lambda scores: _run_c(text, name, scores), "C")
    else:
        matrix_to_python(map_, name=name)
    return text


def _write(map_: MatrixMap, name: str, template: str, table: Any) -> str:
    check_name(name, "Python" if template is PYTHON_FILE else "C")
    form = MatrixForm.from_map(map_)
    arrays = {"WEIGHTS": form.weights, "SLOPE": form.slope, "BIAS": form.bias, "VECTOR": form.vector}
    arrays |= {"STARTS": form.ramps.starts, "WIDTHS": form.ramps.widths, "CURVES": form.curves}
    arrays |= {"GATE_STARTS": form.gate_ramps.starts, "GATE_WIDTHS": form.gate_ramps.widths, "GATE": form.gate}
    arrays |= {"MATRIX": form.matrix, "CONFUSION": form.confusion}
    parts = {part for part in ("curves", "gate", "matrix", "confusion") if getattr(form, part).size}
    scores, probabilities = matrix_parity.vector(map_)
    numbers = ("inverse_temperature", "floor", "low", "high")
    return _select(template, parts | {map_.space}).format(
        title=f"{_comment(map_.method) or 'A calibration map'}: class scores to class probabilities.",
        name=name,
        classes=_tuples(np.asarray(map_.classes).tolist()),
        comment=", ".join(_comment(str(label)) for label in map_.classes),
        tables="\n".join(table(label, values) for label, values in arrays.items() if values.size) + "\n",
        scores=scores,
        probabilities=probabilities,
        vector=matrix_parity.vector_text(map_),
        slack=ROW_SUM_TOLERANCE,
        largest=repr(LARGEST),
        m=len(form.weights),
        k=len(map_.classes),
        j=len(form.ramps),
        g=len(form.gate_ramps),
        **{number: repr(float(getattr(form, number))) for number in numbers},
    )


def _select(template: str, parts: set[str]) -> str:
    """The template without the lines of parts that are missing."""
    marked = [re.fullmatch(r"(?:@(\w+))?(.*)", line) for line in template.split("\n")]
    return "\n".join(one[2] for one in marked if one is not None and (one[1] is None or one[1] in parts))


def _comment(text: str) -> str:
    """Words for a comment; nothing in them may end it."""
    return "".join(ch for ch in text if ch.isalnum() or ch in " _-.")


def _tuples(values: Any) -> str:
    if isinstance(values, list):
        return "(" + "".join(f"{_tuples(value)}, " for value in values).rstrip() + ")"
    return repr(values)


def _c_table(label: str, values: Floats) -> str:
    return f"static const double {label}[] = {{{', '.join(map(repr, values.ravel().tolist()))}}};"


def _run_python(text: str, name: str, scores: Floats) -> Floats:
    function = python_function(text, name)
    return np.array([function(row) for row in scores.tolist()])


def _run_c(text: str, name: str, scores: Floats) -> Floats:
    rows, out = np.ascontiguousarray(scores, dtype=np.float64), np.empty(scores.shape)
    pointer = ctypes.POINTER(ctypes.c_double)
    with c_function(text, name) as function:
        function.restype, function.argtypes = None, [pointer, pointer]
        for row, into in zip(rows, out, strict=True):
            function(row.ctypes.data_as(pointer), into.ctypes.data_as(pointer))
    return out
