"""A map as source code without dependencies: one Python or C function, and its tables."""

import ctypes
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from calibrant._typing import Floats
from calibrant.export import parity
from calibrant.export.expression_graph import DOMAINS, LARGEST, Node, Number, Operation, Pick, Search, lower, walk
from calibrant.export.names import check_name
from calibrant.export.run_source import c_function, python_function
from calibrant.maps.functions import MapFunction
from calibrant.maps.matrix import MatrixMap
from calibrant.maps.score import CalibrationMap
from calibrant.maps.segments import SegmentedMap

SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/"}


@dataclass(frozen=True)
class Language:
    """The differences between the two languages."""

    table: Callable[[str, str], str]
    line: Callable[[str, str, bool], str]
    search: str
    smaller: str
    larger: str


PYTHON = Language(
    table=lambda name, numbers: f"{name} = ({numbers},)",
    line=lambda name, value, _: f"    {name} = {value}",
    search="bisect_left({table}, {value})",
    smaller="min",
    larger="max",
)
C = Language(
    table=lambda name, numbers: f"static const double {name}[] = {{{numbers}}};",
    line=lambda name, value, is_index: f"    const {'int' if is_index else 'double'} {name} = {value};",
    search="calibrant_search({table}, {size}, {value})",
    smaller="fmin",
    larger="fmax",
)

PYTHON_FILE = '''"""{title}

Written by calibrant from a fitted map. Needs nothing but Python.
"""

from bisect import bisect_left
from math import exp, log, nan

{tables}
TEST_SCORES = {scores}
TEST_PROBABILITIES = {probabilities}


def {name}(score):
    """Calibrated probability of one score; NaN for a score that the map does not accept."""
    if not {low} <= score <= {high}:
        return nan
{lines}
    return {result}


if __name__ == "__main__":
    assert all(abs({name}(s) - p) <= 1e-12 for s, p in zip(TEST_SCORES, TEST_PROBABILITIES))
'''

C_FILE = """/* {title}

   Written by calibrant from a fitted map. C99; compile with -lm.
   Test vector: {vector} */

#include <math.h>

{tables}
{searcher}
/* Calibrated probability of one score; NaN for a score that the map does not accept. */
double {name}(double score)
{{
    if (!(score >= {low} && score <= {high}))
        return NAN;
{lines}
    return {result};
}}
"""

C_SEARCH = """/* How many of the n increasing edges lie below the value. */
static int calibrant_search(const double *edges, int n, double value)
{
    int low = 0, high = n;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (edges[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

"""


def to_python(map_: CalibrationMap | MatrixMap | SegmentedMap, *, name: str = "calibrate") -> str:
    """Source of a Python module with one function of one score, `name`, and no imports beyond the standard library.

    The function of a map of segments takes a score and the segment of each key, ``calibrate(score, country, device)``.

    The module carries a test vector and checks itself when it is run. The text is executed and compared with the
    map before it is returned.

    Examples
    --------
    >>> from calibrant import PlattScaling
    >>> from calibrant.export import to_python
    >>> map_ = PlattScaling().fit([0.1, 0.4, 0.6, 0.9], [0, 1, 0, 1]).map_
    >>> namespace = {"__name__": "exported"}
    >>> exec(to_python(map_), namespace)
    >>> round(namespace["calibrate"](0.4) / float(map_([0.4])[0]), 12)
    1.0
    """
    if isinstance(map_, MatrixMap):
        from calibrant.export import matrix_source

        return matrix_source.matrix_to_python(map_, name=name)
    if isinstance(map_, SegmentedMap):
        from calibrant.export import segment_source

        return segment_source.segments_to_python(map_, name=name)
    parity.check_map(map_, "to_python")
    text = _write(map_, name, PYTHON, PYTHON_FILE)
    parity.check(map_, lambda scores: _run_python(text, name, scores), "Python")
    return text


def to_c(map_: CalibrationMap | MatrixMap, *, name: str = "calibrate") -> str:
    """Source of a C99 file with the function ``double name(double score)`` and its tables.

    Where a C compiler is installed (``cc``), the file is compiled, run and compared with the map before it is
    returned; where there is none, the same graph written in Python is checked instead.

    Examples
    --------
    >>> from calibrant import PlattScaling
    >>> from calibrant.export import to_c
    >>> source = to_c(PlattScaling().fit([0.1, 0.4, 0.6, 0.9], [0, 1, 0, 1]).map_)
    >>> "double calibrate(double score)" in source
    True
    """
    if isinstance(map_, MatrixMap):
        from calibrant.export import matrix_source

        return matrix_source.matrix_to_c(map_, name=name)
    parity.check_map(map_, "to_c")
    text = _write(map_, name, C, C_FILE)
    if shutil.which("cc"):
        parity.check(map_, lambda scores: _run_c(text, name, scores), "C")
    else:
        to_python(map_, name=name)
    return text


