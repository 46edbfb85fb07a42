"""Pictures in the style of scikit-learn's displays: numbers first, drawing with `plot`."""

from calibrant import _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
