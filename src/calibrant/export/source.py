"""A map as source code without dependencies: one Python function, and its tables."""

import builtins
import keyword
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

import numpy as np

from calibrant._typing import Floats
from calibrant.errors import InvalidInputError
from calibrant.export import parity
from calibrant.export.expression_graph import Choice, Node, Number, Operation, Pick, Score, Search, fold, walk
from calibrant.export.panel_graph import domains, graph_of, names_of
from calibrant.maps.base import FrozenMap
from calibrant.maps.panel import PanelMap

SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
TAKEN = frozenset(keyword.kwlist) | frozenset(dir(builtins)) | {"exp", "log", "nan", "bisect_left"}

TEMPLATES = tomllib.loads((resources.files(__package__) / "source.toml").read_text("utf-8"))
TESTED = 33  # rows
ONE_SCORE = {"argument": "score", "what": "one score", "read": "", "ends": "", "nothing": "nan"}
SEVERAL = {"argument": "row", "what": "a dictionary of scores by name, None where missing"}


def to_python(map_: FrozenMap, *, name: str = "calibrate", level: float | None = None) -> str:
    """Source of a Python module with one function, `name`, and no imports beyond the standard library.

    The function takes one score; that of a map of several scores takes a dictionary of them by name. With `level`, for
    a map of one score with a posterior (``calibrator.frozen_map()``, or a loaded one), it gives three numbers: the
    probability, and the lower and the upper end of its interval, as `to_sql` writes them.

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
    if not (name.isidentifier() and name.isascii()):
        raise InvalidInputError(f"`name` must be an identifier of letters, digits and underscores; got {name!r}.")
    if name in TAKEN or name.startswith("__") or name.isupper():  # as tables are
        raise InvalidInputError(f"`name` must not be a word that Python has taken; got {name!r}. Choose another.")
    maps, distance = parity.with_ends(map_, level)
    scores = parity.probe(map_)
    rows, wanted = parity.as_rows(scores), np.stack([each(scores) for each in maps.values()], axis=-1)
    text = _write(maps, distance, name, rows, wanted)
    namespace: dict[str, Any] = {"__name__": "calibrant_export"}
    exec(compile(text, "<export>", "exec"), namespace)
    got = np.array([namespace[name](row) for row in rows]).reshape(wanted.shape)
    parity.compare(rows, wanted, got, "Python", parity.tolerance_of(map_))
    return text


def _write(maps: Mapping[str, Any], distance: float, name: str, rows: list[Any], wanted: Floats) -> str:
    map_, *ends = maps.values()
    numeric, names, words = domains(map_), names_of(map_), dict(ONE_SCORE)
    scores = [f"score_{j}" for j in range(len(names))] if isinstance(map_, PanelMap) else names
    tables, lines, words["result"] = _lines([graph_of(each) for each in maps.values()], scores)
    if isinstance(map_, PanelMap):
        words |= SEVERAL
        tables.append(TEMPLATES["readers"])
        for j, inner in enumerate(names):
            words["read"] += f"    {scores[j]} = {'number' if j in numeric else 'level'}(row[{inner!r}])\n"
    if ends:
        words |= {"ends": TEMPLATES["ends"].format(distance=distance), "nothing": "nan, nan, nan"}
    accepted = [
        f"({f'{scores[j]} != {scores[j]} or ' * optional}{low!r} <= {scores[j]} <= {high!r})"
        for j, (low, high, optional) in numeric.items()
    ]
    few = np.linspace(0, len(rows) - 1, TESTED).astype(int)
    return TEMPLATES["module"].format(
        # Nothing in the method's name may end the docstring that it goes into.
        title="".join(ch for ch in map_.method if ch.isalnum() or ch in " _-") or "A calibration map",
        name=name,
        tables="\n".join(tables) + "\n",
        lines="\n".join(lines),
        accepted=" and ".join(accepted) or True,
        scores=[rows[i] for i in few],
        probabilities=wanted[few].squeeze().tolist(),
        tolerance=parity.tolerance_of(map_),
        pairs=f"zip({name}(s), p)" if ends else f"[({name}(s), p)]",
        **words,
    )


def _lines(roots: Sequence[Node], names: Sequence[str]) -> tuple[list[str], list[str], str]:
    """Graphs in Python: tables, a line for each shared value, and the expressions of the results."""
    tables: list[str] = []
    lines: list[str] = []
    uses = Counter(id(parent) for root in roots for node in walk(root) for parent in node.of)

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
            score = names[node.column]
            if node.levels == (None,):  # a number that may be missing
                return f"({operands[0]} if {score} != {score} else {operands[1]})"
            levels = ", ".join(f"{level!r}: {value}" for level, value in zip(node.levels, operands, strict=False))
            return f"{table('LEVELS', f'{{{levels}}}')}.get({score}, {operands[-1]})"
        assert isinstance(node, Score)
        return names[node.column]

    def write(node: Node, *operands: str) -> str:
        text = expression(node, *operands)
        if isinstance(node, Search) or (isinstance(node, Operation | Choice) and uses[id(node)] > 1):
            lines.append(f"    v{len(lines) + 1} = {text}")
            return f"v{len(lines)}"
        return text

    return tables, lines, ", ".join(fold(root, write) for root in roots)
