import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrant._numerics.monotone import nearest_monotone


def test_nearest_monotone_by_hand():
    np.testing.assert_array_equal(nearest_monotone(np.array([1.0, 3.0, 2.0, 4.0])), [1.0, 2.5, 2.5, 4.0])


@settings(deadline=None, max_examples=50)
@given(st.lists(st.floats(-10, 10), min_size=1, max_size=20), st.lists(st.floats(-10, 10), min_size=20, max_size=20))
def test_nearest_monotone_rises_and_no_rising_truth_gets_farther_away(values, truth):
    y = np.array(values)
    risen = nearest_monotone(y)
    assert (np.diff(risen) >= 0.0).all()
    np.testing.assert_array_equal(nearest_monotone(risen), risen)
    rising = np.sort(truth[: len(y)])
    assert np.abs(risen - rising).max() <= np.abs(y - rising).max() + 1e-12
