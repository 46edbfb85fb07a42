"""Results as pandas data frames, for those who have pandas."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from calibrant.errors import MissingExtraError

__all__ = ["make_frame"]


def make_frame(rows: Sequence[Mapping[str, Any]] | Mapping[str, Any]) -> Any:
    """A data frame of rows, or of columns; an interval in a cell becomes three columns: `x`, `x_low` and `x_high`.

    Examples
    --------
    >>> from calibrant._frames import make_frame
    >>> make_frame([{"name": "a", "loss": {"value": 0.5, "low": 0.4, "high": 0.6}}]).columns.tolist()
    ['name', 'loss', 'loss_low', 'loss_high']
    """
    try:
        pandas = import_module("pandas")
    except ImportError as error:
        raise MissingExtraError("`to_frame` needs the package `pandas`; run: pip install pandas") from error
    return pandas.DataFrame(rows if isinstance(rows, Mapping) else [_flat(row) for row in rows])


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in row.items():
        if isinstance(value, Mapping):
            flat |= {key if part == "value" else f"{key}_{part}": own for part, own in value.items()}
        else:
            flat[key] = value
    return flat
