import numpy as np
import pytest
from scipy import integrate

from calibrant.segments.group_effects import ClassGroups, Groups, fit_groups


def log_likelihood(offset, columns, positives, totals, w):
    logits = offset + columns @ w
    return float(positives @ logits - totals @ np.logaddexp(0.0, logits))


@pytest.fixture
def cells():
    rng = np.random.default_rng(3)
    codes = np.repeat([0, 1, 2], 40)
    offset, u = rng.normal(0.0, 1.0, 120), rng.normal(0.0, 1.0, 120)
    totals = rng.integers(1, 6, 120).astype(float)
    positives = rng.binomial(totals.astype(int), 1.0 / (1.0 + np.exp(-offset - 0.4 * (codes - 1)))).astype(float)
    return codes, np.column_stack((np.ones(120), u)), offset, positives, totals


def test_evidence_and_moments_of_one_coefficient_agree_with_quadrature(cells):
    codes, columns, offset, positives, totals = cells
    own = codes == 2
    found = fit_groups(Groups.of(codes, 3, columns[:, :1], positives, totals), offset, np.array([0.5]))

    def density(w):
        value = log_likelihood(offset[own], columns[own, :1], positives[own], totals[own], np.array([w]))
        return np.exp(value - found.evidence[2] - 0.5 * (w / 0.5) ** 2) / (0.5 * np.sqrt(2.0 * np.pi))

    mass, mean, square = (integrate.quad(lambda w, k=k: w**k * density(w), -3.0, 3.0)[0] for k in range(3))
    assert mass == pytest.approx(1.0, abs=0.01)
    assert mean / mass == pytest.approx(found.mode[2, 0], abs=0.01)
    assert square / mass - (mean / mass) ** 2 == pytest.approx(found.covariance[2, 0, 0], rel=0.05)


def test_evidence_of_two_coefficients_agrees_with_quadrature(cells):
    codes, columns, offset, positives, totals = cells
    scales = np.array([0.5, 0.3])
    found = fit_groups(Groups.of(codes, 3, columns, positives, totals), offset, scales)
    for g in range(3):
        own = codes == g
        a, b = (np.linspace(-4.0 * s, 4.0 * s, 121) for s in scales)
        values = np.array(
            [
                [log_likelihood(offset[own], columns[own], positives[own], totals[own], np.array([x, y])) for y in b]
                for x in a
            ]
        )
        prior = -0.5 * ((a / scales[0])[:, None] ** 2 + (b / scales[1]) ** 2) - np.log(2.0 * np.pi * scales.prod())
        mass = np.exp(values + prior - found.evidence[g]).sum() * (a[1] - a[0]) * (b[1] - b[0])
        assert np.log(mass) == pytest.approx(0.0, abs=0.02)


def test_gradient_and_curvature_agree_with_differences(cells):
    codes, columns, offset, positives, totals = cells
    groups, scales, v = Groups.of(codes, 3, columns, positives, totals), np.array([0.5, 0.3]), np.full((3, 2), 0.2)

    def look(shift):
        return groups.look(offset, scales, v + shift)

    point, step = look(np.zeros(2)), 1e-5
    for k in range(2):
        shift = step * np.eye(2)[k]
        forward, backward = look(shift), look(-shift)
        np.testing.assert_allclose((forward.value - backward.value) / (2 * step), point.gradient[:, k], atol=1e-6)
        np.testing.assert_allclose(
            (backward.gradient - forward.gradient) / (2 * step), point.curvature[:, k], rtol=1e-6, atol=1e-6
        )


def test_a_scale_of_zero_takes_a_coefficient_out(cells):
    codes, columns, offset, positives, totals = cells
    both = fit_groups(Groups.of(codes, 3, columns, positives, totals), offset, np.array([0.5, 0.0]))
    one = fit_groups(Groups.of(codes, 3, columns[:, :1], positives, totals), offset, np.array([0.5]))
    np.testing.assert_allclose(both.evidence, one.evidence)
    np.testing.assert_allclose(both.mode[:, 0], one.mode[:, 0])
    assert not both.mode[:, 1].any()
    none = fit_groups(Groups.of(codes, 3, columns, positives, totals), offset, np.zeros(2))
    plain = [
        log_likelihood(offset[codes == g], columns[codes == g], positives[codes == g], totals[codes == g], np.zeros(2))
        for g in range(3)
    ]
    np.testing.assert_allclose(none.evidence, plain)


def test_order_of_cells_and_splitting_them_do_not_matter(cells):
    codes, columns, offset, positives, totals = cells
    scales = np.array([0.5, 0.3])
    whole = fit_groups(Groups.of(codes, 3, columns, positives, totals), offset, scales)
    order = np.random.default_rng(0).permutation(np.tile(np.arange(120), 2))
    halves = Groups.of(codes[order], 3, columns[order], positives[order] / 2, totals[order] / 2)
    split = fit_groups(halves, offset[order], scales)
    np.testing.assert_allclose(split.mode, whole.mode, atol=1e-10)
    np.testing.assert_allclose(split.evidence, whole.evidence, atol=1e-9)


