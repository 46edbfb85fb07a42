"""
How much data does each method need?
====================================

A method with few parameters is good at once, but stops getting better if its shape is not the true one. A method
without a fixed shape starts badly and keeps learning. The picture shows the excess log-loss, the loss above that of
the true map, on the task of the Bayes-Iso paper (Allikivi and Kull 2019), whose truth is in no parametric family.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import rel_entr

from calibrant import Blend, simulate
from calibrant.calibrators import BetaCalibration, IsotonicCalibration, PlattScaling

SIZES, SEEDS = (100, 500, 2500, 12_500), range(2)
test = simulate.bayes_iso(20_000, rng=999)


def excess(calibrator):
    """Mean Kullback-Leibler divergence from the true probabilities."""
    p, truth = np.clip(calibrator.predict(test.scores), 1e-15, 1 - 1e-15), test.probabilities
    return np.mean(rel_entr(truth, p) + rel_entr(1 - truth, 1 - p))


found = {name: [] for name in ("Platt", "beta", "isotonic", "Bayes-Iso", "spline", "Blend")}
for n in SIZES:
    row = {name: [] for name in found}
    for seed in SEEDS:
        data = simulate.bayes_iso(n, rng=seed)
        blend = Blend().fit(data.scores, data.labels)
        fitted = {
            "Platt": PlattScaling().fit(data.scores, data.labels),
            "beta": BetaCalibration().fit(data.scores, data.labels),
            "isotonic": IsotonicCalibration().fit(data.scores, data.labels),
            "Bayes-Iso": blend.members_["bayes_iso"],
            "spline": blend.members_["spline"],
            "Blend": blend,
        }
        for name, calibrator in fitted.items():
            row[name].append(excess(calibrator))
    for name, losses in row.items():
        found[name].append(np.mean(losses))

# %%
# Platt scaling and beta calibration level off: they lack shape, not rows. Isotonic regression needs a multiple
# of the rows of the Bayesian methods for the same loss. The truth is monotone here, which only Bayes-Iso and isotonic
# regression know beforehand; `Blend` finds out.

COLORS = {
    "Platt": "0.6",
    "beta": "0.4",
    "isotonic": "#E69F00",
    "Bayes-Iso": "#009E73",
    "spline": "#CC79A7",
    "Blend": "#0072B2",
}
figure, ax = plt.subplots(figsize=(8.4, 5.4), layout="constrained")
for name, losses in found.items():
    ax.loglog(SIZES, losses, "o-", color=COLORS[name], linewidth=3 if name == "Blend" else 1.6, markersize=5)
# Labels at the right ends, pushed apart where they would overlap.
ends = sorted(found, key=lambda name: found[name][-1])
heights = np.log([found[name][-1] for name in ends])
for i in range(1, len(heights)):
    heights[i] = max(heights[i], heights[i - 1] + 0.33)
for name, height in zip(ends, np.exp(heights), strict=True):
    ax.annotate(name, (SIZES[-1] * 1.12, height), color=COLORS[name], va="center", weight="bold")
ax.set(xlabel="Calibration rows", ylabel="Excess log-loss (nats a row)", xlim=(85, 26_000))
ax.set_xticks(SIZES, [f"{n:,}".replace(",", " ") for n in SIZES])
ax.minorticks_off()
ax.grid(axis="y", alpha=0.3)
ax.set_title("A fixed shape soon stops learning, a free one keeps learning", loc="left")
ax.spines[["top", "right"]].set_visible(False)
plt.show()
