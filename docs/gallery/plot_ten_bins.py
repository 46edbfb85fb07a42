"""
Why do reliability diagrams with ten bins mislead?
==================================================

Because they show noise as if it were the model. The predictions below are **perfectly calibrated**: every label is
drawn with exactly the predicted probability. Still, each sample of 300 rows gives a different zigzag, and each zigzag
invites a story about the model.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import calibration_curve

from calibrant import ReliabilityDisplay

BLUE, GREY = "#0072B2", "0.6"


def sample(seed, n=300):
    """Predictions, and labels that follow them exactly."""
    rng = np.random.default_rng(seed)
    p = rng.beta(1.2, 2.0, n)
    return p, rng.random(n) < p


# %%
# Left, eight samples. Right, the blue one of them again, with a Bayesian curve (Bayes-Iso) in place of the zigzag. The
# bins hold equal numbers of rows, each with its interval; at each score the band contains the true curve with a
# probability of 90 %; the histogram shows where the rows are. The diagonal lies inside the band: this sample is no
# evidence against the model.

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 6.6), layout="constrained")
left.plot([0, 1], [0, 1], color="0.5", linestyle=(0, (4, 3)), linewidth=1)
for seed in range(8):
    p, y = sample(seed)
    share, mean = calibration_curve(y, p, n_bins=10)
    chosen = seed == 3
    style = {"color": BLUE, "linewidth": 2, "zorder": 3} if chosen else {"color": GREY, "linewidth": 0.8}
    left.plot(mean, share, "o-", markersize=4, **style)
left.set(title="Ten bins of equal width, eight samples", xlabel="Predicted probability", ylabel="Fraction of positives")
left.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
left.set_box_aspect(1)
left.text(0.98, 0.06, "blue: one of the eight", color=BLUE, ha="right")

p, y = sample(3)
ReliabilityDisplay.from_predictions(y, p, curve="bayes_iso", ax=right)
right.set_title("The blue sample, with its uncertainty")
plt.show()
