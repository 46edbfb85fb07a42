from calibrant.export.onnx import to_onnx as to_onnx
from calibrant.export.source import to_python as to_python
from calibrant.export.sql import to_sql as to_sql
from calibrant.export.torch import to_torch as to_torch
