"""
Should the map be fitted again?
===============================

Replay the history. `walk_forward` predicts each month from the labels that were known before it, in five ways: with the
first map left alone, with refits that forget at fixed rates, and with an adaptive calibrator that weighs them by what
they forecast.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit

from calibrant.displays import WalkForwardDisplay
from calibrant.monitoring import walk_forward

rng = np.random.default_rng(1)
month = np.repeat(np.arange(1, 31), 300)
z = rng.normal(-0.5, 1.2, len(month))
labels = rng.random(len(month)) < expit(0.8 * z + 0.9 * (month > 15))

# %%
# For fifteen months nothing changes, and forgetting costs. Then a score comes to mean more than it did, and only what
# forgets follows. The adaptive calibrator is near the better of the two in both halves.

found = walk_forward(expit(z), labels, month)
figure, ax = plt.subplots(figsize=(9, 5), layout="constrained")
WalkForwardDisplay(found).plot(ax)
ax.axvline(14, color="0.4", linewidth=1, linestyle=(0, (4, 3)))
ax.text(13.6, ax.get_ylim()[1] * 0.5, "the world changes", ha="right", color="0.35")
ax.set_title("What adapting would have brought")
plt.show()
