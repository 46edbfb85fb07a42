"""
Does my model drift?
====================

Watch the e-value, not the error. `CalibrationMonitor` bets each day against the hypothesis that the predictions are
calibrated; as long as they are, the chance that its capital ever reaches 20 is at most 5 %, however long the series and
however often one looks (Ville's inequality). So looking every day costs nothing, and the alarm at 20 has a level of
5 %.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit, logit

from calibrant import Tally
from calibrant.monitoring import CalibrationMonitor

DAYS, ROWS, CHANGE = 100, 150, 50


def e_values(seed, shift):
    """The e-value after each day; from day 50 on, the true logits are those of the model plus `shift`."""
    rng = np.random.default_rng(seed)
    monitor, values = CalibrationMonitor(), []
    for day in range(DAYS):
        p = rng.beta(1.5, 4.0, ROWS).round(3)
        truth = expit(logit(np.clip(p, 0.001, 0.999)) + (shift if day >= CHANGE else 0.0))
        monitor = monitor.updated(Tally.from_arrays(p, rng.random(ROWS) < truth))
        values.append(monitor.e_value)
    return np.array(values)


# %%
# Four quiet series stay low. The series with a shift of 0.3 on the logit scale, where a prediction of 20 % has come to
# mean 25 %, crosses the line within two weeks; a shift of 0.6 within days.

figure, ax = plt.subplots(figsize=(9, 5), layout="constrained")
days = np.arange(1, DAYS + 1)
for seed in range(4):
    ax.semilogy(days, e_values(seed, 0.0), color="0.65", linewidth=1)
for shift, color in ((0.3, "#0072B2"), (0.6, "#D55E00")):
    values = e_values(10, shift)
    ax.semilogy(days, values, color=color, linewidth=2.2)
    crossed = int(np.argmax(values >= 20)) + 1
    step = np.log(values[crossed - 2 : crossed])
    place = np.interp(np.log(20), step, (crossed - 1, crossed)), 20
    ax.plot(*place, "o", color=color)
    ax.annotate(
        f"shift {shift}: alarm\n{crossed - CHANGE} days after the change",
        place,
        (CHANGE + 20, 60) if shift < 0.5 else (CHANGE - 28, 400),
        color=color,
        arrowprops={"arrowstyle": "-", "color": color},
    )
ax.axhline(20, color="black", linewidth=1)
ax.text(1, 24, "alarm at 20: false in at most 5 % of all series", va="bottom")
ax.axvline(CHANGE, color="0.4", linewidth=1, linestyle=(0, (4, 3)))
ax.text(CHANGE - 1, 0.02, "the world changes ", ha="right", color="0.35")
ax.text(2, 0.004, "grey: four series without a change", color="0.45")
ax.set(
    xlabel=f"Day, {ROWS} rows each", ylabel="Evidence against calibration (e-value)", xlim=(1, DAYS), ylim=(2e-3, 1e4)
)
ax.spines[["top", "right"]].set_visible(False)
ax.set_title("Looked at every day")
plt.show()
