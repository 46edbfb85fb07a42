"""A map as one SQL expression: a closed formula, or a balanced CASE."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Any, NamedTuple

import numpy as np

from calibrant._optional import require
from calibrant._typing import Floats
from calibrant.errors import InvalidInputError
from calibrant.export import expression_graph as graph
from calibrant.export import parity
from calibrant.export.case_tree import Split, decide, maps_of_segments, thin, tree_of_maps, value_of
from calibrant.export.panel_graph import domains, lower_panel
from calibrant.maps.base import LARGEST, FrozenMap
from calibrant.maps.panel import PanelMap
from calibrant.maps.segments import SegmentedMap

CALLER = "calibrant.export.to_sql"
DIALECTS = ("bigquery", "duckdb", "postgres", "snowflake", "spark", "sqlite")
sqlglot: Any = require("sqlglot", "tables", CALLER)
exp = sqlglot.exp
ELSEWHERE = {"mssql": "tsql", "sqlserver": "tsql", "postgresql": "postgres", "mariadb": "mysql", "sparksql": "spark"}


def to_sql(
    map_: FrozenMap,
    *,
    dialect: str = "duckdb",
    column: str = "score",
    by: Sequence[str] | None = None,
    level: float | None = None,
) -> str:
    """One SQL expression that computes the calibrated probability of a column, or of several.

    A score that the map would refuse in Python (NULL, NaN, infinite, or outside [0, 1] for a map of
    probabilities) gives NULL. The expression ends with a comment that holds a test vector. A map of more than 400
    pieces is written with fewer; the comment then says how far its probabilities are from those of the map.

    A map of several scores finds its columns by their names; levels are compared as text, and NULL is missing. Of more
    than three numeric scores, only those that were missing in some rows of the fit may be; else the result is NULL.

    The text is run before it is returned: by SQLite for sqlite, else by DuckDB, other dialects after a translation.

    Parameters
    ----------
    map_ : CalibrationMap, SegmentedMap or PanelMap
        The map of a fitted calibrator, ``calibrator.map_``. A map of segments becomes a CASE over all combinations of
        them, up to some thousands of pieces.
    dialect : str
        duckdb, postgres, sqlite, spark, bigquery or snowflake are tested; any dialect that sqlglot writes is accepted.
        SQLite needs its mathematical functions where the map is a formula, as most builds have them.
    column : str
        Name of the score column; it is quoted as the dialect demands. A dot separates table and column.
    by : sequence of str, optional
        For a map of segments the columns of its keys, in their order; by default those with the names of the fit.
    level : float, optional
        For a map of one score with a posterior (``calibrator.frozen_map()``, or a loaded one): the level of intervals.

    Returns
    -------
    str
        The expression. With `level` three of them for a SELECT, named ``probability``, ``probability_low`` and
        ``probability_high``; the ends of intervals are tables, and their comments say how far they may be off.

    Raises
    ------
    ModelFileError
        If the expression, when run, does not compute what the map computes.

    Examples
    --------
    >>> from calibrant import IsotonicCalibration
    >>> from calibrant.export import to_sql
    >>> calibrator = IsotonicCalibration(interpolation="step").fit([1, 2, 3, 4], [0, 0, 1, 1])
    >>> print(to_sql(calibrator.map_, column="margin").partition(" /*")[0])
    CASE WHEN "margin" BETWEEN -1.7976931348623157E+308 AND 1.7976931348623157E+308 THEN \
