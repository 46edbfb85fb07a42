import numpy as np
import pytest
from matplotlib.figure import Figure

from calibrant.displays import WalkForwardDisplay
from calibrant.monitoring import walk_forward


def test_lines_end_at_what_was_saved_in_all():
    rng = np.random.default_rng(0)
    period, scores = np.repeat(np.arange(5), 150), rng.random(750)
    found = walk_forward(scores, rng.random(750) < scores**2, period)
    display = WalkForwardDisplay(found).plot(Figure().subplots())
    assert list(display.lines_) == ["all rows", "forgetting 0.97", "forgetting 0.7", "adaptive"]
    for name, line in display.lines_.items():
        assert line.get_ydata()[-1] == pytest.approx(-found[name].log_loss_difference.value * 600)
    assert [tick.get_text() for tick in display.ax_.get_xticklabels()] == ["1", "2", "3", "4"]
    assert display.figure_ is display.ax_.figure
