"""Maps that leave Python: SQL, ONNX, plain Python, C, and the schema of the JSON file.

Every export is run at export time against the map itself, and refused if it computes anything else.
"""

from typing import TYPE_CHECKING

from calibrant import _lazy

if TYPE_CHECKING:
    from calibrant.export.classifiers import classifier_to_onnx as classifier_to_onnx
    from calibrant.export.jsonschema import schema as schema
    from calibrant.export.matrix_sql import matrix_to_sql as matrix_to_sql
    from calibrant.export.matrix_torch import to_torch as to_torch
    from calibrant.export.onnx import to_onnx as to_onnx
    from calibrant.export.source import to_c as to_c
    from calibrant.export.source import to_python as to_python
    from calibrant.export.sql import to_sql as to_sql

__getattr__, __dir__, __all__ = _lazy.attach(
    __name__,
    {
        "classifiers": "classifier_to_onnx",
        "jsonschema": "schema",
        "matrix_sql": "matrix_to_sql",
        "matrix_torch": "to_torch",
        "onnx": "to_onnx",
        "source": "to_c to_python",
        "sql": "to_sql",
    },
)
