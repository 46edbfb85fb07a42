"""
What does undersampling do, and how do I undo it?
=================================================

Throwing away most rows of the frequent class makes training faster and every probability too high: the model learns the
odds of the sample, not those of the population. When a share *w* of the negatives was kept, all odds are too high by
the factor 1/*w*. `adjust_sampling` divides it out; no labels are needed for that.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from calibrant import ReliabilityDisplay, metrics
from calibrant.adjust import adjust_sampling
from calibrant.calibrators import Identity

rng = np.random.default_rng(0)
X = rng.standard_normal((80_000, 3))
y = rng.random(len(X)) < expit(X @ [1.2, 0.8, -0.6] - 4.2)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)

KEPT = 0.05
rows = y_train | (rng.random(len(y_train)) < KEPT)
model = LogisticRegression().fit(X_train[rows], y_train[rows])
raw = model.predict_proba(X_test)[:, 1]

do_nothing = Identity().fit(raw[:2], [0, 1]).map_
corrected = adjust_sampling(do_nothing, negatives_kept=KEPT)(raw)

# %%
# On the logit scale the raw curve runs parallel to the diagonal, at a distance of ln(1/*w*) = 3.0 everywhere. After the
# correction the mean prediction is the base rate again. The ranking, and with it the area under the ROC curve, is the
# same before and after; the log-loss is not.

figure, ax = plt.subplots(figsize=(6.6, 7.8), layout="constrained")
display = ReliabilityDisplay.from_predictions(
    y_test,
    {
        f"raw, log-loss {metrics.log_loss(y_test, raw):.3f}": raw,
        f"corrected, log-loss {metrics.log_loss(y_test, corrected):.3f}": corrected,
    },
    scale="logit",
    ax=ax,
    curve_kwargs=[{"color": "#D55E00"}, {"color": "#0072B2"}],
)
ax.set_title(
    f"{100 * y_test.mean():.1f} % positives; mean prediction raw {100 * raw.mean():.1f} %, "
    f"corrected {100 * corrected.mean():.1f} %"
)
plt.show()
