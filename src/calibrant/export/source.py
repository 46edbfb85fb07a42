"""A map as source code without dependencies: one Python function, and its tables."""

import builtins
import keyword
import tomllib
from collections import Counter
from collections.abc import Callable
from importlib import resources
from typing import Any

import numpy as np

from calibrant._typing import Floats
from calibrant.errors import InvalidInputError
from calibrant.export import parity
from calibrant.export.expression_graph import Choice, Node, Number, Operation, Pick, Score, Search, fold, lower, walk
from calibrant.export.panel_graph import domains, lower_panel
from calibrant.maps.base import FrozenMap, domain
from calibrant.maps.panel import PanelMap

SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
TAKEN = frozenset(keyword.kwlist) | frozenset(dir(builtins)) | {"exp", "log", "nan", "bisect_left"}

TEMPLATES = tomllib.loads((resources.files(__package__) / "source.toml").read_text("utf-8"))
ONE_SCORE = {"argument": "score", "what": "one score", "read": "", "tolerance": parity.TOLERANCE}
SEVERAL = {"argument": "row", "what": "a dictionary of scores by name, None where missing"}


def to_python(map_: FrozenMap, *, name: str = "calibrate") -> str:
    """Source of a Python module with one function, `name`, and no imports beyond the standard library.

    The function takes one score; that of a map of several scores takes a dictionary of them by name.

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
    parity.check(map_, lambda scores: _run(text, name, parity.as_rows(scores)), "Python")
    return text


def _check_name(name: str) -> None:
    """Refuse what is no identifier, and what Python or the module itself has taken."""
    if not (name.isidentifier() and name.isascii()):
        raise InvalidInputError(f"`name` must be an identifier of letters, digits and underscores; got {name!r}.")
    if name in TAKEN or name.startswith("__") or name.isupper():  # as tables are
        raise InvalidInputError(f"`name` must not be a word that Python has taken; got {name!r}. Choose another.")


def _write(map_: Any, name: str) -> str:
    if isinstance(map_, PanelMap):
        tables, lines, result = _lines(lower_panel(map_), lambda j: f"score_{j}")
        words = _panel_words(map_)
        tables.append(TEMPLATES["readers"])
    else:
        tables, lines, result = _lines(lower(map_.function), lambda _: "score")
        low, high = domain(map_.space)
        words = ONE_SCORE | {"accepted": f"{low!r} <= score <= {high!r}"} | map_.test_vector()
    # Nothing in the method's name may end the docstring that it goes into.
    title = "".join(ch for ch in map_.method if ch.isalnum() or ch in " _-") or "A calibration map"
    return TEMPLATES["module"].format(
        title=title,
        name=name,
        tables="\n".join(tables) + "\n",
        lines="\n".join(lines),
        result=result,
        **words,
    )


def _panel_words(map_: PanelMap) -> dict[str, Any]:
    """How a module reads the scores of a row, which it accepts, and rows to test it."""
    numeric = domains(map_)
    read = [
        f"    score_{j} = {'number' if j in numeric else 'level'}(row[{score.name!r}])\n"
        for j, score in enumerate(map_.features.scores)
    ]
    accepted = " and ".join(
        f"({f'score_{j} != score_{j} or ' * optional}{low!r} <= score_{j} <= {high!r})"
        for j, (low, high, optional) in numeric.items()
    )
    columns = {name: values[:9] for name, values in parity.probe(map_).items()}
    vector = {"scores": parity.as_rows(columns), "probabilities": map_(columns).tolist()}
    vector["tolerance"] = parity.PANEL_TOLERANCE
    return SEVERAL | vector | {"read": "".join(read), "accepted": f"({accepted})" if accepted else "True"}


def _lines(root: Node, name_of: Callable[[int], str]) -> tuple[list[str], list[str], str]:
    """A graph in Python: tables, a line for each shared value, and the expression of the result."""
    tables: list[str] = []
    lines: list[str] = []
    uses = Counter(id(parent) for node in walk(root) for parent in node.of)

    def table(prefix: str, content: Any) -> str:
        name = f"{prefix}_{len(tables) + 1}"
        tables.append(f"{name} = {content}")
        return name

    def expression(node: Node, *operands: str) -> str:
        if isinstance(node, Number):
            return repr(node.value)
        if isinstance(node, Pick):
            return f"{table('TABLE', tuple(node.table.tolist()))}[{operands[0]}]"
        if isinstance(node, Search):
            return f"bisect_left({table('EDGES', tuple(node.edges.tolist()))}, {operands[0]})"
        if isinstance(node, Operation):
            signed = node.kind in SIGNS
            return f"({f' {SIGNS[node.kind]} '.join(operands)})" if signed else f"{node.kind}({', '.join(operands)})"
        if isinstance(node, Choice):
            score = name_of(node.column)
            if node.levels == (None,):  # a number that may be missing
                return f"({operands[0]} if {score} != {score} else {operands[1]})"
            levels = ", ".join(f"{level!r}: {value}" for level, value in zip(node.levels, operands, strict=False))
            return f"{table('LEVELS', f'{{{levels}}}')}.get({score}, {operands[-1]})"
        assert isinstance(node, Score)
        return name_of(node.column)

    def write(node: Node, *operands: str) -> str:
        text = expression(node, *operands)
        if isinstance(node, Search) or (isinstance(node, Operation | Choice) and uses[id(node)] > 1):
            lines.append(f"    v{len(lines) + 1} = {text}")
            return f"v{len(lines)}"
        return text

    return tables, lines, fold(root, write)


def _run(text: str, name: str, rows: list[Any]) -> Floats:
    namespace: dict[str, Any] = {"__name__": "calibrant_export"}
    exec(compile(text, "<export>", "exec"), namespace)
    return np.array([namespace[name](row) for row in rows])
