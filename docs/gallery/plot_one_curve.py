"""
Can one curve replace many histograms?
======================================

If its shape is right. Binomial process modelling (BPM) fits one curve of three parameters through the bins of ten
binnings at once. On D1, the one published truth of its paper, the shape is right, and where rows are few the curve is
steadier than any histogram. It cannot follow a truth of another shape, however many rows there are.
"""

import matplotlib.pyplot as plt
import numpy as np

from calibrant import simulate
from calibrant.calibrators import BPM, HistogramBinning

ROWS = 5000
grid = np.linspace(0.02, 0.98, 400)
figure, axes = plt.subplots(1, 2, figsize=(11, 5.4), sharey=True, layout="constrained")
for ax, (name, title) in zip(axes, (("D1", "D1: the shape is right"), ("wave", "wave: it is not")), strict=True):
    truth = simulate.TRUTHS[name]
    data = truth.sample(ROWS, rng=0)
    histograms = [
        HistogramBinning(n_bins=n, strategy="quantile").fit(data.scores, data.labels).predict(grid)
        for n in np.linspace(ROWS // 100, ROWS // 20, 10).astype(int)
    ]
    curve = BPM().fit(data.scores, data.labels).predict(grid)
    ax.plot([0, 1], [0, 1], color="0.5", linestyle=(0, (4, 3)), linewidth=1)
    ax.fill_between(grid, np.min(histograms, axis=0), np.max(histograms, axis=0), color="0.85", step="mid")
    ax.plot(grid, np.mean(histograms, axis=0), color="0.55", linewidth=1, drawstyle="steps-mid")
    ax.plot(grid, truth(grid), color="black", linewidth=1.6)
    ax.plot(grid, curve, color="#0072B2", linewidth=2.4)
    errors = [np.abs(found - truth(grid)).mean() for found in (curve, np.mean(histograms, axis=0))]
    ax.set_title(f"{title}\nmean error: curve {errors[0]:.3f}, mean of histograms {errors[1]:.3f}")
    ax.set(xlabel="Score", xlim=(0, 1), ylim=(0, 1))
    ax.set_box_aspect(1)
    ax.spines[["top", "right"]].set_visible(False)
axes[0].set_ylabel("P(positive | score)")
axes[0].text(0.04, 0.94, "BPM", color="#0072B2", weight="bold")
axes[0].text(0.04, 0.88, "true map", color="black")
axes[0].text(0.04, 0.82, "ten histograms: range and mean", color="0.45")
plt.show()
