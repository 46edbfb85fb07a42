"""The columns that maps add to a table, computed batch by batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from calibrant._optional import require
from calibrant._typing import Floats
from calibrant.engines.tables import Table
from calibrant.errors import InvalidInputError

if TYPE_CHECKING:
    from calibrant.maps import CalibrationMap

__all__ = ["Maps", "NewColumns", "to_doubles"]

Maps = "CalibrationMap | Mapping[str, CalibrationMap]"


class NewColumns:
    """New columns of a table; counts rows, and scores that a map does not accept.

    Parameters
    ----------
    map_ : CalibrationMap, or dict of score column to CalibrationMap
        With a dict, the new columns of a row are scaled to add up to 1.
    scores : list of str
        The score columns of a single map, which is applied to the highest score of a row.
    name : str
        The name of the new column, or the beginning of the names.
    """

    def __init__(self, map_: CalibrationMap | Mapping[str, CalibrationMap], scores: Sequence[str], name: str) -> None:
        self.is_single = not isinstance(map_, Mapping)
        self.maps = list(map_.values()) if isinstance(map_, Mapping) else [map_]
        self.scores = list(map_) if isinstance(map_, Mapping) else list(scores)
        self.names = [name] if self.is_single else [f"{name}_{score}" for score in self.scores]
        self.rows = self.unusable = 0

    def check(self, table: Table, only_new: bool) -> None:
        """Refuse a score column that is not there exactly once, and a new one that is there already."""
        for score in self.scores:
            if (times := table.columns.count(score)) != 1:
                raise InvalidInputError(f"{table.name} must have one column '{score}'; it has {times or 'none'}.")
        new = {name.casefold() for name in self.names}  # many engines do not tell a from A
        taken = next((name for name in table.columns if name.casefold() in new and not only_new), None)
        if taken is not None:
            raise InvalidInputError(f"{table.name} already has a column '{taken}'; choose another with `name`.")

    def compute(self, scores: list[Floats]) -> list[Floats]:
        """Return the new columns of a batch from its score columns; NaN stands for a missing probability."""
        if self.is_single:
            scores = [np.maximum.reduce(scores)]
        new = [_apply(map_, column) for map_, column in zip(self.maps, scores, strict=True)]
        self.rows += len(new[0])
        self.unusable += int(np.isnan(new).sum())
        if self.is_single:
            return new
        total = np.sum(new, axis=0)
        # Where every class is impossible, all are equally likely, as in `CalibratedClassifier`.
        with np.errstate(invalid="ignore", divide="ignore"):
            return [np.where(total == 0.0, 1.0 / len(new), column / total) for column in new]


def _apply(map_: CalibrationMap, scores: Floats) -> Floats:
    usable = np.isfinite(scores)
    if map_.space == "probability":
        usable &= (scores >= 0.0) & (scores <= 1.0)
    if usable.all():
        return map_(scores)
    new = np.full(len(scores), np.nan)
    new[usable] = map_(scores[usable])
    return new


def to_doubles(column: Any, name: str) -> Floats:
    """Return an Arrow column of numbers or booleans as doubles, with NaN where a value is missing."""
    pa = require("pyarrow", "tables", "Reading scores")
    types = pa.types
    if not any(is_(column.type) for is_ in (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean)):
        if column.null_count < len(column):
            raise InvalidInputError(f"The scores in '{name}' must be numbers; they are of type {column.type}.")
        return np.full(len(column), np.nan)
    doubles: Floats = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return doubles
