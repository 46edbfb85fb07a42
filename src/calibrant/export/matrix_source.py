"""A map of several classes as source code without dependencies: one Python or C function, and its tables."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from calibrant._typing import Floats
from calibrant._validation import ROW_SUM_TOLERANCE
from calibrant.calibrators.matrix_map import MatrixMap
from calibrant.errors import InvalidInputError, ModelFileError
from calibrant.export import matrix_parity
from calibrant.export.expression_graph import LARGEST
from calibrant.export.matrix_form import MatrixForm

__all__ = ["matrix_to_c", "matrix_to_python"]

# A line that begins with @part is written only where the map has that part, or is of that space.
PYTHON_FILE = '''"""{title}

Written by calibrant from a fitted map. Needs nothing but Python.
"""

from math import exp, expm1, log, nan

CLASSES = {classes}
{tables}
TEST_SCORES = {scores}
TEST_PROBABILITIES = {probabilities}


def {name}(scores):
    """Calibrated probabilities of one row of class scores; NaN for a row that the map does not accept."""
    if len(scores) != {k}:
        raise ValueError("a row has {k} scores, one for each class")
@probability    if not (min(scores) >= 0.0 and abs(sum(scores) - 1.0) <= {slack}):
@logits    if not all(abs(s) <= {largest} for s in scores):
        return [nan] * {k}
@probability    x = [{inverse_temperature} * log(max(s, {floor})) for s in scores]
@logits    x = [{inverse_temperature} * s for s in scores]
    top = max(x)
    log_sum = log(sum(exp(v - top) for v in x))
    ell = [v - top - log_sum for v in x]
    u = [min(max(v, {low}), {high}) for v in ell]
@curves    ramps = [[min(max((v - s) / w, 0.0), 1.0) for s, w in zip(STARTS, WIDTHS)] for v in ell]
@confusion    p = [exp(v) for v in ell]
@gate    sure = max(ell) - log(max(-expm1(min(max(ell), 0.0)), 1e-15))
@gate    gates = [min(max((sure - s) / w, 0.0), 1.0) for s, w in zip(GATE_STARTS, GATE_WIDTHS)]
    out = [0.0] * {k}
    for m in range({m}):
        gate = 0.0
@gate        gate = sum(g * c for g, c in zip(gates, GATE[m]))
        z = [SLOPE[m] * ell[k] + BIAS[m][k] + (VECTOR[m][k] + gate) * u[k] for k in range({k})]
@curves        z = [z[k] + sum(r * c for r, c in zip(ramps[k], CURVES[m][k])) for k in range({k})]
@matrix        z = [z[k] + sum(v * c for v, c in zip(u, MATRIX[m][k])) for k in range({k})]
@confusion        z = [z[k] + sum(v * c for v, c in zip(p, CONFUSION[m][k])) for k in range({k})]
        top = max(z)
        powers = [exp(v - top) for v in z]
        total = sum(powers)
        out = [o + WEIGHTS[m] * v / total for o, v in zip(out, powers)]
    return out


if __name__ == "__main__":
    for row, expected in zip(TEST_SCORES, TEST_PROBABILITIES):
        assert all(abs(p - q) <= 1e-12 for p, q in zip({name}(row), expected))
'''

C_FILE = """/* {title}

   Written by calibrant from a fitted map. C99; compile with -lm.
   Classes in the order of the columns: {comment}
   Test vector: {vector} */

#include <math.h>

{tables}
#define CALIBRANT_CLIP(x, low, high) fmin(fmax(x, low), high)

