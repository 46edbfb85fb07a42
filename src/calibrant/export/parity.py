"""Every export is run where it was written and compared with the map; one that differs is refused."""

import json
from collections.abc import Callable

import numpy as np

from calibrant._typing import Floats
from calibrant.errors import InvalidInputError, ModelFileError
from calibrant.export.expression_graph import DOMAINS
from calibrant.maps.score import CalibrationMap

TOLERANCE = 1e-12


def check_map(map_: object, caller: str) -> None:
    """Refuse what is no map of one score, such as a calibrator in place of its map."""
    if isinstance(map_, CalibrationMap):
        return
    kind = type(map_).__name__
    advice = "Pass its `map_`." if hasattr(map_, "map_") else f"{caller} is for maps of one score."
    raise InvalidInputError(f"`map_` must be the map of a fitted calibrator; got {kind}. {advice}")


def probe(map_: CalibrationMap) -> Floats:
    """Scores that find a wrong export: a grid, both ends, very small values, all knots and the doubles next to them."""
    knots = map_.function.knots()
    low, high = (0.0, 1.0) if map_.space == "probability" else _span(knots)
    tiny = 10.0 ** np.arange(-18.0, -1.0, 0.5)
    grid = np.concatenate((np.linspace(low, high, 1001), low + tiny * (high - low), high - tiny * (high - low)))
    around = np.concatenate((knots, np.nextafter(knots, np.inf), np.nextafter(knots, -np.inf)))
    scores = np.unique(np.concatenate((grid, around)))
    return scores[(scores >= DOMAINS[map_.space][0]) & (scores <= DOMAINS[map_.space][1])]


def _span(knots: Floats) -> tuple[float, float]:
    """A range of decision scores that contains every knot."""
    if len(knots) == 0:
        return -40.0, 40.0
    wide = 0.1 * float(knots[-1] - knots[0]) + 1.0
    return float(knots[0]) - wide, float(knots[-1]) + wide


def vector(map_: CalibrationMap, n: int = 9) -> tuple[list[float], list[float]]:
    """The few scores and probabilities that an export carries, so that its user can check it too."""
    low, high = (0.0, 1.0) if map_.space == "probability" else _span(map_.function.knots())
    scores = np.linspace(low, high, n).round(6)
    return scores.tolist(), map_(scores).tolist()


def vector_text(map_: CalibrationMap) -> str:
    """The test vector as one line of JSON."""
    scores, probabilities = vector(map_)
    return json.dumps({"scores": scores, "probabilities": probabilities})


def check(
    map_: CalibrationMap | Callable[[Floats], Floats],
    run: Callable[[Floats], Floats],
    target: str,
    tolerance: float = TOLERANCE,
    scores: Floats | None = None,
) -> None:
    """Refuse an export that, when run, differs from the map anywhere on the probe by more than `tolerance`.

    A function in place of the map needs `scores` to be compared at.
    """
    scores = probe(map_) if scores is None and isinstance(map_, CalibrationMap) else np.asarray(scores)
    expected, got = map_(scores), np.asarray(run(scores), dtype=np.float64)
    off = np.abs(expected - got)
    if not (off <= tolerance).all():
        worst = int(np.argmax(np.where(np.isnan(off), np.inf, off)))
        at, mine, other = (float(column[worst]) for column in (scores, expected, got))
        raise ModelFileError(
            f"The export to {target} was refused: at score {at!r} it gives {other!r} where the map gives {mine!r}, "
            f"more than {tolerance:g} apart. Nothing was written; please report this map."
        )
