"""Measures of probabilities: proper scores, discrimination, calibration errors, intervals and tests.

Every metric takes ``(y_true, y_prob)`` with optional weights, or a `Tally` in their place. Compare models by a proper
score (`log_loss`, `brier_score`); use calibration errors to see what is wrong with one of them.
"""

from calibrant import _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
