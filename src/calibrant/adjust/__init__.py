"""Maps and calibrators for other populations: prior shifts, a portfolio's mean, an update; and their explanations."""

from calibrant import _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
