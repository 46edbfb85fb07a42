"""A map of several classes as one SQL query: a chain of named steps, because SQL has no arrays to loop over."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from calibrant._optional import require
from calibrant._typing import Floats
from calibrant._validation import ROW_SUM_TOLERANCE
from calibrant.errors import InvalidInputError
from calibrant.export import matrix_parity
from calibrant.export.expression_graph import LARGEST
from calibrant.export.matrix_form import NEAR_ZERO, MatrixForm, Ramps
from calibrant.export.sql import DIALECTS
from calibrant.maps.matrix import MatrixMap

__all__ = ["MOST_CLASSES", "matrix_to_sql"]

CALLER = "calibrant.export.to_sql"
MOST_CLASSES = 12  # beyond, the query is longer than engines like
LOWEST = -700.0  # exp of less is 0 for every purpose, and some engines call it an error


def matrix_to_sql(
    map_: MatrixMap,
    *,
    columns: Sequence[str] | None = None,
    table: str = "scores",
    keep: Sequence[str] = (),
    dialect: str = "duckdb",
) -> str:
    """One SQL query with a column ``calibrated_<class>`` for each class.

    A row that the map would refuse in Python (NULL, NaN, probabilities that do not sum to 1) gives NULLs. The query
    ends with a comment that holds a test vector. It grows with the square of the number of classes, so more than 12
    are refused; export to ONNX, C or Python then.

    Parameters
    ----------
    map_ : MatrixMap
        The map of a fitted calibrator of several classes, ``calibrator.map_``.
    columns : sequence of str, optional
        Names of the K score columns; by default the labels of the classes.
    table : str
        Where they are; a dot separates schema and table.
    keep : sequence of str
        Other columns to carry along, such as a key.
    dialect : str
        duckdb, postgres, spark, bigquery or snowflake are tested; any dialect that sqlglot writes is accepted.

    Returns
    -------
    str

    Raises
    ------
    ModelFileError
        If DuckDB, running the query, does not compute what the map computes.

    Examples
    --------
    >>> from calibrant.multiclass.vector_scaling import VectorScaling
    >>> from calibrant.export.matrix_sql import matrix_to_sql
    >>> scores, y = [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4]] * 4, [0, 1, 1] * 4
    >>> query = matrix_to_sql(VectorScaling().fit(scores, y).map_, columns=["a", "b", "c"], keep=["id"])
    >>> query.startswith('WITH step_1 AS (SELECT "id" AS kept_0, CASE WHEN CAST("a" AS DOUBLE) >= 0')
    True
    """
    sqlglot = require("sqlglot", "tables", CALLER)
    if dialect not in {d.value for d in sqlglot.Dialects if d.value}:
        raise InvalidInputError(
            f"`dialect` must be one that sqlglot writes, such as {', '.join(DIALECTS)}; got {dialect!r}."
        )
    n_classes = len(map_.classes)
    if n_classes > MOST_CLASSES:
        raise InvalidInputError(
            f"SQL is written for at most {MOST_CLASSES} classes; the map has {n_classes}, and the query would be too "
            "long. Export to ONNX, C or Python."
        )
    names = [str(label) for label in map_.classes] if columns is None else list(columns)
    if len(names) != n_classes:
        raise InvalidInputError(f"`columns` must name the {n_classes} score columns; got {len(names)}.")
    form = MatrixForm.from_map(map_)
    out = [f"calibrated_{label}" for label in map_.classes]
    text = _transpile(_query(form, names, out, table, keep), "duckdb", dialect)
    probe_names = [f"c{k}" for k in range(n_classes)]
    probe = _transpile(_query(form, probe_names, probe_names, "probe", ["row"]), "duckdb", dialect)
    matrix_parity.check(map_, lambda scores: _run(probe, dialect, scores), f"SQL ({dialect})")
    return f"{text} /* calibrant test vector {matrix_parity.vector_text(map_)} */"


def _query(form: MatrixForm, columns: Sequence[str], out: Sequence[str], table: str, keep: Sequence[str]) -> str:
    """The query in DuckDB's dialect; each step reads the one before and passes on what later ones need."""
    classes, members = range(len(columns)), range(len(form.weights))
    ell, z = [f"ell_{k}" for k in classes], [[f"z_{m}_{k}" for k in classes] for m in members]
    accepted, tempered = _tempered(form, [_quote(column) for column in columns])
    x = [f"x_{k}" for k in classes]
    steps: list[dict[str, str]] = [{"accepted": accepted} | dict(zip(x, tempered, strict=True))]
    steps.append(_same(x) | {"highest": _greatest(x)})
    steps.append(_same([*x, "highest"]) | {"log_sum": f"LN({_sum(_exp(f'{one} - highest') for one in x)})"})
    steps.append({name: f"{one} - highest - log_sum" for name, one in zip(ell, x, strict=True)})
    features = _features(form, ell)
    steps.append(_same(ell) | features)
    if form.gate.size:
        steps.append(_same([*ell, *features]) | _gates(form))
    steps.append({z[m][k]: _logit(form, m, k) for m in members for k in classes})
    flat = [name for row in z for name in row]
    steps.append(_same(flat) | {f"highest_{m}": _greatest(z[m]) for m in members})
    norms = {f"norm_{m}": f"highest_{m} + LN({_sum(_exp(f'{name} - highest_{m}') for name in z[m])})" for m in members}
    steps.append(_same(flat) | norms)
    pools = [_sum(f"{_number(form.weights[m])} * {_exp(f'{z[m][k]} - norm_{m}')}" for m in members) for k in classes]
    steps.append({_quote(n, 1): f"CASE WHEN accepted = 1 THEN {p} END" for n, p in zip(out, pools, strict=True)})
    return _chain(steps, [_quote(name, 1) for name in keep], _quote(table))


