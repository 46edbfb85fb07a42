"""Confidence of language models in Inspect: a scorer's metrics, and a calibrated probability for each answer.

A scorer puts its confidence into `Score.metadata["confidence"]`, a number from 0 to 1. Then

    @scorer(metrics=[calibration_error(), expected_accuracy("judge.json")])

reports how far confidence is from being right, and the accuracy that a calibrator fitted earlier
(`calibrator.save("judge.json")`) expects of these answers before anybody has graded them.
"""

import numpy as np
from inspect_ai.scorer import SampleScore, metric, value_to_float

import calibrant
from calibrant import metrics as measures


def read_confidence(scores):
    """Confidence and whether the answer was right (1 or 0), of the samples whose scorer stated a confidence."""
    stated = [(one.score.metadata or {}).get("confidence") for one in scores]
    kept = [i for i, value in enumerate(stated) if value is not None]
    right = np.array([value_to_float()(scores[i].score.value) for i in kept])
    return np.array([stated[i] for i in kept], dtype=float), right


@metric
def calibration_error():
    """Smooth calibration error of the stated confidence; samples without one are left out."""

    def compute(scores: list[SampleScore]) -> float:
        confidence, right = read_confidence(scores)
        return float(measures.smooth_calibration_error(right, confidence)) if len(right) else float("nan")

    return compute


@metric
def stated_share():
    """Share of samples whose scorer stated a confidence: what the other metrics rest on."""

    def compute(scores: list[SampleScore]) -> float:
        return len(read_confidence(scores)[0]) / len(scores) if scores else float("nan")

    return compute


@metric
def expected_accuracy(model):
    """Mean calibrated probability of being right, by a calibrator saved earlier; needs no grades."""
    calibrator = calibrant.load(model)

    def compute(scores: list[SampleScore]) -> float:
        confidence, _ = read_confidence(scores)
        return float(calibrator.predict(confidence).mean()) if len(confidence) else float("nan")

    return compute
