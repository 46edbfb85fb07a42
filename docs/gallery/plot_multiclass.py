"""
Several classes: which view?
============================

It depends on what the probabilities are for. *Top-label* calibrates only the confidence in the predicted class; the
other classes keep their proportions. *One-vs-rest* calibrates each class against all others and then normalises.
A *temperature* has one number for the whole matrix of scores. The picture judges all three twice: by the calibration
of the confidence, and by that of every class.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from calibrant import CalibratedClassifier, metrics

X, y = load_digits(return_X_y=True)
X_rest, X_test, y_rest, y_test = train_test_split(X, y, test_size=0.4, random_state=0, stratify=y)
X_train, X_fit, y_train, y_fit = train_test_split(X_rest, y_rest, test_size=0.5, random_state=0, stratify=y_rest)
forest = FrozenEstimator(RandomForestClassifier(60, max_depth=6, random_state=0).fit(X_train, y_train))
models = {
    "raw": forest,
    "top-label": CalibratedClassifier(forest, method="spline", multiclass="top_label"),
    "one-vs-rest": CalibratedClassifier(forest, method="spline", multiclass="one_vs_rest"),
    "temperature": CalibratedClassifier(forest, method="temperature"),
}
found = {}
for name, model in models.items():
    proba = model.fit(X_fit, y_fit).predict_proba(X_test)
    found[name] = (
        metrics.top_label_calibration_error(y_test, proba),
        metrics.class_wise_calibration_error(y_test, proba),
        log_loss(y_test, proba),
    )

# %%
# Ten classes of handwritten digits, a random forest, 540 rows for calibration. All three repair
# most of what is wrong. The confidence alone is best served by the view that looks at nothing else; one-vs-rest has ten
# maps to learn from few rows each, and normalising disturbs them; for probabilities of all classes, judged by the
# log-loss, one temperature is hard to beat here.

titles = ("Confidence: top-label ECE", "All classes: class-wise ECE", "Log-loss, all classes")
colors = ("0.65", "#E69F00", "#0072B2", "#009E73")
figure, axes = plt.subplots(1, 3, figsize=(11, 3.6), sharey=True, layout="constrained")
for ax, title, values in zip(axes, titles, np.array(list(found.values())).T, strict=True):
    ax.barh(range(len(found)), values, 0.7, color=colors)
    for i, value in enumerate(values):
        ax.text(value, i, f" {value:.3f}", va="center")
    ax.set_title(title)
    ax.set_xlim(0, 1.2 * values.max())
    ax.set_xticks([])
    ax.spines[["top", "right", "bottom"]].set_visible(False)
axes[0].set_yticks(range(len(found)), found)
axes[0].invert_yaxis()
figure.suptitle("Shorter is better")
plt.show()
