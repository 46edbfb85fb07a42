"""A map as source code without dependencies: one Python or C function, and its tables."""

import builtins
import ctypes
import keyword
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from calibrant._typing import Floats
from calibrant.errors import InvalidInputError, ModelFileError
from calibrant.export import parity
from calibrant.export.expression_graph import LARGEST, Node, Number, Operation, Pick, Search, domain, lower, walk
from calibrant.export.shapes import check_shape
from calibrant.maps.base import FrozenMap

# Fused multiply-add would round differently on some processors.
C_OPTIONS = ("-std=c99", "-O1", "-ffp-contract=off", "-shared", "-fPIC")
SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/"}

# Words of C up to C23 and of C++, so that the file compiles as both, and names of the standard library.
_WORDS = """
alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl const const_cast constexpr
continue decltype default delete do double dynamic_cast else enum explicit export extern false float for friend goto if
inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register
reinterpret_cast restrict return short signed sizeof static static_assert static_cast struct switch template this
thread_local throw true try typedef typeid typename typeof typeof_unqual union unsigned using virtual void volatile
wchar_t while xor xor_eq main NULL errno assert printf fprintf sprintf scanf puts exit abort malloc calloc realloc free
memcpy memset strlen strcmp fopen fclose isnan isinf isfinite isnormal signbit fpclassify calibrant_search
"""
_MATH = """
acos asin atan atan2 cos sin tan acosh asinh atanh cosh sinh tanh exp exp2 expm1 frexp ilogb ldexp log log10 log1p log2
logb modf scalbn scalbln cbrt abs labs fabs hypot pow sqrt erf erfc lgamma tgamma gamma ceil floor nearbyint rint lrint
llrint round lround llround trunc fmod remainder remquo copysign nan nextafter nexttoward fdim fmax fmin fma j0 j1 jn y0
y1 yn
"""
C_TAKEN = frozenset(_WORDS.split()) | {word + suffix for word in _MATH.split() for suffix in ("", "f", "l")}
PYTHON_TAKEN = frozenset(keyword.kwlist) | frozenset(dir(builtins)) | {"exp", "log", "nan", "bisect_left"}


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


def to_python(map_: FrozenMap, *, name: str = "calibrate") -> str:
    """Source of a Python module with one function of one score, `name`, and no imports beyond the standard library.

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
    check_shape(map_, "to_python")
    text = _write(map_, name, PYTHON, PYTHON_FILE)
    parity.check(map_, lambda scores: _run_python(text, name, scores), "Python")
    return text


def to_c(map_: FrozenMap, *, name: str = "calibrate") -> str:
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
    check_shape(map_, "to_c")
    text = _write(map_, name, C, C_FILE)
    if shutil.which("cc"):
        parity.check(map_, lambda scores: _run_c(text, name, scores), "C")
    else:
        to_python(map_, name=name)
    return text


def _write(map_: Any, name: str, language: Language, template: str) -> str:
    _check_name(name, "Python" if language is PYTHON else "C")
    writer = Writer(language)
    result = writer.write(lower(map_.function))
    vector = parity.vector(map_)
    low, high = domain(map_.space)
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
        scores=vector["scores"],
        probabilities=vector["probabilities"],
        vector=parity.vector_text(map_),
    )


def _check_name(name: str, language: str) -> None:
    """Refuse what is no identifier, and what the language, its library or the file itself has taken."""
    if not (name.isidentifier() and name.isascii()):
        raise InvalidInputError(f"`name` must be an identifier of letters, digits and underscores; got {name!r}.")
    taken = C_TAKEN if language == "C" else PYTHON_TAKEN
    reserved = name.startswith("__") or (language == "C" and name[0] == "_") or name.isupper()  # as tables are
    if name in taken or reserved:
        raise InvalidInputError(f"`name` must not be a word that {language} has taken; got {name!r}. Choose another.")


class Writer:
    """Writes a graph as lines of one language: a line for each shared value, the rest inside expressions."""

    def __init__(self, language: Language) -> None:
        self.language = language
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
        name = f"{prefix}{len(self.tables) + 1}"
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
    namespace: dict[str, Any] = {"__name__": "calibrant_export"}
    exec(compile(text, "<export>", "exec"), namespace)
    return np.array([namespace[name](score) for score in scores.tolist()])


def _run_c(text: str, name: str, scores: Floats) -> Floats:
    """Compile the text to a library that is kept as long as its function is called."""
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder, "export.c"), Path(folder, "export.so")
        source.write_text(text, encoding="utf-8")
        command = ["cc", *C_OPTIONS, str(source), "-o", str(library), "-lm"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise ModelFileError(f"The export to C was refused: the compiler rejected it.\n{done.stderr}")
        function = getattr(ctypes.CDLL(str(library)), name)
        function.restype, function.argtypes = ctypes.c_double, [ctypes.c_double]
        return np.array([function(score) for score in scores.tolist()])
