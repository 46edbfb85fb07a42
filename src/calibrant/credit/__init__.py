"""Rating grades: tests of their default rates, and a master scale."""

from calibrant import _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
