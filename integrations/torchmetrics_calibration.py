"""Calibration as a torchmetrics Metric: batches become tallies, which merge exactly on any number of processes.

metric = CalibrationError()
for probabilities, labels in batches:
    metric.update(probabilities, labels)
metric.compute()
"""

import numpy as np
import torch
import torchmetrics

from calibrant import Tally, metrics


class CalibrationError(torchmetrics.Metric):
    """A measure of calibrant over all rows that were seen.

    Parameters
    ----------
    measure : callable
        Any measure of `calibrant.metrics` that takes a tally, by default the smooth calibration error.
    """

    is_differentiable = False
    higher_is_better = False
    full_state_update = False

    def __init__(self, measure=metrics.smooth_calibration_error, **options):
        super().__init__(**options)
        self.measure = measure
        # Rows (score, positives, total). A list is gathered from all processes and joined; a tally adds them up.
        self.add_state("cells", default=[], dist_reduce_fx="cat")

    def update(self, preds, target):
        """Count one batch of probabilities of the positive class and labels 0 or 1."""
        cells = Tally.from_arrays(preds.detach().double().cpu().numpy(), target.cpu().numpy()).to_dict()
        columns = [torch.tensor(cells[name], dtype=torch.double) for name in ("scores", "positives", "totals")]
        self.cells.append(torch.stack(columns, dim=1).to(self.device))

    def compute(self):
        """The measure on everything seen, as a tensor on the metric's device."""
        return torch.as_tensor(float(self.measure(self.tally())), device=self.device)

    def tally(self):
        """All rows seen, for every other function of calibrant: `calibrant.Blend().fit_tally(metric.tally())`."""
        cells = self.cells if isinstance(self.cells, list) else [self.cells]
        scores, positives, totals = torch.cat(list(cells)).cpu().numpy().T
        labels = np.repeat([1, 0], len(scores))
        counts = np.concatenate([positives, totals - positives])
        return Tally.from_arrays(np.tile(scores, 2)[counts > 0], labels[counts > 0], sample_weight=counts[counts > 0])
