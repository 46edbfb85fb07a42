from calibrant.export.classifiers import classifier_to_onnx as classifier_to_onnx
from calibrant.export.jsonschema import schema as schema
from calibrant.export.matrix_sql import matrix_to_sql as matrix_to_sql
from calibrant.export.matrix_torch import to_torch as to_torch
from calibrant.export.onnx import to_onnx as to_onnx
from calibrant.export.source import to_c as to_c
from calibrant.export.source import to_python as to_python
from calibrant.export.sql import to_sql as to_sql
