"""DuckDB under the names of Ibis: the few words in which a tally is expressed, and no more.

DuckDB counts files and data frames, where the answer is often there before Ibis is loaded and has written its query.
DuckDB has expressions of its own with the same operators; so the tally is written down once, and runs on both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._optional import require

__all__ = ["Column", "Kind", "Relation", "cases", "constant", "number", "quoted"]

INTEGERS = frozenset(f"{sign}{size}int" for sign in ("", "u") for size in ("tiny", "small", "big", "huge"))
INTEGERS |= {"integer", "uinteger"}
NUMBERS = INTEGERS | {"float", "double", "decimal"}
IN_NUMPY = NUMBERS - {"hugeint", "uhugeint", "decimal"}  # the others come through Arrow, which takes time to load
TYPES = {"int8": "TINYINT", "int64": "BIGINT", "float64": "DOUBLE"}


def duckdb() -> Any:
    """The package."""
    return require("duckdb", "tables", "calibrant.engines")


def quoted(name: str) -> str:
    """A name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


@dataclass(frozen=True)
class Kind:
    """The type of a column, as DuckDB calls it in small letters."""

    name: str

    def is_boolean(self) -> bool:
        """Whether it is true or false."""
        return self.name == "boolean"

    def is_integer(self) -> bool:
        """Whether it is a whole number."""
        return self.name in INTEGERS

    def is_numeric(self) -> bool:
        """Whether it is a number."""
        return self.name in NUMBERS

    def is_float64(self) -> bool:
        """Whether it is a double."""
        return self.name == "double"

    def __str__(self) -> str:
        return {"varchar": "string"}.get(self.name, self.name)


def _operator(name: str) -> Callable[..., Column]:
    def apply(self: Column, *others: object) -> Column:
        return Column(getattr(self.expression, name)(*(_bare(other) for other in others)))

    return apply


def _function(name: str) -> Callable[[Column], Column]:
    def apply(self: Column) -> Column:
        return Column(duckdb().FunctionExpression(name, self.expression))

    return apply


def _bare(value: object) -> Any:
    """An expression of DuckDB for a column or a constant."""
    return value.expression if isinstance(value, Column) else constant(value).expression


class Column:
    """An expression of DuckDB."""

    def __init__(self, expression: Any, kind: Kind | None = None) -> None:
        self.expression, self.kind = expression, kind

    __add__, __sub__, __mul__, __truediv__ = map(_operator, ("__add__", "__sub__", "__mul__", "__truediv__"))
    __eq__, __lt__, __le__ = map(_operator, ("__eq__", "__lt__", "__le__"))  # type: ignore[assignment]
    __gt__, __ge__ = map(_operator, ("__gt__", "__ge__"))
    __and__, __or__, __invert__ = map(_operator, ("__and__", "__or__", "__invert__"))
    __hash__ = None  # type: ignore[assignment]
    isnull = _operator("isnull")
    isnan, isinf = _function("isnan"), _function("isinf")
    min, max, count = _function("min"), _function("max"), _function("count")

    def type(self) -> Kind:
        """The type of a column of a table; that of a computed one is not known here."""
        if self.kind is None:
            raise TypeError("only a column of a table has a known type")
        return self.kind

    def cast(self, name: str) -> Column:
        """The same value in another type."""
        if self.kind is not None and self.kind.is_boolean():
            # Not a cast, which DuckDB hands on to the reader of a CSV file: that would look for numbers, not for true.
            one, zero, none = (constant(value).cast(name) for value in (1, 0, None))
            return cases((self, one), (~self, zero), else_=none)
        return Column(self.expression.cast(TYPES[name]))

    def try_cast(self, name: str) -> Column:
        """The same value in another type; missing where that has no such value."""
        return Column(duckdb().SQLExpression(f"TRY_CAST({self.expression} AS {TYPES[name]})"))

    def isin(self, values: list[Any]) -> Column:
        """Whether the value is one of these."""
        return Column(self.expression.isin(*map(_bare, values)))

    def fill_null(self, value: object) -> Column:
        """The value, or another one where it is missing."""
        return cases((self.isnull(), constant(value)), else_=self)

    def sum(self) -> Column:
        """The sum as a double; that of whole numbers would have 128 bits."""
        return Column(duckdb().FunctionExpression("sum", self.expression)).cast("float64")


def constant(value: object) -> Column:
    """The same value in every row."""
    return Column(duckdb().ConstantExpression(value))


def number(value: float) -> Column:
    """An exact double: DuckDB reads a bare decimal as another type first."""
    return constant(repr(float(value))).cast("float64")


def cases(*branches: tuple[Column, Column], else_: Column) -> Column:
    """The value of the first branch whose condition holds."""
    (condition, value), *rest = ((condition.expression, value.expression) for condition, value in branches)
    expression = duckdb().CaseExpression(condition, value)
    for condition, value in rest:
        expression = expression.when(condition, value)
    return Column(expression.otherwise(else_.expression))


class Relation:
    """A table of DuckDB that is read when `collect` is called."""

    def __init__(self, relation: Any) -> None:
        self.relation = relation

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self.relation.columns)

    def __getitem__(self, name: str) -> Column:
        kind = self.relation.types[self.columns.index(name)]
        return Column(duckdb().SQLExpression(quoted(name)), Kind(str(kind.id)))

    def __getattr__(self, name: str) -> Column:
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]

    def count(self) -> Column:
        """The number of rows."""
        return Column(duckdb().FunctionExpression("count_star"))

    def select(self, **columns: Column) -> Relation:
        """A table of these columns."""
        return Relation(self.relation.select(*_named(columns)))

    def mutate(self, **columns: Column) -> Relation:
        """The table with more columns."""
        return self.select(**{name: self[name] for name in self.columns}, **columns)

    def drop(self, *names: str) -> Relation:
        """The table without some columns."""
        return self.select(**{name: self[name] for name in self.columns if name not in names})

    def aggregate(self, by: tuple[str, ...] = (), **columns: Column) -> Relation:
        """A row for each group."""
        named = _named({name: self[name] for name in by} | columns)
        groups = ", ".join(map(quoted, by))
        return Relation(self.relation.aggregate(list(named), groups))

    def ranked(self, by: str, order: str) -> Relation:
        """The table with a `rank` from 0 on inside each group."""
        window = f"row_number() OVER (PARTITION BY {quoted(by)} ORDER BY {quoted(order)})"
        return Relation(self.relation.project(f"*, {window} - 1 AS rank"))

    def filter(self, condition: Column) -> Relation:
        """The rows that meet a condition."""
        return Relation(self.relation.filter(condition.expression))

    def limit(self, n: int) -> Relation:
        """At most so many rows."""
        return Relation(self.relation.limit(n))

    def distinct(self) -> Relation:
        """Every row once."""
        return Relation(self.relation.distinct())

    def collect(self) -> dict[str, np.ndarray[Any, Any]]:
        """All rows as numpy columns."""
        if all(str(kind.id) in IN_NUMPY for kind in self.relation.types):
            return {name: _filled(values) for name, values in self.relation.fetchnumpy().items()}
        table = self.relation.to_arrow_table()
        return {name: table.column(name).to_numpy(zero_copy_only=False) for name in table.column_names}


def _named(columns: dict[str, Column]) -> Iterator[Any]:
    return (column.expression.alias(name) for name, column in columns.items())


def _filled(values: Any) -> np.ndarray[Any, Any]:
    """Missing numbers as NaN."""
    return np.asarray(values.astype(np.float64).filled(np.nan) if hasattr(values, "filled") else values)