def test_extreme_offsets_and_a_far_start_converge():
    codes, columns = np.zeros(4, int), np.ones((4, 1))
    offset, positives, totals = np.full(4, -30.0), np.full(4, 50.0), np.full(4, 50.0)
    found = fit_groups(Groups.of(codes, 1, columns, positives, totals), offset, np.array([10.0]))
    # the mode solves 200 (1 − p) = w / 100
    w = found.mode[0, 0]
    assert 200.0 / (1.0 + np.exp(-30.0 + w)) == pytest.approx(w / 100.0, rel=1e-2)
    far = fit_groups(Groups.of(codes, 1, columns, positives, totals), offset, np.array([10.0]), np.array([[-40.0]]))
    assert far.mode[0, 0] == pytest.approx(w, rel=1e-3)


def test_effect_is_that_of_the_group(cells):
    codes, columns, _, positives, totals = cells
    coefficients = np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 3.0]])
    effect = Groups.of(codes, 3, columns, positives, totals).effect(coefficients)
    assert effect[0] == 1.0
    assert effect[50] == columns[50, 1]
    assert effect[100] == pytest.approx(2.0 + 3.0 * columns[100, 1])


@pytest.fixture
def class_rows():
    rng = np.random.default_rng(4)
    codes, offset = np.repeat([0, 1], 30), rng.normal(0.0, 1.0, (60, 3))
    totals, u = rng.integers(1, 4, 60).astype(float), rng.normal(0.0, 1.0, (60, 3, 1))
    positives = np.array([rng.multinomial(int(n), [0.2, 0.3, 0.5]) for n in totals]).astype(float)
    return codes, u, offset, positives, totals


def test_derivatives_of_classes_agree_with_differences(class_rows):
    codes, u, offset, positives, totals = class_rows
    groups, scales, v = (
        ClassGroups.of(codes, 2, u, positives, totals),
        np.array([0.5, 0.5, 0.5, 0.3]),
        np.full((2, 4), 0.2),
    )
    point, step = groups.look(offset, scales, v), 1e-5
    z = offset + 0.1 + 0.06 * u[:, :, 0]  # 0.2 times the scales
    log_p = z - np.log(np.exp(z).sum(axis=1, keepdims=True))
    by_hand = np.bincount(codes, (positives * log_p).sum(axis=1)) - 0.5 * 4 * 0.2**2
    np.testing.assert_allclose(point.value, by_hand)
    for k in range(4):
        shift = step * np.eye(4)[k]
        forward, backward = groups.look(offset, scales, v + shift), groups.look(offset, scales, v - shift)
        np.testing.assert_allclose((forward.value - backward.value) / (2 * step), point.gradient[:, k], atol=1e-6)
        np.testing.assert_allclose(
            (backward.gradient - forward.gradient) / (2 * step), point.curvature[:, k], rtol=1e-6, atol=1e-6
        )


def test_two_classes_are_one_score(cells):
    codes, columns, offset, positives, totals = cells
    one = fit_groups(Groups.of(codes, 3, columns, positives, totals), offset, np.array([0.5, 0.3]))
    counts, u = np.column_stack((totals - positives, positives)), 0.5 * columns[:, 1:] * [-1.0, 1.0]
    both = np.column_stack((np.zeros(120), offset))
    # The difference of two biases has √2 times the scale of each.
    scales = np.array([0.5 / np.sqrt(2.0), 0.5 / np.sqrt(2.0), 0.3])
    two = fit_groups(ClassGroups.of(codes, 3, u[:, :, None], counts, totals), both, scales)
    np.testing.assert_allclose(two.evidence, one.evidence, atol=1e-6)
    np.testing.assert_allclose(two.mode[:, 1] - two.mode[:, 0], one.mode[:, 0], atol=1e-4)
    np.testing.assert_allclose(two.mode[:, 2], one.mode[:, 1], atol=1e-4)


def test_the_order_of_rows_and_classes_does_not_matter(class_rows):
    codes, u, offset, positives, totals = class_rows
    scales = np.array([0.5, 0.5, 0.5, 0.3])
    found = fit_groups(ClassGroups.of(codes, 2, u, positives, totals), offset, scales)
    rows, classes = np.random.default_rng(0).permutation(60), [2, 0, 1]
    moved = (array[rows][:, classes] for array in (u, positives, offset))
    columns, counts, logits = moved
    same = fit_groups(ClassGroups.of(codes[rows], 2, columns, counts, totals[rows]), logits, scales)
    np.testing.assert_allclose(same.evidence, found.evidence)
    np.testing.assert_allclose(same.mode, found.mode[:, [*classes, 3]], atol=1e-10)
