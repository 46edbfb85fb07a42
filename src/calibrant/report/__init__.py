"""The report: one HTML file that says whether a model is calibrated, and what to do; the TRIPOD+AI checklist."""

from calibrant import _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
