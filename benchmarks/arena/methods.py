"""The contestants: each takes calibration rows and test scores and returns test probabilities.

A peer is imported inside its adapter only; where it is not installed, that import is the reason of the skip. Names are
those of the recorded results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fnmatch import fnmatch
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from scipy.special import logit

from calibrant.calibrators import registry

__all__ = ["METHODS", "chosen", "find", "foreign_class"]

Method = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
LOGIT_CLIP = 1e-12  # where scikit-learn is given logits: the value of the recorded results


def _calibrant(name: str, p: np.ndarray, y: np.ndarray, test: np.ndarray) -> np.ndarray:
    return registry.create(name).fit(p, y).predict(test)


def _foreign(name: str, p: np.ndarray, y: np.ndarray, test: np.ndarray) -> np.ndarray:
    """A class anywhere, named `package.module:Class`, with `fit` and `predict` of one score."""
    out: np.ndarray = foreign_class(name)().fit(p, y).predict(test)
    return out


def foreign_class(name: str) -> Any:
    """The class of a name `package.module:Class`; what cannot be found ends the run before it begins."""
    module, _, cls = name.partition(":")
    try:
        return getattr(import_module(module), cls)
    except (ImportError, AttributeError) as error:
        raise SystemExit(
            f"The method {name} cannot be imported: {error}. Name a class as package.module:Class."
        ) from error


def _raw(p: np.ndarray, y: np.ndarray, test: np.ndarray) -> np.ndarray:  # noqa: ARG001 - nothing to learn
    return test


def _sklearn_isotonic(p: np.ndarray, y: np.ndarray, test: np.ndarray) -> np.ndarray:
    from sklearn.isotonic import IsotonicRegression

    return IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip").fit(p, y).predict(test)


def _sklearn_calibrated(kind: str, on_logits: bool, p: np.ndarray, y: np.ndarray, test: np.ndarray) -> np.ndarray:
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.frozen import FrozenEstimator

    from benchmarks.arena.passing import Passing

    p, test = (_logits(p), _logits(test)) if on_logits else (p, test)
    model = CalibratedClassifierCV(FrozenEstimator(Passing().fit(p[:, None], y)), method=kind)
    return model.fit(p[:, None], y).predict_proba(test[:, None])[:, 1]


def _betacal(p: np.ndarray, y: np.ndarray, test: np.ndarray) -> np.ndarray:
    from betacal import BetaCalibration

    return BetaCalibration("abm").fit(p[:, None], y).predict(test[:, None])


def _venn_abers(p: np.ndarray, y: np.ndarray, test: np.ndarray) -> np.ndarray:
    from venn_abers import VennAbers

    return VennAbers().fit(_columns(p), y).predict_proba(_columns(test))[0][:, 1]


def _probmetrics(name: str, p: np.ndarray, y: np.ndarray, test: np.ndarray) -> np.ndarray:
    from probmetrics.calibrators import get_calibrator

    return get_calibrator(name).fit(_columns(p), y).predict_proba(_columns(test))[:, 1]


def _probmetrics_ets(p: np.ndarray, y: np.ndarray, test: np.ndarray) -> np.ndarray:
    from probmetrics.calibrators import ETSCalibrator

    return ETSCalibrator().fit(_columns(p), y).predict_proba(_columns(test))[:, 1]


def _probmetrics_xgboost(p: np.ndarray, y: np.ndarray, test: np.ndarray) -> np.ndarray:
    """Shallow trees on the logit, five folds, with one thread where OMP_NUM_THREADS says so."""
    from probmetrics.calibrators.trees import XGBoostCalibrator

    return XGBoostCalibrator().fit(_columns(p), y).predict_proba(_columns(test))[:, 1]


def _probmetrics_cdf_spline(p: np.ndarray, y: np.ndarray, test: np.ndarray) -> np.ndarray:
    """Gupta et al. 2021; its answers beyond 0 and 1 are moved there, which lowers its Brier score."""
    from probmetrics.calibrators import CDFSplineCalibrator

    return CDFSplineCalibrator().fit(_columns(p), y).predict_proba(_columns(test))[:, 1].clip(0.0, 1.0)


def _probmetrics_kernel(likelihood: bool, p: np.ndarray, y: np.ndarray, test: np.ndarray) -> np.ndarray:
    """Means of labels under a beta kernel (Popordanoska et al. 2022), as wide as Scott's rule of the package says.

    With `likelihood` the bandwidth has the highest likelihood of rows left out, as in the paper.
    """
    import torch
    from probmetrics.calibrators import KernelCalibrator

    torch.set_num_threads(1)
    scores = _columns(p)
    width = KernelCalibrator()._get_bandwidth(torch.as_tensor(scores)) if likelihood else None
    return KernelCalibrator(width).fit(scores, y).predict_proba(_columns(test))[:, 1]


def _mapie(p: np.ndarray, y: np.ndarray, test: np.ndarray) -> np.ndarray:
    from mapie.calibration import VennAbersCalibrator

    from benchmarks.arena.passing import Passing

    model = VennAbersCalibrator(Passing().fit(p[:, None], y), cv="prefit")
    return model.fit(p[:, None], y).predict_proba(test[:, None])[:, 1]


def _netcal_bbq(p: np.ndarray, y: np.ndarray, test: np.ndarray) -> np.ndarray:
    from netcal.binning import BBQ

    model = BBQ()
    model.fit(p, y)
    return model.transform(test)


def _splinecalib(p: np.ndarray, y: np.ndarray, test: np.ndarray) -> np.ndarray:
    from splinecalib import SplineCalib

    model = SplineCalib()
    model.fit(p, y)
    return model.calibrate(test)


def _catboost(monotone: bool, p: np.ndarray, y: np.ndarray, test: np.ndarray) -> np.ndarray:
    """Trees on the logit, set as in probmetrics 1.3.0, which leads public boards with them."""
    from catboost import CatBoostClassifier

    options = {"monotone_constraints": "(1)"} if monotone else {}
    model = CatBoostClassifier(iterations=100, verbose=0, allow_writing_files=False, thread_count=1, **options)
    return model.fit(_logits(p)[:, None], y).predict_proba(_logits(test)[:, None])[:, 1]


def _lightgbm(p: np.ndarray, y: np.ndarray, test: np.ndarray) -> np.ndarray:
    """Shallow trees on the logit, five folds that stop each other early, set as in probmetrics 1.3.0."""
    import lightgbm
    from sklearn.model_selection import StratifiedKFold

    options = {"objective": "binary", "max_depth": 3, "num_leaves": 8, "verbose": -1, "num_threads": 1}
    X, found = _logits(p)[:, None], []
    for train, rest in StratifiedKFold(5, shuffle=True, random_state=42).split(X, y):
        rows = lightgbm.Dataset(X[train], y[train])
        others = lightgbm.Dataset(X[rest], y[rest], reference=rows)
        stop = lightgbm.early_stopping(50, verbose=False)
        model = lightgbm.train(options, rows, valid_sets=[others], callbacks=[stop])
        found.append(model.predict(_logits(test)[:, None]))
    return np.mean(found, axis=0)


def _probcal(name: str, p: np.ndarray, y: np.ndarray, test: np.ndarray) -> np.ndarray:
    import probcal

    return getattr(probcal, name)().fit(p, y).predict_proba(test)


def _columns(p: np.ndarray) -> np.ndarray:
    return np.column_stack((1.0 - p, p))


def _logits(p: np.ndarray) -> np.ndarray:
    return logit(np.clip(p, LOGIT_CLIP, 1.0 - LOGIT_CLIP))


PEERS: dict[str, Method] = {
    "ref.raw": _raw,
    "sklearn.IsotonicRegression": _sklearn_isotonic,
    "sklearn.CCV-sigmoid(p)": partial(_sklearn_calibrated, "sigmoid", False),
    "sklearn.CCV-sigmoid(logit)": partial(_sklearn_calibrated, "sigmoid", True),
    "sklearn.CCV-temperature": partial(_sklearn_calibrated, "temperature", True),
    "betacal.abm": _betacal,
    "venn_abers.VennAbers": _venn_abers,
    "mapie.VennAbers": _mapie,
    "netcal.BBQ": _netcal_bbq,
    "splinecalib.SplineCalib": _splinecalib,
    "catboost.logit": partial(_catboost, False),
    "catboost.logit-monotone": partial(_catboost, True),
    "lightgbm.logit": _lightgbm,
    "probmetrics.ETS": _probmetrics_ets,
    "probmetrics.cdf-spline": _probmetrics_cdf_spline,
    "probmetrics.cir": partial(_probmetrics, "cir"),
    "probmetrics.ivap": partial(_probmetrics, "ivap"),
    "probmetrics.kernel": partial(_probmetrics_kernel, False),
    "probmetrics.kernel-likelihood": partial(_probmetrics_kernel, True),
    "probmetrics.logistic-mix": partial(_probmetrics, "logistic-mix"),
    "probmetrics.quadratic": partial(_probmetrics, "quadratic-scaling"),
    "probmetrics.xgboost": _probmetrics_xgboost,
    "probcal.BBQCalibrator": partial(_probcal, "BBQCalibrator"),
    "probcal.CalibratorSelector": partial(_probcal, "CalibratorSelector"),
    "probcal.ENIRCalibrator": partial(_probcal, "ENIRCalibrator"),
    "probcal.SplineCalibrator": partial(_probcal, "SplineCalibrator"),
}
METHODS: dict[str, Method] = {
    **{f"calibrant.{name}": partial(_calibrant, name) for name in registry.names()},
    **PEERS,
}


def find(name: str) -> Method:
    """The method of that name; one with a colon is a class of another package."""
    return partial(_foreign, name) if ":" in name else METHODS[name]


def chosen(patterns: list[str], methods: Iterable[str] | None = None) -> list[str]:
    """The names of methods that fit the patterns, and classes of other packages; all without patterns."""
    methods = METHODS if methods is None else methods
    foreign = [pattern for pattern in patterns if ":" in pattern]
    for name in foreign:
        foreign_class(name)
    for pattern in patterns:
        if ":" not in pattern and not any(fnmatch(name, pattern) for name in methods):
            raise SystemExit(f"No method fits {pattern}; there are {', '.join(methods)}.")
    return [name for name in methods if not patterns or any(fnmatch(name, p) for p in patterns)] + foreign
