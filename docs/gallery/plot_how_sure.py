"""
How certain is the map?
=======================

Look at draws from its posterior. Each thin line is one calibration map that is consistent with the data; at every score
the band contains nine out of ten of them. The Bayesian spline starts from the identity, so with few rows it corrects
little and its band is wide.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit, logit

from calibrant import simulate
from calibrant.calibrators import SplineCalibration

truth = simulate.TRUTHS["asymmetric"]
grid = expit(np.linspace(logit(0.002), logit(0.998), 300))
figure, axes = plt.subplots(1, 3, figsize=(12, 4.6), sharey=True, layout="constrained")
for ax, n in zip(axes, (100, 1000, 10_000), strict=True):
    data = truth.sample(n, rng=0)
    calibrator = SplineCalibration().fit(data.scores, data.labels)
    low, high = calibrator.predict_interval(grid, level=0.9)
    ax.plot([0, 1], [0, 1], color="0.5", linestyle=(0, (4, 3)), linewidth=1)
    ax.fill_between(grid, low, high, color="#0072B2", alpha=0.2, linewidth=0)
    ax.plot(grid, calibrator.sample_maps(grid, n_draws=30).T, color="#0072B2", linewidth=0.5, alpha=0.6)
    ax.plot(grid, calibrator.predict(grid), color="#0072B2", linewidth=2.5)
    ax.plot(grid, truth(grid), color="#D55E00", linewidth=2)
    at = np.array([0.3])
    (low_at,), (high_at,) = calibrator.predict_interval(at)
    ax.set_title(f"{n:,} rows: 0.3 means {low_at:.2f} to {high_at:.2f}".replace(",", " "))
    ax.set(xlabel="Score", xlim=(0, 1), ylim=(0, 1))
    ax.set_box_aspect(1)
    ax.spines[["top", "right"]].set_visible(False)
axes[0].set_ylabel("Calibrated probability")
axes[0].text(0.97, 0.19, "posterior mean, 90 % band, draws", color="#0072B2", ha="right", fontsize=9)
axes[0].text(0.97, 0.12, "the true map", color="#D55E00", ha="right", fontsize=9)
axes[0].text(0.97, 0.05, "the score itself", color="0.4", ha="right", fontsize=9)
plt.show()