def _chain(steps: list[dict[str, str]], keep: list[str], table: str) -> str:
    """Each step as a SELECT from the one before; kept columns have names of their own on the way."""
    kept, last = [f"kept_{i}" for i in range(len(keep))], len(steps) - 1
    selects = []
    for number, step in enumerate(steps):
        carried = _same([*kept, "accepted"]) if number else dict(zip(kept, keep, strict=True))
        carried = dict(zip(keep, kept, strict=True)) if number == last else carried
        listed = ", ".join(f"{value} AS {name}" for name, value in (carried | step).items())
        selects.append(f"SELECT {listed} FROM {f'step_{number}' if number else table}")
    named = ", ".join(f"step_{number} AS ({text})" for number, text in enumerate(selects[:-1], 1))
    return f"WITH {named} {selects[-1]}"


def _tempered(form: MatrixForm, columns: list[str]) -> tuple[str, list[str]]:
    """Whether a row is accepted, 1 or 0, and its logits before they are normalised; zeros in a refused row."""
    scale, doubles = _number(form.inverse_temperature), [f"CAST({column} AS DOUBLE)" for column in columns]
    if form.space == "logits":
        inside = " AND ".join(f"{x} BETWEEN {_number(-LARGEST)} AND {_number(LARGEST)}" for x in doubles)
        logits = doubles
    else:
        lowest, highest = _number(1.0 - ROW_SUM_TOLERANCE), _number(1.0 + ROW_SUM_TOLERANCE)
        inside = " AND ".join([*(f"{x} >= 0" for x in doubles), f"{_sum(doubles)} BETWEEN {lowest} AND {highest}"])
        logits = [f"LN({_greatest([x, _number(form.floor)])})" for x in doubles]
    chosen = [f"CASE WHEN {inside} THEN {scale} * {x} ELSE {_number(0.0)} END" for x in logits]
    return f"CASE WHEN {inside} THEN 1 ELSE 0 END", chosen


def _features(form: MatrixForm, ell: list[str]) -> dict[str, str]:
    """u, the ramps, the probabilities, and the confidence, as far as the map has use for them."""
    out = {f"u_{k}": _clip(name, form.low, form.high) for k, name in enumerate(ell)}
    for k, name in enumerate(ell):
        out |= {f"r_{k}_{j}": ramp for j, ramp in enumerate(_ramps(name, form.ramps))}
    if form.confusion.size:
        out |= {f"p_{k}": _exp(name) for k, name in enumerate(ell)}
    if form.gate.size:
        best = f"LEAST({_greatest(ell)}, 0.0E+00)"
        series = f"-{best} * (1 + {best} * 5E-01 * (1 + {best} * {_number(1 / 3)} * (1 + {best} * 2.5E-01)))"
        others = f"CASE WHEN {best} > {_number(NEAR_ZERO)} THEN {series} ELSE 1 - {_exp(best)} END"
        out["sure"] = f"{best} - LN({_greatest([others, '1E-15'])})"
    return out


