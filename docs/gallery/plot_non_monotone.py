"""
When is a non-monotone map right?
=================================

When the score ranks wrongly somewhere. A logistic regression can only cut the plane by a straight line. On a disc of
positives inside a ring of negatives the line finds nothing, and the *middle* scores are the positive ones. A monotone
map keeps the ranking, and with it the mistake. The average over binnings (ABB)
does not, and shows where the data call for a cut.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression

from calibrant import metrics
from calibrant.calibrators import ABB, SBB, IsotonicCalibration

rng = np.random.default_rng(2)
labels = rng.random(4600) < 0.5
radius = np.sqrt(np.where(labels, rng.uniform(0.0, 1.0, 4600), rng.uniform(1.25**2, 4.0, 4600)))
angle = rng.uniform(0.0, 2.0 * np.pi, 4600)
points = np.column_stack((radius * np.cos(angle), radius * np.sin(angle)))
model = LogisticRegression().fit(points[:600], labels[:600])
scores = model.predict_proba(points)[:, 1]

# %%
# The score depends on one direction of the plane. Across it, the line through a point cuts a chord out of the disc and
# two pieces out of the ring; their lengths, over the two areas, give the true probability.

squared = (points @ model.coef_[0] / np.linalg.norm(model.coef_)) ** 2
disc, inner, outer = (np.sqrt(np.maximum(r**2 - squared, 0.0)) for r in (1.0, 1.25, 2.0))
truth = disc / (disc + (outer - inner) / (2.0**2 - 1.25**2))
fit, test = slice(600, 2100), slice(2100, None)
methods = {"isotonic": IsotonicCalibration(), "SBB": SBB(), "ABB": ABB()}
for method in methods.values():
    method.fit(scores[fit], labels[fit])
losses = {name: metrics.log_loss(labels[test], method.predict(scores[test])) for name, method in methods.items()}
losses["true map"] = metrics.log_loss(labels[test], truth[test])

# %%
# Below the maps: the posterior probability of a bin boundary between neighbouring scores, summed over forty pieces of
# the axis. SBB commits itself to one set of boundaries; ABB averages over all of them.

COLORS = {"isotonic": "#E69F00", "SBB": "0.55", "ABB": "#0072B2", "true map": "black"}
order = np.argsort(scores)
low, high = scores.min(), scores.max()
grid = np.linspace(low, high, 1200)
figure, (top, below) = plt.subplots(2, 1, figsize=(8.4, 6.6), height_ratios=(4, 1), sharex=True, layout="constrained")
lower, upper = methods["ABB"].predict_interval(grid)
top.fill_between(grid, lower, upper, color=COLORS["ABB"], alpha=0.18, linewidth=0)
for name, method in methods.items():
    top.plot(grid, method.predict(grid), color=COLORS[name], linewidth=2.2 if name == "ABB" else 1.6)
top.plot(scores[order], truth[order], color="black", linewidth=1.4, linestyle=(0, (5, 2)))
for i, (name, loss) in enumerate(losses.items()):
    top.text(
        0.99, 0.94 - 0.065 * i, f"{name}: log-loss {loss:.3f}", color=COLORS[name], ha="right", transform=top.transAxes
    )
top.set(ylabel="Calibrated probability", ylim=(0, 1), xlim=(low, high))
top.set_title("Positives inside a ring of negatives, scored by a logistic regression")

abb = methods["ABB"]
gaps = 0.5 * (abb.cells_.scores[1:] + abb.cells_.scores[:-1])
counts, edges = np.histogram(gaps, bins=40, range=(low, high), weights=abb.boundary_probability_)
below.bar(edges[:-1], counts, np.diff(edges), align="edge", color=COLORS["ABB"], edgecolor="white")
for edge in methods["SBB"].bins_["lower"][1:]:
    below.axvline(edge, color="0.35", linewidth=1.2)
below.set(xlabel="Score", ylabel="Expected\nboundaries")
below.text(0.5, 0.8, "lines: the boundaries of SBB", color="0.35", ha="center", transform=below.transAxes)
for ax in (top, below):
    ax.spines[["top", "right"]].set_visible(False)
plt.show()
