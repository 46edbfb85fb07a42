"""The rows of a look as named tallies of probabilities, whatever their shape: the only place here that knows it."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from calibrant import _validation
from calibrant._typing import ArrayLike
from calibrant.errors import InvalidInputError
from calibrant.maps.base import FrozenMap
from calibrant.maps.keys import SegmentCounts, name_columns
from calibrant.maps.matrix import MatrixMap
from calibrant.maps.panel import PanelMap
from calibrant.maps.segments import SegmentedMap
from calibrant.metrics.multiclass import top_label_tally
from calibrant.tally import Tally, to_tally

#: All rows of one score; and, as an alarm, all names together where no single one can be named.
ALL = "(all)"
#: The predicted class: its probability, and whether it was right.
TOP = "(predicted class)"
#: Rows of segments that were not there at the start, together.
NEW = "(new)"

NamedTallies: TypeAlias = dict[Any, Tally]


def name_of(name: Any) -> str:
    """A name as people read it: several keys of a segment are joined, and a missing one is said to be missing."""
    words = name if isinstance(name, tuple) else (name,)
    return " · ".join("(missing)" if word is None else str(word) for word in words)


def read_named_tallies(
    rows: Any,
    y: ArrayLike | None = None,
    *,
    map_: FrozenMap | None = None,
    segment: Any = None,
    classes: Sequence[Any] | None = None,
    pos_label: Any = None,
) -> NamedTallies:
    """Tallies of the scores by name; of several classes, of the probabilities.

    One score has one tally, ALL. A matrix has one of the predicted class, TOP, and one of each class against the rest.
    Segments, given as a mapping of tallies or by a column beside the scores, have one each. Several scores are watched
    by the probability that their map makes of them, of which tallies are, too.
    """
    if isinstance(map_, PanelMap) and y is not None:
        rows = map_(rows)  # what the panel says of a row is the score that is watched
    if isinstance(rows, Mapping):
        if y is not None:
            raise InvalidInputError("Several scores of a row are watched by the probability of their map: pass `map_`.")
        return dict(rows)
    if segment is not None:
        return _split(rows, y, segment, pos_label)
    if not isinstance(rows, Tally) and y is not None:
        scores = _validation.as_array(rows, "scores")
        wide = scores.ndim == 2 and scores.shape[1] > 2
        if wide or classes is not None or isinstance(map_, MatrixMap):
            return _read_matrix(scores, y, map_, classes)
    return {ALL: to_tally(rows, y, pos_label=pos_label)}


def predict_tallies(tallies: NamedTallies, map_: FrozenMap | None) -> NamedTallies:
    """The tallies that have rows, with the probabilities to be tested in place of the scores."""
    if TOP in tallies:
        return tallies  # the map was applied to the matrix
    return {name: _apply(map_, tally, name) for name, tally in tallies.items() if len(tally)}


def gather(tallies: NamedTallies, watched: Mapping[Any, Any]) -> NamedTallies:
    """The tallies of watched names; where there are segments, the sum of all others is that of new ones."""
    found: NamedTallies = {}
    for name, tally in tallies.items():
        watched_name = name if name in watched else NEW
        if watched_name not in watched:
            raise InvalidInputError(
                f"New rows must be of the shape that is watched, with {', '.join(map(name_of, watched))}; "
                f"got {name_of(name)}."
            )
        if len(tally):
            found[watched_name] = found.get(watched_name, Tally.empty()) + tally
    return found


def whole(tallies: NamedTallies) -> Tally:
    """All rows once: those of one score, of the predicted class, or of all segments."""
    return next((tallies[name] for name in (ALL, TOP) if name in tallies), sum(tallies.values(), Tally.empty()))


def _apply(map_: FrozenMap | None, tally: Tally, segment: Any) -> Tally:
    """A tally of probabilities; a map of segments is applied where the segment is known, also a new combination."""
    if map_ is None or isinstance(map_, PanelMap):
        _validation.check_unit_interval(tally.scores, "scores", "A test of calibration")
        return tally
    if isinstance(map_, MatrixMap):
        raise InvalidInputError("A map of several classes needs rows: pass a matrix of scores and `y`, not tallies.")
    if not isinstance(map_, SegmentedMap):
        return tally.rescored(map_(tally.scores))
    if segment == ALL:
        raise InvalidInputError("A map of segments needs that of each row: pass `segment`, or tallies by segment.")
    return tally.rescored(map_(tally.scores, name_columns([segment] * len(tally), map_.keys.names)))


def _split(scores: Any, y: ArrayLike | None, segment: Any, pos_label: Any) -> NamedTallies:
    """The tally of each segment: a value, or a tuple with several keys."""
    if isinstance(scores, Tally) or y is None:
        raise InvalidInputError("`segment` goes with scores and `y`; name tallies by segment in a dictionary.")
    values = _validation.check_scores(scores)
    positive, _ = _validation.encode_labels(y, _validation.choose_positive(y, pos_label))
    _validation.check_same_length(len(values), len(positive), "y")
    return SegmentCounts.of_rows(values, positive, np.ones(len(values)), segment, "segment").tallies()


def _read_matrix(scores: Any, y: ArrayLike, map_: FrozenMap | None, classes: Sequence[Any] | None) -> NamedTallies:
    if not (map_ is None or isinstance(map_, MatrixMap)):
        raise InvalidInputError(f"`map_` must be a map of several classes for a matrix of scores; got {map_!r}.")
    given = map_.classes if classes is None and map_ is not None else classes
    matrix = _validation.check_class_matrix(scores if map_ is None else map_(scores), probabilities=True)
    matrix = np.minimum(matrix, 1.0)  # half-precision rows can exceed 1 within the tolerance
    names = list(range(matrix.shape[1])) if given is None else list(given)
    if len(names) != matrix.shape[1] or len({*map(str, names), TOP}) != len(names) + 1:
        raise InvalidInputError(f"`classes` must name the {matrix.shape[1]} columns, each differently; got {names}.")
    labels = _validation.encode_classes(y, len(names))[0] if given is None else _validation.find_columns(y, names)
    _validation.check_same_length(len(matrix), len(labels), "y")
    against_the_rest = {str(name): Tally.from_arrays(matrix[:, k], labels == k) for k, name in enumerate(names)}
    return {TOP: top_label_tally(labels, matrix)} | against_the_rest
