"""Calibration as a module of Hugging Face evaluate.

import evaluate
calibration = evaluate.load("integrations/evaluate_module.py")
calibration.add_batch(predictions=[0.9, 0.2], references=[1, 0])
calibration.compute()
"""

import datasets
import evaluate

import calibrant

DESCRIPTION = "Proper scores, calibration errors and a test of calibration for the probability of the positive class."
INPUTS = """
predictions: probability of the positive class for each row.
references: 0 or 1 for each row.
level: level of the intervals, 0.9 unless given.
"""


class Calibration(evaluate.Metric):
    """Measures of calibrant for two classes."""

    def _info(self):
        return evaluate.MetricInfo(
            description=DESCRIPTION,
            citation="",
            inputs_description=INPUTS,
            features=datasets.Features(
                {"predictions": datasets.Value("float64"), "references": datasets.Value("int64")}
            ),
        )

    def _compute(self, predictions, references, level=0.9):
        """Each measure with its interval as `name`, `name_low`, `name_high`, and what it says about calibration."""
        found = calibrant.evaluate(references, predictions, level=level)
        measures = {}
        for row in found.to_frame().to_dict("records"):
            measures[row["measure"]] = row["value"]
            measures[f"{row['measure']}_low"], measures[f"{row['measure']}_high"] = row["low"], row["high"]
        return {**measures, "verdict": str(found.verdict)}
