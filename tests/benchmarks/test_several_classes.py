import re
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))  # benchmarks are not installed

from benchmarks.peers import several_classes  # noqa: E402


def test_the_scores_need_calibration_and_get_it(capsys):
    p, y = several_classes.draw(400, 5)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert set(y) == set(range(5))
    several_classes.main(["--sizes", "400x5", "--rounds", "1"])
    out = capsys.readouterr().out
    before = float(re.search(r"before (\S+)", out)[1])
    after = float(re.search(r"MatrixBlend.*log-loss (\S+)", out)[1])
    assert after < before