CASE WHEN "margin" <= 2.5E+00 THEN 2.5E-01 ELSE 7.5E-01 END END
    """
    parity.check_shape(map_, "to_sql")
    if dialect not in {d.value for d in sqlglot.Dialects if d.value}:
        hint = f" It is called {ELSEWHERE[dialect]!r} here." if dialect in ELSEWHERE else ""
        raise InvalidInputError(
            f"`dialect` must be one that sqlglot writes, such as {', '.join(DIALECTS)}; got {dialect!r}.{hint}"
        )
    maps, distance = parity.with_ends(map_, level)
    parts = [_write(_plan(each, column, by), dialect, distance * (each is not map_)) for each in maps.values()]
    return parts[0] if level is None else ",\n".join(f"{p} AS {name}" for name, p in zip(maps, parts, strict=True))


class Plan(NamedTuple):
    """A map as a tree, its columns, what the map gives for the rows in them, and how far the tree is from the map."""

    map: Any
    tree: graph.Node
    columns: dict[str, list[Any]]
    expected: Floats
    distance: float = 0.0


def _plan(map_: Any, column: str, by: Sequence[str] | None) -> Plan:
    if isinstance(map_, PanelMap):
        if column != "score" or by is not None:
            raise InvalidInputError("A map of several scores finds its columns by name: leave out `column` and `by`.")
        rows = parity.probe(map_)
        columns = {name: [row[name] for row in parity.as_rows(rows)] for name in rows}
        return Plan(map_, lower_panel(map_, lambda part: decide(part, (-LARGEST, LARGEST))), columns, map_(rows))
    keys, distance = [], 0.0
    if isinstance(map_, SegmentedMap):
        keys, maps = map_.keys.columns(by), maps_of_segments(map_)
    elif by is not None:
        raise InvalidInputError("`by` is for a map of segments; this map has none. Leave it out.")
    else:
        shorter, distance = thin(map_)
        maps = {(): shorter}
    probes = {codes: parity.probe(own) for codes, own in maps.items()}
    expected = np.concatenate([own(probes[codes]) for codes, own in maps.items()])
    lines = [codes for codes, probe in probes.items() for _ in probe]
    segments = [[value_of(map_, k, codes[k]) for codes in lines] for k in range(len(keys))]
    scores = np.concatenate(list(probes.values())).tolist()
    columns = dict(zip((column, *keys), (scores, *segments), strict=True))
    return Plan(map_, tree_of_maps(map_, maps), columns, expected, distance)


def _write(plan: Plan, dialect: str, distance: float) -> str:
    """The text of a plan, after it was run; in a comment how far it is from the map, and a test vector."""
    expression = SqlAlgebra(dialect).write(plan)
    text: str = expression.sql(dialect=dialect)
    rows, most = list(zip(*plan.columns.values(), strict=True)), parity.tolerance_of(plan.map)
    got = _run_sqlite(expression, plan.columns) if dialect == "sqlite" else run_expression(text, dialect, plan.columns)
    parity.compare(rows, plan.expected, got, f"SQL ({dialect})", most)
    within = f"within {distance + plan.distance:.1e} of the map; " if distance + plan.distance else ""
    return f"{text} /* {within}calibrant test vector {json.dumps(_vector(plan)).replace('*/', '* /')} */"


def _vector(plan: Plan) -> dict[str, Any]:
    """A few of the rows, for those who run the expression."""
    few = np.linspace(0, len(plan.expected) - 1, 9).astype(int).tolist()
    shown = {name: [column[row] for row in few] for name, column in plan.columns.items()}
    scores, *segments = shown.values()
    chosen = {"segments": list(zip(*segments, strict=True))} if segments else {}
    rows = {"scores": shown} if isinstance(plan.map, PanelMap) else {"scores": scores, **chosen}
    return {**rows, "probabilities": plan.expected[few].tolist()}


class SqlAlgebra:
    """Writes the tree as a sqlglot expression; columns and numbers are nodes, never pasted text."""

    def __init__(self, dialect: str) -> None:
        self.dialect = dialect
        self.columns: list[Any] = []
        self.two = {"add": exp.Add, "sub": exp.Sub, "mul": exp.Mul, "div": exp.Div}
        self.flat: dict[int, tuple[Any, list[tuple[Any, Any]], Any]] = {}

    def write(self, plan: Plan) -> Any:
        """The expression of a tree, which is NULL for scores outside their bounds."""
        # What scores of a panel are called in a file may hold a dot; elsewhere it separates table and column.
        is_panel, numeric = isinstance(plan.map, PanelMap), domains(plan.map)
        for name in plan.columns:
            parts = reversed([name] if is_panel else name.split("."))
            quoted = [exp.to_identifier(part, quoted=True) for part in parts]
            self.columns.append(exp.Column(**dict(zip(("this", "table", "db", "catalog"), quoted, strict=False))))
        questions = [self._accepts(self.columns[j], *bounds) for j, bounds in numeric.items()]
        if is_panel:  # levels are text, whatever the type of the column
            for j in set(range(len(self.columns))) - set(numeric):
                self.columns[j] = exp.cast(self.columns[j], "text")
        body = graph.fold(plan.tree, self._write_node)
        asked = exp.and_(*questions) if questions else exp.true()
        guarded = exp.Case(ifs=[exp.If(this=asked, true=self.free(body))])
        # Postgres reads every number as a decimal; its column makes a formula double, but steps would stay decimals.
        return exp.Cast(this=guarded, to=exp.DataType.build("double")) if self.dialect == "postgres" else guarded

    def _write_node(self, node: graph.Node, *parents: Any) -> Any:
        if isinstance(node, graph.Number):
            return self.number(node.value)
        if isinstance(node, graph.Operation):
            return self.apply(node.kind, *parents)
        if isinstance(node, Split):
            return self.split(self.number(node.edge), *parents)
        assert isinstance(node, graph.Score | graph.Choice)
        column = self.columns[node.column]
        return self.choose(column, node.levels, *parents) if isinstance(node, graph.Choice) else column

    def _accepts(self, column: Any, low: float, high: float, optional: bool) -> Any:
        inside = exp.Between(this=self.free(column), low=self.number(low), high=self.number(high))
        return exp.or_(self._is_null(column), inside) if optional else inside

    def _is_null(self, column: Any) -> Any:
        return exp.Is(this=self.free(column), expression=exp.Null())

    def free(self, node: Any) -> Any:
        """The node, or its copy where it already has a place in the expression."""
        return node if node.parent is None else node.copy()

    def number(self, value: float) -> Any:
        """A whole number, or the shortest decimal that is a double.

        A double has an exponent: without it, engines read a decimal and convert it with a second rounding.
        """
        if np.isnan(value):
            return exp.Null()
        size = abs(value)
        text = str(size) if isinstance(value, int) else np.format_float_scientific(size, trim="-", exp_digits=2).upper()
        literal = exp.Literal.number(text)
        return exp.Neg(this=literal) if value < 0 else literal

    def apply(self, kind: str, *operands: Any) -> Any:
        """An operator or a function."""
        of = [self.free(operand) for operand in operands]
        if kind in self.two:
            wrapped = [exp.Paren(this=x) if isinstance(x, exp.Binary) else x for x in of]
            extra = {"typed": True, "safe": False} if kind == "div" else {}
            return self.two[kind](this=wrapped[0], expression=wrapped[1], **extra)
        if kind in ("exp", "log"):
            return exp.Exp(this=of[0]) if kind == "exp" else exp.Ln(this=of[0])
        node = exp.Least if kind == "min" else exp.Greatest
        # There are no NULLs here; the flag only keeps sqlglot from guarding against them.
        return node(this=of[0], expressions=of[1:], ignore_nulls=self.dialect not in ("snowflake", "sqlite"))

    def split(self, edge: Any, value: Any, below: Any, above: Any) -> Any:
        """A question of the balanced CASE; in SQLite, whose parser runs out of depth, one more line of a flat one."""
        if self.dialect != "sqlite":
            return self._case([(self._at_most(value, edge), below)], above)
        lines, last = self._lines(value, below)
        more, default = self._lines(value, above)
        lines = [*lines, (edge, last), *more]
        case = self._case([(self._at_most(value, end), result) for end, result in lines], default)
        self.flat[id(case)] = value, lines, default
        return case

    def choose(self, key: Any, levels: Sequence[Any], *branches: Any) -> Any:
        """A CASE over the values of a column, of which None is NULL."""
        lines = []
        for level, branch in zip(levels, branches, strict=False):
            same = level is not None and exp.EQ(this=self.free(key), expression=self._literal(level))
            lines.append((same or self._is_null(key), branch))
        return self._case(lines, branches[-1])

    def _literal(self, level: Any) -> Any:
        if isinstance(level, bool):
            return exp.Boolean(this=level)
        return exp.Literal.string(level) if isinstance(level, str) else self.number(level)

    def _at_most(self, value: Any, edge: Any) -> Any:
        return exp.LTE(this=self.free(value), expression=self.free(edge))

    def _case(self, lines: list[tuple[Any, Any]], default: Any) -> Any:
        ifs = [exp.If(this=question, true=self.free(result)) for question, result in lines]
        return exp.Case(ifs=ifs, default=self.free(default))

    def _lines(self, value: Any, branch: Any) -> tuple[list[tuple[Any, Any]], Any]:
        """The lines of a flat CASE on the same value, and what is left after them."""
        own, lines, default = self.flat.get(id(branch), (None, [], branch))
        return (lines, default) if own is value else ([], branch)


def _run_sqlite(expression: Any, columns: Mapping[str, Sequence[Any]]) -> Floats:
    """Let SQLite compute the expression on these columns."""
    _rename_columns(expression, list(columns))
    names = ", ".join(f"column_{i}" for i in range(len(columns)))
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(f"CREATE TABLE probe ({names})")
        marks = ", ".join("?" * len(columns))
        connection.executemany(f"INSERT INTO probe VALUES ({marks})", zip(*columns.values(), strict=True))
        rows = connection.execute(f"SELECT {expression.sql(dialect='sqlite')} FROM probe ORDER BY rowid").fetchall()
    return np.array([np.nan if row[0] is None else row[0] for row in rows], dtype=np.float64)


def run_expression(text: str, dialect: str, columns: Mapping[str, Sequence[Any]]) -> Floats:
    """Let DuckDB compute the text on these columns; of another dialect, after sqlglot has read it back."""
    duckdb, pa = require("duckdb", "tables", CALLER), require("pyarrow", "tables", CALLER)
    names = list(columns)
    # Reading back takes as long as all else. Names with dots are those of tables, and DuckDB does not see capitals.
    if dialect != "duckdb" or "." in "".join(names) or len({name.lower() for name in names}) < len(names):
        expression = sqlglot.parse_one(text, dialect=dialect)
        _rename_columns(expression, names)
        for extreme in expression.find_all(exp.Greatest, exp.Least):
            extreme.set("ignore_nulls", True)  # as in the algebra: there are none
        text, names = expression.sql(dialect="duckdb"), [f"column_{i}" for i in range(len(names))]
    with duckdb.connect(":memory:", config={"threads": 1}) as connection:  # of one, so that rows stay in their order
        connection.register("probe", pa.table([pa.array(values) for values in columns.values()], names))
        out = connection.sql(f"SELECT {text} AS p FROM probe").fetchnumpy()
    return np.ma.filled(np.ma.asarray(out["p"], dtype=np.float64), np.nan)


def _rename_columns(expression: Any, names: Sequence[str]) -> None:
    """Give the columns the names of the table that is run: what a user calls them may not be a table's name there."""
    for reference in list(expression.find_all(exp.Column)):
        place = names.index(".".join(part.name for part in reference.parts))
        reference.replace(exp.Column(this=exp.to_identifier(f"column_{place}", quoted=True)))
