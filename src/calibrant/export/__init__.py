"""Maps that leave Python: SQL, ONNX, torch and plain Python.

Every export is run at export time against the map itself, and refused if it computes anything else.
"""

from calibrant import _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
