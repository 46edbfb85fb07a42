"""Calibrated probabilities from the scores of any classifier, with honest uncertainty.

Names load when they are first used, so importing the package stays cheap.
"""

from calibrant import _lazy

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
