import numpy as np
from sklearn.calibration import calibration_curve

from calibrant._numerics import bins


def test_bins_are_closed_on_the_right():
    edges = bins.equal_width_edges(4)
    assert edges.tolist() == [0.25, 0.5, 0.75]
    assert bins.bin_of(np.array([0.0, 0.25, 0.26, 0.5, 1.0]), edges).tolist() == [0, 0, 1, 1, 3]


def test_agrees_with_scikit_learns_curve():
    rng = np.random.default_rng(0)
    scores = np.round(rng.random(400), 1)
    labels = rng.random(400) < scores
    of = bins.bin_of(scores, bins.equal_width_edges(10))
    fractions = [labels[of == b].mean() for b in range(10) if (of == b).any()]
    assert np.allclose(fractions, calibration_curve(labels, scores, n_bins=10)[0])


def test_groups_of_equal_mass_never_split_a_cell():
    starts = bins.equal_mass_starts(np.array([1.0, 1.0, 10.0, 1.0, 1.0]), 3)
    assert starts.tolist() == [0, 2, 3]
    assert bins.group_numbers(starts, 5).tolist() == [0, 0, 1, 2, 2]
    assert bins.equal_mass_starts(np.array([5.0]), 4).tolist() == [0]


def test_cuts_leave_each_neighbour_on_its_side():
    left = np.array([0.0, 1.0, np.nextafter(1.0, 0.0), -1.7e308, 0.0])
    right = np.array([1.0, np.nextafter(1.0, 2.0), 1.0, 1.7e308, 5e-324])
    cuts = bins.cuts_between(left, right)
    assert ((left <= cuts) & (cuts < right)).all()
    assert cuts[[0, 3]].tolist() == [0.5, 0.0]
