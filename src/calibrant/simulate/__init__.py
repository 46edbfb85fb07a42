"""Data with a known truth: every simulation returns scores, labels and the true probability of each score."""

from calibrant import _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
