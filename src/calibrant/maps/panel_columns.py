"""Tables of scores as columns by name: numbers, or levels as text."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from calibrant import _validation
from calibrant.errors import InvalidInputError
from calibrant.maps.base import domain

CATEGORY = "category"
CATEGORY_TYPES = ("category", "categorical", "enum", "dictionary", "string", "large_string", "str", "bool", "utf8")


def named_columns(table: Any) -> dict[str, Any] | None:
    """The columns of a dictionary or a table by name; of what has no names, nothing."""
    names = table if isinstance(table, Mapping) else getattr(table, "column_names", getattr(table, "columns", None))
    return None if names is None or callable(names) else {str(name): table[name] for name in names}


def read_columns(scores: Any) -> dict[str, Any]:
    """The columns of a table, a dictionary or an array by name; an array's are called score_1, score_2 and so on."""
    named = named_columns(scores)
    if named is not None:
        return named
    array = _validation.as_array(scores, "X")
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or array.shape[1] == 0:
        raise InvalidInputError(f"`X` must have shape (n, J), a column for each score; got shape {array.shape}.")
    return {f"score_{j + 1}": column for j, column in enumerate(array.T)}


def choose_columns(columns: Mapping[str, Any], names: Sequence[str], used: Sequence[str]) -> Mapping[str, Any]:
    """The columns that are used by name, in any order; those of a nameless array in the order of the fit."""
    if set(used) <= set(columns):
        return columns
    if len(columns) == len(names) and list(columns) == [f"score_{j + 1}" for j in range(len(names))]:
        return dict(zip(names, columns.values(), strict=True))
    absent = [name for name in used if name not in columns]
    raise InvalidInputError(
        f"`X` must have the columns of the fit; {', '.join(map(repr, absent))} of {', '.join(used)} "
        f"{'is' if len(absent) == 1 else 'are'} not there. A score that is missing in all rows may be a column of NaN."
    )


def is_category(column: Any) -> bool:
    """Whether a column holds text, booleans or a category type: never guessed from numbers."""
    kind = str(getattr(column, "dtype", getattr(column, "type", ""))).lower()
    if kind.partition("(")[0].partition("<")[0].partition("[")[0] in CATEGORY_TYPES or kind.startswith("<u"):
        return True
    array = _validation.as_array(column, "X")
    if array.dtype.kind != "O":
        return array.dtype.kind in "bUS"
    return any(isinstance(value, str | bool | np.bool_) for value in array.tolist())


def space_of(name: str, column: Any, space: str | Mapping[str, str]) -> str:
    """What a column holds: levels, or numbers of the space that is said for all columns or by name."""
    given = space.get(name, "probability") if isinstance(space, Mapping) else space
    return CATEGORY if is_category(column) else _validation.check_choice("space", given, _validation.SPACES)


def read_column(name: str, column: Any, space: str) -> Any:
    """Numbers of a space, NaN where missing; of a category, a list of levels as text, None where missing."""
    array = _validation.as_array(column, "X")
    if array.dtype.kind == "c":
        raise InvalidInputError(f"Complex data not supported: `X` must be real; score {name!r} is not.")
    if array.ndim != 1:
        raise InvalidInputError(f"Score {name!r} must have one value for each row; got shape {array.shape}.")
    if space == CATEGORY:
        return [_level(value) for value in array.tolist()]
    if array.dtype.kind == "O":
        array = np.array([np.nan if _validation.is_missing(value) else value for value in array.tolist()])
    if array.dtype.kind not in "fiu":
        raise InvalidInputError(f"Score {name!r} held numbers in the fit; got {array.dtype}. Convert the column.")
    values = array.astype(np.float64)
    low, high = domain(space)
    wrong = np.flatnonzero((values < low) | (values > high))
    if len(wrong):
        must, advice = "finite or missing", ""
        if space == "probability":
            must, advice = "a probability in [0, 1]", f" If it is another number, pass space={{{name!r}: 'decision'}}."
        got = f"got {values[wrong[0]]:.6g} at index {wrong[0]}"
        raise InvalidInputError(f"Score {name!r} must be {must}; {got}.{advice}")
    # Slopes between numbers closer than this overflow; as probabilities, all of them are 0.
    values[np.abs(values) < _validation.NARROWEST_RANGE] = 0.0
    return values


def _level(value: Any) -> str | None:
    if _validation.is_missing(value):
        return None
    text = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
    return text.lower() if text in ("True", "False") else text  # files of text write them either way
