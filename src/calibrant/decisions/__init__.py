"""The worth of probabilities to someone who acts on them: net benefit, costs, and the value of calibrating first."""

from calibrant import _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
