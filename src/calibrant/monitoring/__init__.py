"""Is a deployed calibration still right? Tests that may be looked at every day, and refits without the old rows."""

from calibrant import _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
