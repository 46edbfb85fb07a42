"""A map as source code without dependencies: one Python function, and its tables."""

import builtins
import keyword
from collections import Counter
from typing import Any

import numpy as np

from calibrant._typing import Floats
from calibrant.errors import InvalidInputError
from calibrant.export import parity
from calibrant.export.expression_graph import Node, Number, Operation, Pick, Search, fold, lower, walk
from calibrant.maps.base import FrozenMap, domain

SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
TAKEN = frozenset(keyword.kwlist) | frozenset(dir(builtins)) | {"exp", "log", "nan", "bisect_left"}

MODULE = '''"""{title}: score to probability.

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
    parity.check_shape(map_, "to_python")
    _check_name(name)
    text = _write(map_, name)
    parity.check(map_, lambda scores: _run(text, name, scores), "Python")
    return text


def _check_name(name: str) -> None:
    """Refuse what is no identifier, and what Python or the module itself has taken."""
    if not (name.isidentifier() and name.isascii()):
        raise InvalidInputError(f"`name` must be an identifier of letters, digits and underscores; got {name!r}.")
    if name in TAKEN or name.startswith("__") or name.isupper():  # as tables are
        raise InvalidInputError(f"`name` must not be a word that Python has taken; got {name!r}. Choose another.")


def _write(map_: Any, name: str) -> str:
    tables, lines, result = _lines(lower(map_.function))
    low, high = domain(map_.space)
    # Nothing in the method's name may end the docstring that it goes into.
    title = "".join(ch for ch in map_.method if ch.isalnum() or ch in " _-") or "A calibration map"
    return MODULE.format(
        title=title,
        name=name,
        tables="\n".join(tables) + "\n",
        lines="\n".join(lines),
        result=result,
        low=repr(low),
        high=repr(high),
        **map_.test_vector(),
    )


def _lines(root: Node) -> tuple[list[str], list[str], str]:
    """A graph in Python: tables, a line for each shared value, and the expression of the result."""
    tables: list[str] = []
    lines: list[str] = []
    uses = Counter(id(parent) for node in walk(root) for parent in node.parents())

    def table(prefix: str, numbers: Floats) -> str:
        name = f"{prefix}_{len(tables) + 1}"
        tables.append(f"{name} = {tuple(numbers.tolist())}")
        return name

    def expression(node: Node, *operands: str) -> str:
        if isinstance(node, Number):
            return repr(node.value)
        if isinstance(node, Pick):
            return f"{table('TABLE', node.table)}[{operands[0]}]"
        if isinstance(node, Search):
            return f"bisect_left({table('EDGES', node.edges)}, {operands[0]})"
        if isinstance(node, Operation):
            signed = node.kind in SIGNS
            return f"({f' {SIGNS[node.kind]} '.join(operands)})" if signed else f"{node.kind}({', '.join(operands)})"
        return "score"

    def write(node: Node, *operands: str) -> str:
        text = expression(node, *operands)
        if isinstance(node, Search) or (isinstance(node, Operation) and uses[id(node)] > 1):
            lines.append(f"    v{len(lines) + 1} = {text}")
            return f"v{len(lines)}"
        return text

    return tables, lines, fold(root, write)


def _run(text: str, name: str, scores: Floats) -> Floats:
    namespace: dict[str, Any] = {"__name__": "calibrant_export"}
    exec(compile(text, "<export>", "exec"), namespace)
    return np.array([namespace[name](score) for score in scores.tolist()])
