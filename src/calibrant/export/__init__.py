"""Maps that leave Python: SQL, ONNX, plain Python, C, and the schema of the JSON file.

Every export is run at export time against the map itself, and refused if it computes anything else.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from calibrant.export.classifiers import classifier_to_onnx
    from calibrant.export.jsonschema import schema
    from calibrant.export.onnx import to_onnx
    from calibrant.export.source import to_c, to_python
    from calibrant.export.sql import to_sql

__all__ = ["classifier_to_onnx", "schema", "to_c", "to_onnx", "to_python", "to_sql"]

_HOME = {
    "classifier_to_onnx": "classifiers",
    "schema": "jsonschema",
    "to_c": "source",
    "to_onnx": "onnx",
    "to_python": "source",
    "to_sql": "sql",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'calibrant.export' has no attribute {name!r}")
    return getattr(import_module(f"calibrant.export.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
