"""
Several judges, one probability
===============================

Two judges and a verdict speak of the same answers. Each is calibrated alone, and all three together: the panel knows
more than any of them. The curves show what each score does while the others stay as they are.
"""

import matplotlib.pyplot as plt
import numpy as np

from calibrant import PanelCalibrator, compare

rng = np.random.default_rng(2)


def judge(n):
    """A hidden quality, two noisy readings of it, one of them too sure, and a verdict on something else."""
    quality, style = rng.normal(size=(2, n))
    right = rng.random(n) < 1 / (1 + np.exp(-1.5 * quality - style))
    scores = {
        "anna": 1 / (1 + np.exp(-quality - rng.normal(size=n))),
        "ben": 1 / (1 + np.exp(-3 * (quality + rng.normal(size=n)))),
        "verdict": np.where(style + 0.7 * rng.normal(size=n) > 0, "good", "poor"),
    }
    return scores, right


answers, right = judge(600)
panel = PanelCalibrator().fit(answers, right)
table = compare(answers, right)
print(table.reason)
print(panel.summary())

# %%
# On the left, what each way loses against the panel on rows that it has not seen, with 90 % intervals. On the right,
# the mean probability of the rows if one score had that value in all of them: Ben is too sure of himself, so his curve
# is flat in the middle of the scale and steep at its ends.

figure, (left, right_axes) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
rivals = [row for row in table.results if row.log_loss_difference is not None][::-1]
change = np.array([(one.value, one.low, one.high) for one in (row.log_loss_difference for row in rivals)])
left.errorbar(change[:, 0], range(len(rivals)), xerr=abs(change[:, 1:].T - change[:, 0]), fmt="o", color="C0")
left.set_yticks(range(len(rivals)), [row.name for row in rivals])
left.axvline(0.0, color="0.5", linestyle=":")
left.set(xlabel="Log-loss above that of the panel", title="Which score is worth having?")

grid = np.linspace(0.01, 0.99, 60)
for name in ("anna", "ben"):
    means = [panel.predict(answers | {name: np.full(600, value)}).mean() for value in grid]
    right_axes.plot(grid, means, label=name)
for level, place in (("good", 0.02), ("poor", 0.75)):
    mean = panel.predict(answers | {"verdict": np.full(600, level)}).mean()
    right_axes.axhline(mean, color="0.6", linestyle="--", linewidth=1)
    right_axes.text(place, mean + 0.015, f"verdict {level}", color="0.4")
right_axes.set(xlabel="Score", ylabel="Mean probability", ylim=(0, 1), title="What each score does")
right_axes.legend(frameon=False)
