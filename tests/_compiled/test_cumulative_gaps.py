import numpy as np
import pytest

from calibrant import Tally, simulate
from calibrant._compiled import cumulative_gaps


def columns(tally):
    return tally.scores, tally.positives, tally.totals


def test_by_hand():
    # Gaps behind the cells: −0.25, 0.25, 0.
    cells = columns(Tally.from_arrays([0.25, 0.5, 1.0, 1.0], [0, 1, 1, 0], [1, 1, 0.25, 0.25]))
    assert cumulative_gaps.find_range(*cells) == pytest.approx((-0.25, 0.25))
    assert cumulative_gaps.integrate(*cells) == pytest.approx((0.0, 0.25 * -0.25 + 0.5 * 0.25, 0.75 * 0.0625))


@pytest.mark.parametrize("n", [1, 2, 3000])
def test_agrees_with_cumulative_sums(n):
    tally = simulate.from_truth("D1", n).tally
    walk = np.cumsum(tally.positives - tally.scores * tally.totals)
    assert cumulative_gaps.find_range(*columns(tally)) == pytest.approx((min(walk.min(), 0.0), max(walk.max(), 0.0)))
    widths = np.diff(tally.scores)
    expected = walk[-1], widths @ walk[:-1], widths @ np.square(walk[:-1])
    assert cumulative_gaps.integrate(*columns(tally)) == pytest.approx(expected)
