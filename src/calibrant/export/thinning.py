"""Maps of many pieces with fewer, for languages in which every piece is a line of text."""

from dataclasses import replace

import numpy as np

from calibrant._compiled import polyline
from calibrant._numerics import links
from calibrant._typing import Floats
from calibrant.errors import InvalidInputError
from calibrant.export import parity
from calibrant.maps.functions import Chain, Linear, LogitLinear, MapFunction, Step
from calibrant.maps.score import CalibrationMap

__all__ = ["MOST_PIECES", "thin"]

MOST_PIECES = 400
TOLERANCES = np.geomspace(1e-6, 1e-2, 17)  # of probabilities; the smallest that will do is taken
ON_LOGITS = 100.0  # times as much on the logit scale, where probabilities are too small to show it


def thin(map_: CalibrationMap) -> tuple[CalibrationMap, float]:
    """A map of at most `MOST_PIECES` pieces, and its largest distance from the given one: 0 where that is short itself.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant import CalibrationMap
    >>> from calibrant.maps.functions import Linear
    >>> x = np.linspace(0.0, 1.0, 2001)
    >>> short, off = thin(CalibrationMap(Linear(x, x**2), "probability"))
    >>> len(short.function.x) < 400, off < 1e-5
    (True, True)
    """
    if _pieces(map_.function) <= MOST_PIECES:
        return map_, 0.0
    for tolerance in TOLERANCES:
        shorter = replace(map_, function=_thin(map_.function, tolerance))
        if _pieces(shorter.function) <= MOST_PIECES:
            scores = parity.probe(map_)
            return shorter, float(np.abs(shorter(scores) - map_(scores)).max())
    raise InvalidInputError(
        f"This map has {_pieces(map_.function)} pieces, and {MOST_PIECES} cannot follow it within {TOLERANCES[-1]:g}. "
        "Export it to Python or ONNX, or fit a smoother method."
    )


def _pieces(function: MapFunction) -> int:
    if isinstance(function, Chain):
        return sum(_pieces(part) for part in function.parts)
    return len(function.values) if isinstance(function, Step) else len(function.knots())


def _thin(function: MapFunction, tolerance: float) -> MapFunction:
    if isinstance(function, Chain):
        return Chain(tuple(_thin(part, tolerance) for part in function.parts))
    if isinstance(function, Step):
        return _thin_steps(function, tolerance)
    if isinstance(function, LogitLinear):
        margin = links.expit(function.y) * links.expit(-function.y)
        kept = polyline.simplify(function.x, function.y, np.minimum(tolerance / margin, ON_LOGITS * tolerance))
        return replace(function, x=function.x[kept], y=function.y[kept])
    if isinstance(function, Linear):
        kept = polyline.simplify(function.x, function.y, np.full(len(function.x), tolerance))
        return Linear(function.x[kept], function.y[kept])
    return function


def _thin_steps(function: Step, tolerance: float) -> Step:
    """Neighbouring steps that are all within the tolerance of their middle, as one."""
    starts, middles = [0], []
    low = high = function.values[0]
    for i, value in enumerate(function.values):
        if max(high, value) - min(low, value) > 2.0 * tolerance:
            middles.append(0.5 * (low + high))
            starts.append(i)
            low = high = value
        low, high = min(low, value), max(high, value)
    edges: Floats = function.edges[np.array(starts[1:], dtype=int) - 1]
    return Step(edges, np.array([*middles, 0.5 * (low + high)]))
