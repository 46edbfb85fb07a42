"""The published JSON Schema of a saved map, derived from the functions themselves."""

from dataclasses import fields
from typing import Any

from calibrant.maps.functions import MAP_FUNCTIONS, MapFunction
from calibrant.maps.posterior_table import MOST_DRAWS
from calibrant.maps.score import FORMAT, SPACES, VERSION

NUMBERS = {"type": "array", "items": {"type": "number"}}
KINDS: dict[str, dict[str, Any]] = {
    "Floats": NUMBERS,
    "float": {"type": "number"},
    "int": {"type": "integer"},
    "str": {"type": "string"},
    "tuple[MapFunction, ...]": {"type": "array", "items": {"$ref": "#/$defs/function"}, "minItems": 1},
}


def schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of the files that `CalibrationMap.save` writes.

    Examples
    --------
    >>> from calibrant.export import schema
    >>> sorted(schema()["required"])
    ['checksum', 'format', 'map', 'test_vector', 'version']
    """
    functions = {name: _function(function) for name, function in MAP_FUNCTIONS.items()}
    document = _object(
        {
            "format": {"const": FORMAT},
            "version": {"type": "integer", "minimum": 1, "maximum": VERSION},
            "map": _object(
                {
                    "method": {"type": "string"},
                    "space": {"enum": list(SPACES)},
                    "monotone": {"type": "boolean"},
                    "function": {"$ref": "#/$defs/function"},
                }
            ),
            "test_vector": _object({"scores": NUMBERS, "probabilities": NUMBERS}),
            "checksum": {"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"},
        }
    )
    # A file may leave these out.
    document["properties"]["posterior"] = _posterior()
    document["properties"]["map"]["properties"]["fitted_range"] = NUMBERS | {"minItems": 2, "maxItems": 2}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "calibrant map",
        "description": "A calibration map with a checksum over everything else and a test vector to replay.",
        **document,
        "$defs": functions | {"function": {"oneOf": [{"$ref": f"#/$defs/{name}"} for name in functions]}},
    }


def _posterior() -> dict[str, Any]:
    rows = {"type": "array", "items": NUMBERS}
    return {
        "description": "Draws of the map at some scores (base64 of two bytes each, logits from -16 to 16), the ends of "
        "intervals at some levels, and where the labelled rows lie.",
        **_object(
            {
                "scores": NUMBERS,
                "n_draws": {"type": "integer", "minimum": 1, "maximum": MOST_DRAWS},
                "draws": {"type": "string", "contentEncoding": "base64"},
                "levels": NUMBERS,
                "low": rows,
                "high": rows,
                "labelled": _object({"scores": NUMBERS, "positives": NUMBERS, "totals": NUMBERS}),
                "range": NUMBERS | {"minItems": 2, "maxItems": 2},
            }
        ),
    }


def _function(function: type[MapFunction]) -> dict[str, Any]:
    numbers = {field.name: KINDS.get(str(field.type), {}) for field in fields(function)}
    description = (function.__doc__ or "").strip()
    return {"description": description, **_object({"kind": {"const": function.name}} | numbers)}


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
