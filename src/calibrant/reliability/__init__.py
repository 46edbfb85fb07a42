"""The numbers of a reliability diagram: binned points with exact intervals, a curve, and how the scores lie."""

from calibrant import _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
