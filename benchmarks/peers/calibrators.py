"""One function for each calibrator: scores and labels to fit, scores to predict, probabilities back.

Data go to the library as they are. Where it wants a column or two, the array gets them without being looked at, so that
whatever is refused or let through is the library's doing.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from calibrant.calibrators import registry

__all__ = ["CALIBRATORS", "Adapter", "missing"]

Adapter = Callable[[Any, Any, Any], np.ndarray]


def _calibrant(name: str, s: Any, y: Any, new: Any) -> np.ndarray:
    return registry.create(name).fit(s, y).predict(new)


def _sklearn_isotonic(s: Any, y: Any, new: Any) -> np.ndarray:
    from sklearn.isotonic import IsotonicRegression

    return IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip").fit(s, y).predict(new)


def _sklearn_sigmoid(s: Any, y: Any, new: Any) -> np.ndarray:
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.frozen import FrozenEstimator

    from benchmarks.arena.passing import Passing

    model = CalibratedClassifierCV(FrozenEstimator(Passing().fit(_column(s), y)), method="sigmoid")
    return model.fit(_column(s), y).predict_proba(_column(new))[:, 1]


def _betacal(s: Any, y: Any, new: Any) -> np.ndarray:
    from betacal import BetaCalibration

    return BetaCalibration("abm").fit(s, y).predict(new)


def _venn_abers(s: Any, y: Any, new: Any) -> np.ndarray:
    from venn_abers import VennAbers

    return VennAbers().fit(_two(s), y).predict_proba(_two(new))[0][:, 1]


def _netcal(module: str, name: str, s: Any, y: Any, new: Any) -> np.ndarray:
    from importlib import import_module

    model = getattr(import_module(f"netcal.{module}"), name)()
    model.fit(s, y)
    return np.asarray(model.transform(new))


def _splinecalib(s: Any, y: Any, new: Any) -> np.ndarray:
    from splinecalib import SplineCalib

    model = SplineCalib()
    model.fit(s, y)
    return np.asarray(model.calibrate(new))


def _probmetrics(name: str, s: Any, y: Any, new: Any) -> np.ndarray:
    from probmetrics.calibrators import get_calibrator

    return get_calibrator(name).fit(_two(s), y).predict_proba(_two(new))[:, 1]


def _probcal(name: str, s: Any, y: Any, new: Any) -> np.ndarray:
    import probcal

    return getattr(probcal, name)().fit(s, y).predict_proba(new)


def _uncertainty(s: Any, y: Any, new: Any) -> np.ndarray:
    import calibration

    model = calibration.PlattBinnerCalibrator(num_calibration=len(s), num_bins=10)
    model.train_calibration(s, y)
    return np.asarray(model.calibrate(new))


def _column(s: Any) -> Any:
    return np.asarray(s)[:, None]


def _two(s: Any) -> Any:
    """The columns of both classes; text has no difference to 1."""
    s = np.asarray(s)
    return np.column_stack((s if s.dtype.kind in "UO" else 1.0 - s, s))


CALIBRATORS: dict[str, Adapter] = {
    "calibrant Blend": partial(_calibrant, "blend"),
    "calibrant isotonic": partial(_calibrant, "isotonic"),
    "scikit-learn isotonic": _sklearn_isotonic,
    "scikit-learn sigmoid": _sklearn_sigmoid,
    "betacal": _betacal,
    "venn-abers": _venn_abers,
    "netcal BBQ": partial(_netcal, "binning", "BBQ"),
    "netcal isotonic": partial(_netcal, "binning", "IsotonicRegression"),
    "netcal temperature": partial(_netcal, "scaling", "TemperatureScaling"),
    "splinecalib": _splinecalib,
    "probmetrics ivap": partial(_probmetrics, "ivap"),
    "probmetrics quadratic": partial(_probmetrics, "quadratic-scaling"),
    "probcal spline": partial(_probcal, "SplineCalibrator"),
    "probcal isotonic": partial(_probcal, "IsotonicCalibrator"),
    "uncertainty-calibration": _uncertainty,
}


def missing(adapter: Adapter) -> str | None:
    """The reason why a calibrator cannot run here, or None."""
    rng = np.random.default_rng(0)
    s = rng.random(60)
    try:
        adapter(s, (rng.random(60) < s).astype(int), s)
    except ImportError as error:
        return str(error)
    return None
