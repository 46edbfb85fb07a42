"""Measures of probabilities: proper scores, discrimination, calibration errors, intervals and tests.

Every metric takes ``(y_true, y_prob)`` with optional weights, or a `Tally` in their place. Compare models by a proper
score (`log_loss`, `brier_score`); use calibration errors to see what is wrong with one of them.
"""

from calibrant.metrics.binned import (
    adaptive_calibration_error,
    debiased_calibration_error,
    expected_calibration_error,
    maximum_calibration_error,
    sweep_calibration_error,
)
from calibrant.metrics.bootstrap import Interval, bootstrap_interval
from calibrant.metrics.curve_errors import (
    calibration_error_quantile,
    integrated_calibration_index,
    smooth_calibration_error,
    tce_bpm,
)
from calibrant.metrics.direction import CalibrationSlope, ConfidenceDiagnosis, calibration_slope, confidence_diagnosis
from calibrant.metrics.evaluation import evaluate
from calibrant.metrics.full_calibration import full_calibration_test
from calibrant.metrics.hypothesis_tests import (
    CalibrationTest,
    hosmer_lemeshow_test,
    ks_calibration_error,
    ks_test,
    kuiper_test,
    spiegelhalter_test,
)
from calibrant.metrics.matrix_evaluation import MatrixEvaluation, evaluate_matrix
from calibrant.metrics.matrix_measures import (
    matrix_accuracy,
    matrix_brier_score,
    matrix_decomposition,
    matrix_log_loss,
)
from calibrant.metrics.multiclass import class_wise_calibration_error, top_label_calibration_error
from calibrant.metrics.posterior import MetricPosterior, metric_posterior
from calibrant.metrics.scores import (
    Decomposition,
    accuracy,
    brier_score,
    corp_decomposition,
    log_loss,
    roc_auc,
    root_mean_squared_error,
)
from calibrant.metrics.table import Evaluation
from calibrant.metrics.verdict import Verdict, judge_calibration

__all__ = [
    "CalibrationSlope",
    "CalibrationTest",
    "ConfidenceDiagnosis",
    "Decomposition",
    "Evaluation",
    "Interval",
    "MatrixEvaluation",
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
    "evaluate_matrix",
    "expected_calibration_error",
    "full_calibration_test",
    "hosmer_lemeshow_test",
    "integrated_calibration_index",
    "judge_calibration",
    "ks_calibration_error",
    "ks_test",
    "kuiper_test",
    "log_loss",
    "matrix_accuracy",
    "matrix_brier_score",
    "matrix_decomposition",
    "matrix_log_loss",
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
