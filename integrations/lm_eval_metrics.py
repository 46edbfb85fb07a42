"""Calibration of multiple-choice tasks in lm-evaluation-harness, by two functions for a task's YAML.

    process_results: !function lm_eval_metrics.process_results
    metric_list:
      - metric: acc
        aggregation: mean
        higher_is_better: true
      - metric: calibration_error
        aggregation: !function lm_eval_metrics.calibration_error
        higher_is_better: false
      - metric: brier_of_top
        aggregation: !function lm_eval_metrics.brier_of_top
        higher_is_better: false

The confidence of an answer is the softmax of the options' log-likelihoods at the chosen one.
"""

import numpy as np
from scipy.special import softmax

from calibrant import metrics


def process_results(doc, results):
    """Of one item: whether the most likely option is right, and with it the confidence in it."""
    likelihoods = np.array([result[0] for result in results], dtype=float)
    chosen = int(likelihoods.argmax())
    right = float(chosen == int(doc["gold"] if "gold" in doc else doc["label"]))
    pair = (float(softmax(likelihoods)[chosen]), right)
    return {"acc": right, "calibration_error": pair, "brier_of_top": pair}


def calibration_error(pairs):
    """Smooth calibration error of the chosen options."""
    confidence, right = np.array(pairs).T
    return float(metrics.smooth_calibration_error(right, confidence))


def brier_of_top(pairs):
    """Brier score of the chosen options: confidence against being right."""
    confidence, right = np.array(pairs).T
    return float(metrics.brier_score(right, confidence))
