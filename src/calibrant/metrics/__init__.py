"""Measures of probabilities: proper scores, discrimination, calibration errors, intervals and tests.

Every metric takes ``(y_true, y_prob)`` with optional weights, or a `Tally` in their place. Compare models by a proper
score (`log_loss`, `brier_score`); use calibration errors to see what is wrong with one of them.
"""

from __future__ import annotations

from calibrant.metrics.binned import (
    adaptive_calibration_error,
    expected_calibration_error,
    maximum_calibration_error,
)
from calibrant.metrics.bootstrap import Interval, bootstrap_interval
from calibrant.metrics.confidence import ConfidenceDiagnosis, confidence_diagnosis
from calibrant.metrics.corp import Decomposition, corp_decomposition
from calibrant.metrics.debiased import debiased_calibration_error
from calibrant.metrics.discrimination import accuracy, roc_auc
from calibrant.metrics.evaluation import Evaluation, evaluate
from calibrant.metrics.hypothesis_tests import (
    CalibrationTest,
    hosmer_lemeshow_test,
    ks_test,
    kuiper_test,
    spiegelhalter_test,
)
from calibrant.metrics.ici import calibration_error_quantile, integrated_calibration_index
from calibrant.metrics.kolmogorov import ks_calibration_error
from calibrant.metrics.multiclass import class_wise_calibration_error, top_label_calibration_error
from calibrant.metrics.posterior import MetricPosterior, metric_posterior
from calibrant.metrics.scores import brier_score, log_loss, root_mean_squared_error
from calibrant.metrics.slope import CalibrationSlope, calibration_slope
from calibrant.metrics.smooth import smooth_calibration_error
from calibrant.metrics.sweep import sweep_calibration_error
from calibrant.metrics.tce import tce_bpm
from calibrant.metrics.verdict import Verdict, judge_calibration

__all__ = [
    "CalibrationSlope",
    "CalibrationTest",
    "ConfidenceDiagnosis",
    "Decomposition",
    "Evaluation",
    "Interval",
    "MetricPosterior",
    "Verdict",
    "accuracy",
    "adaptive_calibration_error",
    "bootstrap_interval",
    "brier_score",
    "calibration_error_quantile",
    "calibration_slope",
    "class_wise_calibration_error",
    "confidence_diagnosis",
    "corp_decomposition",
    "debiased_calibration_error",
    "evaluate",
    "expected_calibration_error",
    "hosmer_lemeshow_test",
    "integrated_calibration_index",
    "judge_calibration",
    "ks_calibration_error",
    "ks_test",
    "kuiper_test",
    "log_loss",
    "maximum_calibration_error",
    "metric_posterior",
    "roc_auc",
    "root_mean_squared_error",
    "smooth_calibration_error",
    "spiegelhalter_test",
    "sweep_calibration_error",
    "tce_bpm",
    "top_label_calibration_error",
]