def write_function(function: MapFunction, name: str) -> str:
    """A Python function of checked scores and its tables, for a module that imports what the formula needs."""
    writer = Writer(PYTHON, name.upper())
    result = writer.write(lower(function))
    lines = [*writer.tables, "", "", f"def {name}(score):", *writer.lines, f"    return {result}"]
    return "\n".join(lines).lstrip() + "\n"


def _write(map_: CalibrationMap, name: str, language: Language, template: str) -> str:
    check_name(name, "Python" if language is PYTHON else "C")
    writer = Writer(language)
    result = writer.write(lower(map_.function))
    scores, probabilities = parity.vector(map_)
    low, high = DOMAINS[map_.space]
    # The method's name goes into a comment; nothing in it may end that comment.
    title = "".join(ch for ch in map_.method if ch.isalnum() or ch in " _-") or "A calibration map"
    return template.format(
        title=f"{title}: score to probability.",
        name=name,
        tables="\n".join(writer.tables) + "\n",
        searcher=C_SEARCH if writer.n_searches else "",
        lines="\n".join(writer.lines),
        result=result,
        low=repr(low),
        high=repr(high),
        scores=scores,
        probabilities=probabilities,
        vector=parity.vector_text(map_),
    )


class Writer:
    """Writes a graph as lines of one language: a line for each shared value, the rest inside expressions."""

    def __init__(self, language: Language, prefix: str = "") -> None:
        self.language, self.prefix = language, prefix
        self.tables: list[str] = []
        self.lines: list[str] = []
        self.n_searches = 0

    def write(self, root: Node) -> str:
        """Fill `tables` and `lines`; return the expression of the result."""
        uses = Counter(id(parent) for node in walk(root) for parent in node.parents())
        written: dict[int, str] = {}
        for node in walk(root):
            text = self._expression(node, written)
            if isinstance(node, Search) or (isinstance(node, Operation) and uses[id(node)] > 1):
                text = self._named(text, isinstance(node, Search))
            written[id(node)] = text
        return written[id(root)].removeprefix("(").removesuffix(")") if _wrapped(root) else written[id(root)]

    def _named(self, text: str, is_index: bool) -> str:
        name = f"{'i' if is_index else 'v'}{len(self.lines) + 1}"
        self.lines.append(self.language.line(name, text, is_index))
        return name

    def _table(self, numbers: Floats, prefix: str) -> str:
        name = f"{self.prefix}{prefix}{len(self.tables) + 1}"
        self.tables.append(self.language.table(name, ", ".join(map(repr, numbers.tolist()))))
        return name

    def _expression(self, node: Node, written: dict[int, str]) -> str:
        if isinstance(node, Number):
            return repr(node.value)
        if isinstance(node, Pick):
            return f"{self._table(node.table, 'TABLE_')}[{written[id(node.search)]}]"
        if isinstance(node, Search):
            self.n_searches += 1
            # C has no empty arrays.
            edges = node.edges if len(node.edges) else np.array([LARGEST])
            table = self._table(edges, "EDGES_")
            return self.language.search.format(table=table, size=len(edges), value=written[id(node.of)])
        if isinstance(node, Operation):
            of = [written[id(x)] for x in node.of]
            if node.kind in SIGNS:
                return f"({of[0]} {SIGNS[node.kind]} {of[1]})"
            function = {"min": self.language.smaller, "max": self.language.larger}.get(node.kind, node.kind)
            return f"{function}({', '.join(of)})"
        return "score"


def _wrapped(root: Node) -> bool:
    return isinstance(root, Operation) and root.kind in SIGNS


def _run_python(text: str, name: str, scores: Floats) -> Floats:
    function = python_function(text, name)
    return np.array([function(score) for score in scores.tolist()])


def _run_c(text: str, name: str, scores: Floats) -> Floats:
    with c_function(text, name) as function:
        function.restype, function.argtypes = ctypes.c_double, [ctypes.c_double]
        return np.array([function(score) for score in scores.tolist()])
