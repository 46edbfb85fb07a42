"""
What does each method assume before it sees data?
=================================================

A Bayesian calibrator is a prior over maps and a rule to update it. The top row shows draws from three priors, the
bottom row draws from the same methods after 150 rows. To see a prior, fit a tally
whose rows weigh next to nothing: its posterior is the prior.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit, logit

from calibrant import Tally, simulate
from calibrant.calibrators import ABB, BayesIso, SplineCalibration

grid = expit(np.linspace(logit(0.01), logit(0.99), 160))
data = simulate.bayes_iso(150, rng=4)
weightless = Tally(grid, np.full(len(grid), 5e-10), np.full(len(grid), 1e-9))
order = np.argsort(data.scores)

# %%
# ABB assumes steps of any height, increasing or not. Bayes-Iso assumes an increasing map, with jumps as likely as
# slopes. The spline assumes a smooth curve around the score itself. Without data, each falls back on its own
# assumption.

MAKERS = {
    "ABB: steps": (ABB, "#D55E00"),
    "Bayes-Iso: increasing maps": (BayesIso, "#009E73"),
    "Spline: smooth, near the score": (SplineCalibration, "#CC79A7"),
}
figure, axes = plt.subplots(2, 3, figsize=(11, 7.4), sharex=True, sharey=True, layout="constrained")
for column, (name, (make, color)) in enumerate(MAKERS.items()):
    for ax, tally in zip(axes[:, column], (weightless, data.tally), strict=True):
        calibrator = make().fit_tally(tally)
        crowded = make is ABB and tally is weightless
        draws = calibrator.sample_maps(grid, n_draws=5 if crowded else 25, random_state=1)
        style = {"drawstyle": "steps-mid"} if make is ABB else {}
        ax.plot(grid, draws.T, color=color, linewidth=0.7, alpha=0.6, **style)
        ax.plot(grid, calibrator.predict(grid), color="black", linewidth=2.2)
        ax.set_box_aspect(1)
        ax.spines[["top", "right"]].set_visible(False)
    axes[0, column].set_title(name)
    axes[1, column].plot(data.scores[order], data.probabilities[order], color="#0072B2", linewidth=1.8)
    axes[1, column].set_xlabel("Score")
axes[0, 0].set(ylabel="Before: no data", xlim=(0, 1), ylim=(0, 1))
axes[1, 0].set_ylabel("After: 150 rows")
axes[1, 2].text(0.97, 0.1, "thick: mean of the draws", ha="right", fontsize=9)
axes[1, 2].text(0.97, 0.04, "blue: the true map", color="#0072B2", ha="right", fontsize=9)
plt.show()
