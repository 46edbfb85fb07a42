import numpy as np
import pytest

from calibrant._kernels.targets import platt_targets


def test_by_hand():
    # Three positives become 4/5 each, two negatives 1/4 each.
    corrected = platt_targets(np.array([2.0, 1.0]), np.array([2.0, 3.0]))
    assert corrected == pytest.approx([2 * 4 / 5, 4 / 5 + 2 / 4])


def test_one_class_stays_inside():
    assert platt_targets(np.array([3.0]), np.array([3.0])) == pytest.approx([3 * 4 / 5])
