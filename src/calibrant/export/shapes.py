"""Which export is written for which shape of data: the one place that knows, and says what serves the others."""

from calibrant.errors import InvalidInputError
from calibrant.maps.base import FrozenMap

__all__ = ["check_shape"]

SHAPES = {"score": "one score", "matrix": "several classes", "segments": "segments"}
TITLES = {"to_sql": "SQL", "to_onnx": "ONNX", "to_torch": "torch", "to_python": "Python"}
OFFERED = {
    "to_sql": ("score", "segments"),
    "to_onnx": ("score", "matrix"),
    "to_torch": ("score", "matrix"),
    "to_python": ("score",),
}


def check_shape(map_: object, caller: str) -> str:
    """The shape of a map that `caller` writes; what it does not write is refused with what serves instead.

    Examples
    --------
    >>> from calibrant import PlattScaling
    >>> from calibrant.export.shapes import check_shape
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
        raise InvalidInputError(
            f"{TITLES[caller]} is written for maps of {written}; this is a map of {SHAPES[shape]}. Export it to "
            f"{others}, or save it: `calibrant.load` needs numpy alone."
        )
    return shape
