"""
Which threshold do I need?
==========================

The one that your costs imply, read off the calibrated map. If a missed positive costs nine times as much as a false
alarm, act wherever the probability is at least 1/(1 + 9) = 0.1. That is a threshold for *probabilities*; the inverse
of the map turns it into a threshold for raw scores, and the posterior says how certain that threshold is.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from calibrant.calibrators import BayesIso

X, y = load_breast_cancer(return_X_y=True)
malignant = y == 0
model = make_pipeline(StandardScaler(), GaussianNB())
# Two measurements only: with all thirty there is little left to decide.
scores = cross_val_predict(model, X[:, [1, 9]], malignant, cv=5, method="predict_proba")[:, 1]

MISS, ALARM = 9.0, 1.0
wanted = ALARM / (ALARM + MISS)
calibrator = BayesIso().fit(scores, malignant)
threshold = float(calibrator.map_.inverse(wanted))

grid = np.linspace(0.02, 0.9, 500)
draws = calibrator.sample_maps(grid, n_draws=1000)
crossings = grid[(draws >= wanted).argmax(axis=1)]
low, high = np.quantile(crossings, (0.05, 0.95))

# %%
# The lower panel is the cost on these rows for every threshold of the raw score. The cost is flat around the threshold
# from the map, so its uncertainty does not matter; the usual threshold of 0.5 costs more.

cuts = np.linspace(0.02, 0.9, 200)
costs = [MISS * np.sum(malignant & (scores < cut)) + ALARM * np.sum(~malignant & (scores >= cut)) for cut in cuts]
costs = np.array(costs) / len(y)

figure, (top, below) = plt.subplots(2, 1, figsize=(8.4, 7), height_ratios=(3, 2), sharex=True, layout="constrained")
lower, upper = calibrator.predict_interval(grid)
top.fill_between(grid, lower, upper, color="#0072B2", alpha=0.2, linewidth=0)
top.plot(grid, calibrator.predict(grid), color="#0072B2", linewidth=2)
top.axhline(wanted, color="#D55E00", linewidth=1.2)
top.text(0.9, wanted + 0.015, "act from a probability of 0.1", color="#D55E00", ha="right")
top.set(ylabel="P(malignant)", ylim=(0, 1), xlim=(0, 0.9))
below.plot(cuts, costs, color="0.3", linewidth=1.6)
for cut, place in ((threshold, (0.22, 0.12)), (0.5, (0.54, 1.35))):
    cost = float(np.interp(cut, cuts, costs))
    below.plot(cut, cost, "o", color="#D55E00" if cut == threshold else "0.3")
    below.text(*place, f"{cost:.2f} at a threshold of {cut:.2f}", color="#D55E00" if cut == threshold else "0.3")
below.set(xlabel="Score of naive Bayes (cross-validated)", ylabel="Cost per patient", ylim=(0, None))
for ax in (top, below):
    ax.axvspan(low, high, color="#D55E00", alpha=0.12, linewidth=0)
    ax.axvline(threshold, color="#D55E00", linewidth=2)
    ax.spines[["top", "right"]].set_visible(False)
top.set_title(f"Act from a score of {threshold:.2f}; 90 % interval {low:.2f} to {high:.2f}")
plt.show()
