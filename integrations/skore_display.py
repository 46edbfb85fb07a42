"""A skore display of calibration: the curve with its bands, and whether the probabilities can be taken as they are.

report = skore.EstimatorReport(model, X_train=…, y_train=…, X_test=…, y_test=…)
display = CalibrantDisplay.from_report(report)
display.plot()
display.frame()
"""

import calibrant
from calibrant import ReliabilityDisplay


class CalibrantDisplay:
    """Fulfils skore's protocol `Display` for the held-out probabilities of a two-class report."""

    def __init__(self, y_true, probability, pos_label=None):
        self.y_true, self.probability, self.pos_label = y_true, probability, pos_label
        self.evaluation = calibrant.evaluate(y_true, probability, pos_label=pos_label)
        self._style = {}

    @classmethod
    def from_report(cls, report):
        """The test rows of an `EstimatorReport`; the positive class is the report's, or the second of its model."""
        classes = list(report.estimator_.classes_)
        if len(classes) != 2:
            raise ValueError(f"the display is for two classes, the model of this report has {len(classes)}")
        chosen = classes[1] if report.pos_label is None else report.pos_label
        probability = report.estimator_.predict_proba(report.X_test)[:, classes.index(chosen)]
        return cls(report.y_test, probability, chosen)

    def plot(self, **options):
        """The matplotlib figure; options are those of `calibrant.ReliabilityDisplay.from_predictions`."""
        options = {"pos_label": self.pos_label, **self._style, **options}
        return ReliabilityDisplay.from_predictions(self.y_true, self.probability, **options).figure_

    def set_style(self, *, policy="update", **options):
        """Options that later calls of `plot` start from."""
        self._style = {**options} if policy == "override" else {**self._style, **options}

    def frame(self):
        """Measures with their intervals, one row for each."""
        return self.evaluation.to_frame()

    def help(self):
        """What the evaluation says, in words."""
        print(self.evaluation)
