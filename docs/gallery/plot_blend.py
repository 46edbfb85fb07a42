"""
What does Blend do as the data grow?
====================================

It moves from trusting the score to trusting the data. `Blend` mixes the raw score, a Bayesian temperature, the Bayesian
spline, Bayes-Iso and the average over binnings, with weights that say how well each predicts rows that it has not
seen. With few rows no member can prove much; with many the flexible ones can.
"""

import matplotlib.pyplot as plt
import numpy as np

from calibrant import Blend, simulate

SIZES = (50, 200, 1000, 5000, 25_000)
NAMES = {
    "identity": ("raw score", "0.65"),
    "temperature": ("temperature", "#E69F00"),
    "spline": ("spline", "#CC79A7"),
    "bayes_iso": ("Bayes-Iso", "#009E73"),
    "abb": ("ABB", "#D55E00"),
}
grid = np.linspace(0.002, 0.998, 400)
whole = simulate.bayes_iso(SIZES[-1], rng=1)
blends = {n: Blend().fit(whole.scores[:n], whole.labels[:n]) for n in SIZES}

# %%
# Left, the weights; right, the blended maps with their 90 % intervals at both ends of the range of sizes.

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 5.2), layout="constrained")
weights = np.array([[blends[n].weights_.get(name, 0.0) for n in SIZES] for name in NAMES])
bottom = np.zeros(len(SIZES))
for (label, color), share in zip(NAMES.values(), weights, strict=True):
    left.bar(range(len(SIZES)), share, 0.8, bottom=bottom, color=color, label=label, edgecolor="white")
    for i in np.flatnonzero(share > 0.05):
        left.text(i, bottom[i] + share[i] / 2, f"{100 * share[i]:.0f} %", ha="center", va="center", fontsize=9)
    bottom += share
left.set_xticks(range(len(SIZES)), [f"{n:,}".replace(",", " ") for n in SIZES])
left.set(xlabel="Calibration rows", ylabel="Weight in the blend", ylim=(0, 1))
left.set_title("Weights of the members", pad=30)
left.legend(ncols=5, loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False, fontsize=9, columnspacing=1.2)
left.spines[["top", "right"]].set_visible(False)

right.plot([0, 1], [0, 1], color="0.5", linestyle=(0, (4, 3)), linewidth=1)
order = np.argsort(whole.scores)
right.plot(whole.scores[order], whole.probabilities[order], color="black", linewidth=1.4)
for n, color in ((SIZES[0], "#E69F00"), (SIZES[-1], "#0072B2")):
    low, high = blends[n].predict_interval(grid)
    right.fill_between(grid, low, high, color=color, alpha=0.22, linewidth=0)
    right.plot(grid, blends[n].predict(grid), color=color, linewidth=2)
right.annotate(
    "the score itself", (0.86, 0.86), (0.03, 0.9), color="0.35", arrowprops={"arrowstyle": "-", "color": "0.6"}
)
right.text(0.62, 0.21, "true map", color="black")
right.text(0.62, 0.14, "Blend of 50 rows", color="#B87A00", weight="bold")
right.text(0.62, 0.07, "Blend of 25 000 rows", color="#0072B2", weight="bold")
right.set(xlabel="Score", ylabel="Calibrated probability", xlim=(0, 1), ylim=(0, 1))
right.set_title("The blended map", pad=30)
right.spines[["top", "right"]].set_visible(False)
plt.show()
