import numpy as np
import pytest
from scipy.spatial.distance import cdist

from calibrant.maps.matrix import nearness
from calibrant.multiclass import joint as module
from calibrant.multiclass.joint import Joint


@pytest.fixture
def rows():
    rng = np.random.default_rng(1)
    scaled = rng.normal(size=(400, 3))
    return (scaled - scaled.mean(axis=0)) / scaled.std(), rng.integers(1, 4, 400).astype(float)


def covariance(a, b, reach):
    return np.exp(-cdist(a, b, "sqeuclidean") / (2.0 * reach**2))


def test_nearness_by_hand():
    """A landmark at the row itself, and one at a distance of 5."""
    near = nearness(np.array([[1.0, 2.0]]), np.array([[1.0, 2.0], [4.0, 6.0]]), 5.0)
    np.testing.assert_allclose(near, [[1.0, np.exp(-0.5)]], rtol=1e-12)


def test_their_sum_has_the_covariance_of_the_process(rows):
    """Among landmarks as it is; among other rows nearly, and less where no landmark is near."""
    scaled, weights = rows
    found = Joint.from_rows(scaled, weights)

    def kernel(at):
        lines = found(at) + found.mean[:, None]
        return lines.T @ lines

    expected = covariance(found.landmarks, found.landmarks, found.reach)
    np.testing.assert_allclose(kernel(found.landmarks), expected, atol=5 * module.JITTER)
    some = scaled[:50]
    assert np.abs(kernel(some) - covariance(some, some, found.reach)).mean() < 0.01
    assert found.reach == pytest.approx(0.7 * np.sqrt(3.0))


def test_means_over_the_rows_are_taken_away(rows):
    scaled, weights = rows
    found = Joint.from_rows(scaled, weights)
    np.testing.assert_allclose(found(scaled) @ weights, 0.0, atol=1e-6)


def test_weights_are_repeated_rows_and_order_does_not_matter(rows):
    scaled, weights = rows
    found = Joint.from_rows(scaled, weights)
    twice = Joint.from_rows(np.repeat(scaled, weights.astype(int), axis=0), np.ones(int(weights.sum())))
    order = np.random.default_rng(0).permutation(400)
    moved = Joint.from_rows(scaled[order], weights[order])
    for other in (twice, moved):
        np.testing.assert_array_equal(other.landmarks, found.landmarks)
        np.testing.assert_allclose(other(scaled), found(scaled), atol=1e-9)


def test_more_classes_have_fewer_landmarks():
    scaled = np.random.default_rng(0).normal(size=(500, 10))
    assert Joint.from_rows(scaled, np.ones(500)).size == module.MOST_COEFFICIENTS // 10
    assert Joint.from_rows(scaled[:, :3], np.ones(500)).size == module.MOST_LANDMARKS
    wide = np.hstack((scaled, scaled[::-1]))
    assert Joint.from_rows(wide, np.ones(500)).size == module.LANDMARKS_BESIDE  # where classes are fitted side by side


def test_equal_rows_are_one_landmark():
    assert Joint.from_rows(np.zeros((30, 4)), np.ones(30)).size == 1
