"""Measures of probabilities: proper scores, discrimination, calibration errors, intervals and tests.

Every metric takes ``(y_true, y_prob)`` with optional weights, or a `Tally` in their place. Compare models by a proper
score (`log_loss`, `brier_score`); use calibration errors to see what is wrong with one of them.
"""

from calibrant.intervals import Interval
from calibrant.metrics.binned import (
    adaptive_calibration_error,
    debiased_calibration_error,
    expected_calibration_error,
    maximum_calibration_error,
    sweep_calibration_error,
)
from calibrant.metrics.bootstrap import bootstrap_interval
from calibrant.metrics.cumulative import (
    averaged_two_bin_error,
    cutoff_calibration_error,
    cutoff_calibration_interval,
)
from calibrant.metrics.curve_errors import (
    calibration_error_quantile,
    integrated_calibration_index,
    smooth_calibration_error,
    tce_bpm,
)
from calibrant.metrics.evaluation import evaluate
from calibrant.metrics.evaluation_table import Evaluation
from calibrant.metrics.finite_sample_band import (
    CalibrationBand,
    EquivalenceTest,
    equivalence_test,
    finite_sample_band,
)
from calibrant.metrics.folds import split_groups
from calibrant.metrics.full_calibration import full_calibration_test
from calibrant.metrics.hypothesis_tests import (
    CalibrationTest,
    hosmer_lemeshow_test,
    ks_calibration_error,
    ks_test,
    kuiper_test,
    spiegelhalter_test,
)
from calibrant.metrics.multicalibration import MulticalibrationError, multicalibration_error
from calibrant.metrics.multiclass import (
    class_wise_calibration_error,
    decomposition_by_recalibration,
    top_label_calibration_error,
)
from calibrant.metrics.murphy import MurphyCurve, murphy_curve
from calibrant.metrics.posterior import MetricPosterior, metric_posterior
from calibrant.metrics.refinement import Refinement, refinement_by_recalibration
from calibrant.metrics.sample_size import RequiredRows, required_rows
from calibrant.metrics.scores import (
    Decomposition,
    accuracy,
    brier_score,
    brier_skill_score,
    corp_decomposition,
    log_loss,
    roc_auc,
    root_mean_squared_error,
)
from calibrant.metrics.slope import CalibrationSlope, ConfidenceDiagnosis, calibration_slope, confidence_diagnosis
from calibrant.metrics.validation import ValidationSummary, observed_expected_ratio, validation_summary
from calibrant.metrics.verdict import Verdict, judge_calibration

__all__ = [
    "CalibrationBand",
    "CalibrationSlope",
    "CalibrationTest",
    "ConfidenceDiagnosis",
    "Decomposition",
    "EquivalenceTest",
    "Evaluation",
    "Interval",
    "MetricPosterior",
    "MulticalibrationError",
    "MurphyCurve",
    "Refinement",
    "RequiredRows",
    "ValidationSummary",
    "Verdict",
    "accuracy",
    "adaptive_calibration_error",
    "averaged_two_bin_error",
    "bootstrap_interval",
    "brier_score",
    "brier_skill_score",
    "calibration_error_quantile",
    "calibration_slope",
    "class_wise_calibration_error",
    "confidence_diagnosis",
    "corp_decomposition",
    "cutoff_calibration_error",
    "cutoff_calibration_interval",
    "debiased_calibration_error",
    "decomposition_by_recalibration",
    "equivalence_test",
    "evaluate",
    "expected_calibration_error",
    "finite_sample_band",
    "full_calibration_test",
    "hosmer_lemeshow_test",
    "integrated_calibration_index",
    "judge_calibration",
    "ks_calibration_error",
    "ks_test",
    "kuiper_test",
    "log_loss",
    "maximum_calibration_error",
    "metric_posterior",
    "multicalibration_error",
    "murphy_curve",
    "observed_expected_ratio",
    "refinement_by_recalibration",
    "required_rows",
    "roc_auc",
    "root_mean_squared_error",
    "smooth_calibration_error",
    "spiegelhalter_test",
    "split_groups",
    "sweep_calibration_error",
    "tce_bpm",
    "top_label_calibration_error",
    "validation_summary",
]
