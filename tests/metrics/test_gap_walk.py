import numpy as np
import pytest

from calibrant import Tally
from calibrant.metrics import gap_walk as module
from calibrant.metrics.gap_walk import gap_walk


@pytest.mark.parametrize("block", [1, 7, 100, 16384])
def test_blocks_join_to_the_running_sum_over_rows(block, monkeypatch):
    monkeypatch.setattr(module, "BLOCK", block)
    rng = np.random.default_rng(0)
    p = np.sort(np.round(rng.random(100), 2))
    y = rng.random(100) < p
    tally = Tally.from_arrays(p, y)
    parts = list(gap_walk(tally))
    assert [cells.start for cells, _ in parts] == list(range(0, len(tally), block))
    rows = np.cumsum(y - p)
    last = np.append(np.flatnonzero(np.diff(p)), 99)
    np.testing.assert_allclose(np.concatenate([walk for _, walk in parts]), rows[last], atol=1e-12)


def test_the_tally_is_not_changed():
    tally = Tally.from_arrays([0.2, 0.6], [0, 1])
    before = tally.positives.tolist()
    list(gap_walk(tally))
    assert tally.positives.tolist() == before
