"""What an export is held to: a shape of data that it is written for, and the numbers of the map.

Every export is run where it was written and compared with the map; one that differs is refused.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from calibrant._numerics.links import softmax
from calibrant._typing import Floats
from calibrant.errors import InvalidInputError, ModelFileError
from calibrant.export.panel_graph import optional_scores
from calibrant.maps.base import FrozenMap, domain
from calibrant.maps.matrix import MatrixMap
from calibrant.maps.panel import PanelMap
from calibrant.maps.panel_features import NumericScore
from calibrant.maps.tabulate import ON_PROBABILITIES, tabulate_scores

TOLERANCE = 1e-12
PANEL_TOLERANCE = 1e-9  # sums of hundreds of terms
PANEL_ROWS = 400
RANDOM_ROWS = 12  # of a matrix, at each scale
MOST_SURE = 20  # classes with a row that is sure of them

SHAPES = {"score": "one score", "matrix": "several classes", "segments": "segments", "panel": "several scores"}
TITLES = {"to_sql": "SQL", "to_onnx": "ONNX", "to_torch": "torch", "to_python": "Python"}
OFFERED = {
    "to_sql": ("score", "segments", "panel"),
    "to_onnx": ("score", "matrix", "panel"),
    "to_torch": ("score", "matrix"),
    "to_python": ("score", "panel"),
}


def check_shape(map_: object, caller: str) -> str:
    """The shape of a map that `caller` writes; what it does not write is refused with what serves instead.

    Examples
    --------
    >>> from calibrant import PlattScaling
    >>> from calibrant.export.parity import check_shape
    >>> check_shape(PlattScaling().fit([0.1, 0.4, 0.6, 0.9], [0, 1, 0, 1]).map_, "to_sql")
    'score'
    """
    if not isinstance(map_, FrozenMap):
        advice = "Pass its `map_`." if hasattr(map_, "map_") else "`calibrant.load` reads one from a file."
        raise InvalidInputError(f"`map_` must be the map of a fitted calibrator; got {type(map_).__name__}. {advice}")
    shape = map_.kind
    if shape not in OFFERED[caller]:
        written = " or ".join(SHAPES[other] for other in OFFERED[caller])
        others = " or ".join(f"{TITLES[name]} (`{name}`)" for name, shapes in OFFERED.items() if shape in shapes)
        instead = f"Export it to {others}, or save it" if others else "Save it"
        raise InvalidInputError(
            f"{TITLES[caller]} is written for maps of {written}; this is a map of {SHAPES[shape]}. {instead}: "
            "`calibrant.load` needs numpy alone."
        )
    return shape


def probe(map_: FrozenMap) -> Any:
    """Scores that find a wrong export of a map: (n,); for several classes (n, K); for several scores their columns."""
    if isinstance(map_, PanelMap):
        return _probe_panel(map_)
    return _probe_matrix(map_) if isinstance(map_, MatrixMap) else _probe_score(map_)


def as_rows(scores: Any) -> list[Any]:
    """Rows as plain values; those of several columns as dictionaries, in which None is missing."""
    if not isinstance(scores, dict):
        return list(scores.tolist())
    columns = [[None if x != x else x for x in values.tolist()] for values in scores.values()]  # noqa: PLR0124
    return [dict(zip(scores, row, strict=True)) for row in zip(*columns, strict=True)]


def _probe_score(map_: Any) -> Floats:
    """A grid, both ends, very small values, all knots and the doubles next to them."""
    knots = map_.function.knots()
    if map_.space == "probability":
        low, high = 0.0, 1.0
    elif len(knots):
        wide = 0.1 * float(knots[-1] - knots[0]) + 1.0
        low, high = float(knots[0]) - wide, float(knots[-1]) + wide
    else:
        low, high = -40.0, 40.0
    tiny = 10.0 ** np.arange(-18.0, -1.0, 0.5)
    grid = np.concatenate((np.linspace(low, high, 1001), low + tiny * (high - low), high - tiny * (high - low)))
    around = np.concatenate((knots, np.nextafter(knots, np.inf), np.nextafter(knots, -np.inf)))
    scores = np.unique(np.concatenate((grid, around)))
    lowest, highest = domain(map_.space)
    return scores[(scores >= lowest) & (scores <= highest)]


def _probe_matrix(map_: MatrixMap) -> Floats:
    """Rows that are undecided, sure (of probabilities with exact zeros), and random at all scales."""
    n_classes = len(map_.classes)
    sure = np.eye(n_classes)[:MOST_SURE]
    rng = np.random.default_rng(0)
    logits = np.concatenate([scale * rng.normal(size=(RANDOM_ROWS, n_classes)) for scale in (0.0, 0.3, 1.0, 3.0, 10.0)])
    if map_.space != "probability":
        return np.concatenate((logits, 500.0 * sure))
    return np.concatenate((softmax(logits), sure, softmax(np.concatenate((10.0 * sure, 33.0 * sure)))))


def _probe_panel(map_: PanelMap) -> dict[str, Any]:
    """Knots and ends of all scores, values between and beyond them; some are missing where they may be or new."""
    rng, out, may_lack = np.random.default_rng(0), {}, optional_scores(map_)
    for j, score in enumerate(map_.features.scores):
        if isinstance(score, NumericScore):
            far = score.mean + np.array([-9.0, 9.0]) * score.deviation
            low, high = domain(score.space) if score.space == "probability" else far
            places = np.concatenate((score.scores, score.alone.knots(), rng.uniform(low, high, 40), [low, high]))
            values = rng.choice(np.append(places, np.nan) if j in may_lack else places, PANEL_ROWS)
            out[score.name] = np.where(rng.random(PANEL_ROWS) < 0.2, np.nan, values) if j in may_lack else values
        else:
            levels = [*score.levels, None, "no level of the fit"]
            out[score.name] = np.array([levels[i] for i in rng.integers(0, len(levels), PANEL_ROWS)], dtype=object)
    return out


def with_ends(map_: Any, level: float | None) -> tuple[dict[str, Any], float]:
    """What is written: the map and, with a level, both ends of its intervals as maps; and how far these may be off."""
    if level is None:
        return {"probability": map_}, 0.0
    if map_.kind != "score":
        raise InvalidInputError(
            f"`level` is for maps of one score; this is a map of {SHAPES[map_.kind]}. Leave it out."
        )
    table = map_.need_posterior().scores
    # Beyond the table the map alone goes on, and an end that it reaches goes with it.
    far = (table[-1] - table[0]) * 2.0 ** np.arange(-3.0, 9.0)
    nodes = np.unique(np.concatenate((table, map_.function.knots(), table[0] - far, table[-1] + far)))
    nodes, scores = nodes[map_.accepts(nodes)], probe(map_)

    def end(side: int) -> Any:
        function = tabulate_scores(lambda s: map_.predict_interval(s, level)[side], nodes)
        return replace(map_, function=function, monotone=False, posterior=None)

    ends = {"probability_low": end(0), "probability_high": end(1)}
    off = np.abs(np.array(map_.predict_interval(scores, level)) - [own(scores) for own in ends.values()])
    return {"probability": map_} | ends, max(float(off.max()), ON_PROBABILITIES)


def tolerance_of(map_: FrozenMap) -> float:
    """How far an export may be from the map."""
    return PANEL_TOLERANCE if isinstance(map_, PanelMap) else TOLERANCE


def check(map_: FrozenMap, run: Callable[[Any], Floats], target: str) -> None:
    """Refuse an export that, when run, differs from the map anywhere on the probe."""
    scores = probe(map_)
    compare(as_rows(scores), map_(scores), run(scores), target, tolerance_of(map_))


def compare(rows: Sequence[Any], expected: Floats, got: Floats, target: str, tolerance: float = TOLERANCE) -> None:
    """Refuse an export that gives `got` for `rows` where the map gives `expected`."""
    got = np.asarray(got, dtype=np.float64)
    if got.shape != expected.shape:
        raise ModelFileError(f"The export to {target} was refused: it gives shape {got.shape}, not {expected.shape}.")
    off = np.abs(expected - got)
    if not (off <= tolerance).all():
        worst = np.unravel_index(int(np.argmax(np.where(np.isnan(off), np.inf, off))), off.shape)
        raise ModelFileError(
            f"The export to {target} was refused: at score {rows[int(worst[0])]!r} it gives {float(got[worst])!r} "
            f"where the map gives {float(expected[worst])!r}, more than {tolerance:g} apart. Nothing was written; "
            "please report this map."
        )
