"""
What does ECE reward?
=====================

Saying little. The expected calibration error asks whether predictions agree with frequencies *on average over bins*,
not whether they tell one row from another. A constant says nothing about any row, yet with the right base
rate its ECE is zero. A proper score, such as the log-loss, is lowest in expectation for the true probabilities and for
nothing else.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

from calibrant import Blend, metrics
from calibrant.calibrators import (
    BetaCalibration,
    HistogramBinning,
    Identity,
    IsotonicCalibration,
    PlattScaling,
    SplineCalibration,
)

X, y = load_digits(return_X_y=True)
y = y >= 5
X_train, X_rest, y_train, y_rest = train_test_split(X, y, train_size=600, random_state=0, stratify=y)
model = GaussianNB(var_smoothing=0.05).fit(X_train, y_train)
scores = model.predict_proba(X_rest)[:, 1]
X_fit, X_test, y_fit, y_test = train_test_split(scores, y_rest, train_size=400, random_state=0, stratify=y_rest)

methods = {
    "raw score": Identity(),
    "Platt": PlattScaling(),
    "beta": BetaCalibration(),
    "isotonic": IsotonicCalibration(),
    "histogram, 5 bins": HistogramBinning(n_bins=5, strategy="quantile"),
    "histogram, 2 bins": HistogramBinning(n_bins=2, strategy="quantile"),
    "spline": SplineCalibration(),
    "Blend": Blend(),
}
predicted = {name: method.fit(X_fit, y_fit).predict(X_test) for name, method in methods.items()}
predicted["base rate only"] = np.full(len(y_test), y_fit.mean())

ece = {name: metrics.expected_calibration_error(y_test, p, strategy="quantile") for name, p in predicted.items()}
loss = {name: metrics.log_loss(y_test, p) for name, p in predicted.items()}

# %%
# Every method, twice: its rank by ECE on the left, its rank by log-loss on the right, on the same test rows. If ECE
# could choose a method, the lines would be level.

BLUE, RED, GREY = "#0072B2", "#D55E00", "0.55"
by_ece, by_loss = sorted(ece, key=ece.get), sorted(loss, key=loss.get)
figure, ax = plt.subplots(figsize=(8.4, 5.2), layout="constrained")
for name in predicted:
    ranks = by_ece.index(name), by_loss.index(name)
    color = RED if name == "base rate only" else BLUE if name == "Blend" else GREY
    ax.plot((0, 1), ranks, "o-", color=color, linewidth=2.4 if color != GREY else 1.2)
    ax.text(-0.04, ranks[0], f"{name}   {ece[name]:.3f}", ha="right", va="center", color=color)
    ax.text(1.04, ranks[1], f"{loss[name]:.3f}   {name}", ha="left", va="center", color=color)
ax.set(xlim=(-0.75, 1.75), ylim=(len(predicted) - 0.5, -1.2))
ax.text(0, -0.75, "ECE, 15 bins of equal mass", ha="center", weight="bold")
ax.text(1, -0.75, "log-loss", ha="center", weight="bold")
ax.set_title("Best on top: ECE gives the prize to the forecast that knows nothing", pad=14)
ax.axis("off")
plt.show()