/* Calibrated probabilities of one row of {k} class scores; NaN for a row that the map does not accept. */
void {name}(const double *scores, double *out)
{{
    double ell[{k}], u[{k}], z[{k}], sum = 0.0, top = -HUGE_VAL;
    int accepted = 1;
    for (int k = 0; k < {k}; k++) {{
@probability        accepted = accepted && scores[k] >= 0.0;
@logits        accepted = accepted && fabs(scores[k]) <= {largest};
        sum += scores[k];
        out[k] = 0.0;
    }}
@probability    accepted = accepted && fabs(sum - 1.0) <= {slack};
    if (!accepted) {{
        for (int k = 0; k < {k}; k++)
            out[k] = NAN;
        return;
    }}
    for (int k = 0; k < {k}; k++) {{
@probability        ell[k] = {inverse_temperature} * log(fmax(scores[k], {floor}));
@logits        ell[k] = {inverse_temperature} * scores[k];
        top = fmax(top, ell[k]);
    }}
    sum = 0.0;
    for (int k = 0; k < {k}; k++)
        sum += exp(ell[k] - top);
    const double log_sum = log(sum);
    for (int k = 0; k < {k}; k++) {{
        ell[k] = ell[k] - top - log_sum;
        u[k] = CALIBRANT_CLIP(ell[k], {low}, {high});
    }}
@gate    const double best = -log_sum;
@gate    const double sure = best - log(fmax(-expm1(fmin(best, 0.0)), 1e-15));
    for (int m = 0; m < {m}; m++) {{
        double gate = 0.0;
@gate        for (int j = 0; j < {g}; j++)
@gate            gate += GATE[m * {g} + j] * CALIBRANT_CLIP((sure - GATE_STARTS[j]) / GATE_WIDTHS[j], 0.0, 1.0);
        top = -HUGE_VAL;
        for (int k = 0; k < {k}; k++) {{
            const int mk = m * {k} + k;
            z[k] = SLOPE[m] * ell[k] + BIAS[mk] + (VECTOR[mk] + gate) * u[k];
@curves            for (int j = 0; j < {j}; j++)
@curves                z[k] += CURVES[mk * {j} + j] * CALIBRANT_CLIP((ell[k] - STARTS[j]) / WIDTHS[j], 0.0, 1.0);
@matrix            for (int i = 0; i < {k}; i++)
@matrix                z[k] += MATRIX[mk * {k} + i] * u[i];
@confusion            for (int i = 0; i < {k}; i++)
@confusion                z[k] += CONFUSION[mk * {k} + i] * exp(ell[i]);
            top = fmax(top, z[k]);
        }}
        sum = 0.0;
        for (int k = 0; k < {k}; k++)
            sum += z[k] = exp(z[k] - top);
        for (int k = 0; k < {k}; k++)
            out[k] += WEIGHTS[m] * z[k] / sum;
    }}
}}
"""


def matrix_to_python(map_: MatrixMap, *, name: str = "calibrate") -> str:
    """Source of a Python module with one function, from a list of K scores to a list of K probabilities.

    The module imports the standard library only, carries a test vector and checks itself when it is run. The text is
    executed and compared with the map before it is returned.

    Examples
    --------
    >>> from calibrant.calibrators.vector_scaling import VectorScaling
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
    >>> from calibrant.calibrators.vector_scaling import VectorScaling
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
    if not (name.isidentifier() and name.isascii()):
        raise InvalidInputError(f"`name` must be an identifier of letters, digits and underscores; got {name!r}.")
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
    namespace: dict[str, Any] = {"__name__": "calibrant_export"}
    exec(compile(text, "<export>", "exec"), namespace)
    return np.array([namespace[name](row) for row in scores.tolist()])


def _run_c(text: str, name: str, scores: Floats) -> Floats:
    """Compile to a library, and call it for every row."""
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder, "export.c"), Path(folder, "export.so")
        source.write_text(text, encoding="utf-8")
        options = ["-std=c99", "-O1", "-ffp-contract=off", "-shared", "-fPIC"]
        command = ["cc", *options, str(source), "-o", str(library), "-lm"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise ModelFileError(f"The export to C was refused: the compiler rejected it.\n{done.stderr}")
        function = getattr(ctypes.CDLL(str(library)), name)
        pointer = ctypes.POINTER(ctypes.c_double)
        function.restype, function.argtypes = None, [pointer, pointer]
        rows, out = np.ascontiguousarray(scores, dtype=np.float64), np.empty(scores.shape)
        for row, into in zip(rows, out, strict=True):
            function(row.ctypes.data_as(pointer), into.ctypes.data_as(pointer))
        return out
