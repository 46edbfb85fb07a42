"""One line for each method: the name under which everything else finds it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from calibrant.errors import InvalidInputError

if TYPE_CHECKING:
    from calibrant.calibrators.base import Calibrator

__all__ = ["DEFAULT_METHOD", "METHODS", "create", "get"]

#: The method that is taken where none is named.
DEFAULT_METHOD = "blend"

#: The name of each method, with its module and its class.
METHODS: dict[str, tuple[str, str]] = {
    "identity": ("identity", "Identity"),
    "platt": ("platt", "PlattScaling"),
    "temperature": ("temperature", "TemperatureScaling"),
    "beta": ("beta", "BetaCalibration"),
    "isotonic": ("isotonic", "IsotonicCalibration"),
    "histogram": ("histogram", "HistogramBinning"),
    "sbb": ("sbb", "SBB"),
    "abb": ("abb", "ABB"),
    "bbq": ("bbq", "BBQ"),
    "bayes_iso": ("bayes_iso", "BayesIso"),
    "enir": ("enir", "ENIR"),
    "venn_abers": ("venn_abers", "VennAbers"),
    "spline": ("spline", "SplineCalibration"),
    "bpm": ("bpm", "BPM"),
    "acp": ("acp", "ACP"),
    "ets": ("ensemble_temperature", "EnsembleTemperatureScaling"),
    "bayes_temperature": ("bayes_temperature", "BayesianTemperature"),
    "blend": ("blend", "Blend"),
}


def get(name: str) -> type[Calibrator]:
    """The class of the method `name`.

    Examples
    --------
    >>> from calibrant.calibrators import registry
    >>> registry.get("abb").__name__
    'ABB'
    """
    if name not in METHODS:
        raise InvalidInputError(f"`method` must be one of {', '.join(sorted(METHODS))}, or a calibrator; got {name!r}.")
    module, cls = METHODS[name]
    found: type[Calibrator] = getattr(import_module(f"calibrant.calibrators.{module}"), cls)
    return found


def create(name: str, **parameters: Any) -> Calibrator:
    """A new calibrator of the method `name`.

    Examples
    --------
    >>> from calibrant.calibrators import registry
    >>> registry.create("histogram", n_bins=20)
    HistogramBinning(n_bins=20)
    """
    return get(name)(**parameters)
