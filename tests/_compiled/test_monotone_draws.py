import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrant._compiled.monotone_draws import draw
from calibrant.calibrators.published.sampled_bayes_iso import bounds


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)).filter(any), min_size=1, max_size=30),
    st.sampled_from(["paper", "code", None]),
)
def test_maps_stay_within_monotone_bounds(cells, kind):
    positives, negatives = np.array(cells, dtype=float).T
    lower, upper = bounds(positives, positives + negatives, kind)
    assert (np.diff(lower) >= 0).all()
    assert (np.diff(upper) >= 0).all()
    assert (lower <= upper).all()
    maps, fits = draw(np.random.default_rng(0).random((20, 2, len(lower))), lower, upper, positives, negatives)
    assert (np.diff(maps, axis=1) >= 0).all()
    assert ((maps >= lower) & (maps <= upper)).all()
    with np.errstate(divide="ignore"):
        expected = positives * np.log(maps) + negatives * np.log1p(-maps)
    np.testing.assert_allclose(fits, np.where(positives + negatives > 0, expected, 0).sum(axis=1), rtol=1e-9)


def test_three_cells_by_hand():
    # The first uniform of a range picks its rank: ½ of 1 … 3 is the middle. Then the outer cells share what is left.
    ranks, values = [0.5, 0.0, 0.0], [0.5, 0.4, 0.5]
    maps, fits = draw(np.array([[ranks, values]]), np.zeros(3), np.ones(3), np.array([0.0, 1.0, 2.0]), np.zeros(3))
    np.testing.assert_allclose(maps, [[0.2, 0.4, 0.7]], rtol=1e-15)
    np.testing.assert_allclose(fits, [np.log(0.4) + 2.0 * np.log(0.7)], rtol=1e-14)


def test_every_order_of_ranks_is_equally_likely():
    # The lowest of three cells has the mean 1/2 if it is drawn first, 1/4 if the middle one is; if the highest is, 1/4
    # or 1/8, as the lowest or the middle one comes next.
    uniforms = np.random.default_rng(0).random((200_000, 2, 3))
    maps, _ = draw(uniforms, np.zeros(3), np.ones(3), np.zeros(3), np.zeros(3))
    lowest = (1 / 2 + 1 / 4 + (1 / 4 + 1 / 8) / 2) / 3
    np.testing.assert_allclose(maps.mean(axis=0), [lowest, 0.5, 1.0 - lowest], atol=0.002)
