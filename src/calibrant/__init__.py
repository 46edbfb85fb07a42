"""Calibrated probabilities from the scores of any classifier, with honest uncertainty.

Names load when they are first used, so importing the package stays cheap.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from calibrant import (
        adjust,
        comparison,
        engines,
        errors,
        export,
        metrics,
        monitoring,
        reliability,
        report,
        simulate,
    )
    from calibrant.calibrators.abb import ABB
    from calibrant.calibrators.acp import ACP
    from calibrant.calibrators.bayes_iso import BayesIso
    from calibrant.calibrators.bayes_temperature import BayesianTemperature
    from calibrant.calibrators.bbq import BBQ
    from calibrant.calibrators.beta import BetaCalibration
    from calibrant.calibrators.blend import Blend
    from calibrant.calibrators.bpm import BPM
    from calibrant.calibrators.enir import ENIR
    from calibrant.calibrators.ensemble_temperature import EnsembleTemperatureScaling
    from calibrant.calibrators.histogram import HistogramBinning
    from calibrant.calibrators.identity import Identity
    from calibrant.calibrators.isotonic import IsotonicCalibration
    from calibrant.calibrators.platt import PlattScaling
    from calibrant.calibrators.registry import register
    from calibrant.calibrators.sbb import SBB
    from calibrant.calibrators.spline import SplineCalibration
    from calibrant.calibrators.temperature import TemperatureScaling
    from calibrant.calibrators.venn_abers import VennAbers
    from calibrant.classifier import CalibratedClassifier
    from calibrant.comparison.compare import compare
    from calibrant.displays.calibration_map import CalibrationMapDisplay
    from calibrant.displays.reliability import ReliabilityDisplay
    from calibrant.maps import CalibrationMap, load
    from calibrant.metrics.evaluation import evaluate
    from calibrant.tally import Tally

__version__ = "0.1.0"

__all__ = [
    "ABB",
    "ACP",
    "BBQ",
    "BPM",
    "ENIR",
    "SBB",
    "BayesIso",
    "BayesianTemperature",
    "BetaCalibration",
    "Blend",
    "CalibratedClassifier",
    "CalibrationMap",
    "CalibrationMapDisplay",
    "EnsembleTemperatureScaling",
    "HistogramBinning",
    "Identity",
    "IsotonicCalibration",
    "PlattScaling",
    "ReliabilityDisplay",
    "SplineCalibration",
    "Tally",
    "TemperatureScaling",
    "VennAbers",
    "adjust",
    "compare",
    "comparison",
    "engines",
    "errors",
    "evaluate",
    "export",
    "load",
    "metrics",
    "monitoring",
    "register",
    "reliability",
    "report",
    "simulate",
]

_NAMESPACES = (
    "adjust",
    "comparison",
    "engines",
    "errors",
    "export",
    "metrics",
    "monitoring",
    "reliability",
    "report",
    "simulate",
)

_HOME = {
    "CalibratedClassifier": "classifier",
    "CalibrationMap": "maps",
    "CalibrationMapDisplay": "displays.calibration_map",
    "ReliabilityDisplay": "displays.reliability",
    "Tally": "tally",
    "compare": "comparison.compare",
    "evaluate": "metrics.evaluation",
    "load": "maps",
    "register": "calibrators.registry",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'calibrant' has no attribute {name!r}")
    if name in _NAMESPACES:
        return import_module(f"calibrant.{name}")
    module = _HOME.get(name) or _calibrator_module(name)
    value = getattr(import_module(f"calibrant.{module}"), name)
    globals()[name] = value
    return value


def _calibrator_module(name: str) -> str:
    from calibrant.calibrators.registry import METHODS

    return next(f"calibrators.{module}" for module, cls in METHODS.values() if cls == name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