def _gates(form: MatrixForm) -> dict[str, str]:
    ramps = _ramps("sure", form.gate_ramps)
    return {f"gate_{m}": _weighted(row, ramps) or _number(0.0) for m, row in enumerate(form.gate)}


def _logit(form: MatrixForm, m: int, k: int) -> str:
    classes, ramps = range(form.bias.shape[1]), range(len(form.ramps))
    vector = form.vector[m, k] + (form.matrix[m, k, k] if form.matrix.size else 0.0)
    terms = [f"{_number(form.bias[m, k])}", _weighted([form.slope[m], vector], [f"ell_{k}", f"u_{k}"])]
    terms.append(_weighted(form.curves[m, k], [f"r_{k}_{j}" for j in ramps]))
    if form.gate.size:
        terms.append(f"gate_{m} * u_{k}")
    if form.matrix.size:
        others = [i for i in classes if i != k]
        terms.append(_weighted(form.matrix[m, k, others], [f"u_{i}" for i in others]))
    if form.confusion.size:
        terms.append(_weighted(form.confusion[m, k], [f"p_{i}" for i in classes]))
    return _sum(terms)


def _ramps(x: str, ramps: Ramps) -> list[str]:
    ends = zip(ramps.starts, ramps.widths, strict=True)
    return [_clip(f"({x} - {_number(start)}) * {_number(1.0 / width)}", 0.0, 1.0) for start, width in ends]


def _clip(x: str, low: float, high: float) -> str:
    return f"LEAST(GREATEST({x}, {_number(low)}), {_number(high)})"


def _exp(x: str) -> str:
    return f"EXP(GREATEST({x}, {_number(LOWEST)}))"


def _greatest(names: Sequence[str]) -> str:
    return f"GREATEST({', '.join(names)})"


def _sum(terms: Any) -> str:
    return " + ".join(term for term in terms if term)


def _weighted(coefficients: Any, names: Sequence[str]) -> str:
    """Σ coefficient · name, without the zeros; empty where nothing remains."""
    return _sum(f"{_number(c)} * {name}" for c, name in zip(coefficients, names, strict=True) if c != 0.0)


def _same(names: Sequence[str]) -> dict[str, str]:
    return {name: name for name in names}


def _number(value: float) -> str:
    """A double; without the exponent, engines read a decimal and convert it with a second rounding."""
    text = np.format_float_scientific(abs(value), trim="-", exp_digits=2).upper()
    return f"(-{text})" if value < 0.0 else text


def _quote(name: str, most_parts: int = 4) -> str:
    parts = name.split(".") if most_parts > 1 else [name]
    return ".".join('"' + part.replace('"', '""') + '"' for part in parts)


def _transpile(query: str, read: str, write: str) -> str:
    sqlglot = require("sqlglot", "tables", CALLER)
    expression = sqlglot.parse_one(query, dialect=read)
    for extreme in expression.find_all(sqlglot.exp.Greatest, sqlglot.exp.Least):
        # There are no NULLs here; the flag only keeps sqlglot from guarding against them.
        extreme.set("ignore_nulls", write != "snowflake")
    if write == "postgres":
        # It would write every step into the next, and the expressions would grow without bounds.
        for step in expression.find_all(sqlglot.exp.CTE):
            step.set("materialized", True)
    text: str = expression.sql(dialect=write)
    return text


def _run(query: str, dialect: str, scores: Floats) -> Floats:
    """Let DuckDB compute the query, after sqlglot has read it back from its dialect."""
    duckdb = require("duckdb", "tables", CALLER)
    names = [f"c{k}" for k in range(scores.shape[1])]
    text = _transpile(query, dialect, "duckdb")
    with duckdb.connect(":memory:", config={"threads": 1}) as connection:
        table = {name: np.ascontiguousarray(scores[:, k]) for k, name in enumerate(names)}
        connection.register("probe", table | {"row": np.arange(len(scores))})
        out = connection.sql(f"SELECT * FROM ({text}) ORDER BY row").fetchnumpy()
    return np.column_stack([np.ma.filled(np.ma.asarray(out[name], dtype=np.float64), np.nan) for name in names])
