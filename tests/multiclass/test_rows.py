import numpy as np
import pytest
from scipy.special import log_softmax

from calibrant.multiclass import rows as module
from calibrant.multiclass.curvature import Arrow
from calibrant.multiclass.features import Features
from calibrant.multiclass.rows import Layout, Rows

BLOCKS = ("slope", "curve", "gate", "bias", "vector", "class_curve", "matrix", "confusion", "joint")


def make_rows(blocks=BLOCKS, n=60, n_classes=3, seed=2):
    rng = np.random.default_rng(seed)
    ell = log_softmax(rng.normal(size=(n, n_classes)) * 2.0, axis=1)
    y, weights = rng.integers(n_classes, size=n), rng.uniform(0.5, 2.0, size=n)
    rows = Rows(Features.from_rows(ell, weights), ell, y, weights, blocks)
    return rows, 0.3 * rng.normal(size=len(rows.layout))


def objective(rows, theta):
    return rows.log_likelihood(rows.log_probabilities(theta))


def numerical_gradient(function, theta, step=1e-5):
    units = step * np.eye(len(theta))
    return np.array([(function(theta + u) - function(theta - u)) / (2.0 * step) for u in units])


def test_log_probabilities_are_the_softmax_of_the_written_out_logits():
    rows, theta = make_rows(("slope", "bias", "vector", "matrix"))
    f, ell = rows.features, rows.ell
    u = (np.clip(ell, f.low, f.high) - f.center) / f.spread
    slope, own, matrix = theta[0], theta[1:].reshape(3, 4), np.zeros((3, 3))
    matrix[~np.eye(3, dtype=bool)] = own[:, 2:].ravel()
    z = ell + slope * ell / f.slope_spread + own[:, 0] + own[:, 1] * u + u @ matrix.T
    np.testing.assert_allclose(rows.log_probabilities(theta), log_softmax(z, axis=1), atol=1e-12)


def test_gradient_agrees_with_finite_differences():
    rows, theta = make_rows()
    p = np.exp(rows.log_probabilities(theta))
    expected = numerical_gradient(lambda t: objective(rows, t), theta)
    np.testing.assert_allclose(rows.gradient(p), expected, atol=1e-5)


def test_curvature_agrees_with_finite_differences_of_the_gradient():
    rows, theta = make_rows()
    curvature = rows.curvature(np.exp(rows.log_probabilities(theta)))
    expected = -numerical_gradient(lambda t: rows.gradient(np.exp(rows.log_probabilities(t))), theta)
    np.testing.assert_allclose(curvature, expected, atol=1e-4)


def test_arrow_is_the_curvature_without_the_links_between_classes():
    rows, theta = make_rows(("slope", "curve", "bias", "class_curve"), n_classes=4)
    p = np.exp(rows.log_probabilities(theta))
    full, (shared, link, own) = rows.curvature(p), rows.arrow(p)
    s, c = rows.layout.n_shared, rows.layout.n_own
    np.testing.assert_allclose(shared, full[:s, :s], atol=1e-9)
    for k in range(4):
        at = slice(s + k * c, s + (k + 1) * c)
        np.testing.assert_allclose(link[k], full[:s, at], atol=1e-9)
        np.testing.assert_allclose(own[k], full[at, at], atol=1e-9)
    assert own.shape == (4, c, c)


def test_curvature_side_by_side_is_positive_where_classes_have_functions_of_all():
    rows, theta = make_rows(n=300, n_classes=12)
    p = np.exp(rows.log_probabilities(theta))
    found = rows.second_derivatives(p)
    assert isinstance(found, Arrow)
    assert np.linalg.eigvalsh(found.shared).min() > -1e-9
    assert not found.link.any()
    assert np.linalg.eigvalsh(found.own).min() > -1e-9


@pytest.mark.parametrize("limits", [("KEPT_VALUES", "PASS_VALUES"), ("BLOCK_ROWS",)])
def test_chunks_change_nothing(monkeypatch, limits):
    whole, theta = make_rows(n=200)
    p = np.exp(whole.log_probabilities(theta))
    for limit in limits:
        monkeypatch.setattr(module, limit, 70)
    chunked, _ = make_rows(n=200)
    np.testing.assert_allclose(np.exp(chunked.log_probabilities(theta)), p, atol=1e-12)
    np.testing.assert_allclose(chunked.gradient(p), whole.gradient(p), atol=1e-9)
    np.testing.assert_allclose(chunked.curvature(p), whole.curvature(p), atol=1e-9)


def test_layout_gives_every_coefficient_one_place():
    rows, _ = make_rows()
    layout = rows.layout
    counts = np.bincount(np.concatenate([layout.places(k) for k in range(3)]), minlength=len(layout))
    assert (counts[: layout.n_shared] == 3).all()
    assert (counts[layout.n_shared :] == 1).all()
    assert sum(len(places) for places in layout.members.values()) == len(layout)
    assert isinstance(layout, Layout)


def test_averages_are_those_of_single_passes():
    rows, theta = make_rows(n=150)
    thetas = theta + 0.2 * np.random.default_rng(0).normal(size=(5, len(theta)))
    value, p = rows.average(thetas)
    each = [rows.log_probabilities(t) for t in thetas]
    assert value == pytest.approx(np.mean([rows.log_likelihood(log_p) for log_p in each]))
    np.testing.assert_allclose(p, np.exp(each).mean(axis=0), atol=1e-12)


@pytest.mark.parametrize("limit", [10, 60_000_000])
def test_restricted_rows_are_rows_of_those_blocks(monkeypatch, limit):
    monkeypatch.setattr(module, "KEPT_VALUES", limit)
    blocks = ("slope", "bias", "matrix")
    rows, _ = make_rows(n=90)
    direct, theta = make_rows(blocks, n=90)
    restricted = rows.restricted(blocks)
    assert (restricted.layout.group == direct.layout.group).all()
    np.testing.assert_allclose(restricted.log_probabilities(theta), direct.log_probabilities(theta), atol=1e-12)


def test_many_rows_in_single_precision_give_nearly_the_same(monkeypatch):
    exact, theta = make_rows(n=300)
    monkeypatch.setattr(module, "DOUBLE_UP_TO", 10)
    single, _ = make_rows(n=300)
    p = np.exp(single.log_probabilities(theta))
    assert p.dtype == np.float32
    np.testing.assert_allclose(p, np.exp(exact.log_probabilities(theta)), atol=1e-5)
    np.testing.assert_allclose(single.gradient(p), exact.gradient(p.astype(float)), atol=1e-3)
    np.testing.assert_allclose(single.curvature(p), exact.curvature(p.astype(float)), atol=1e-3)
    blocks = ("slope", "curve", "bias", "class_curve")
    parts = single.restricted(blocks).arrow(p), exact.restricted(blocks).arrow(p.astype(float))
    for part, expected in zip(*parts, strict=True):
        np.testing.assert_allclose(part, expected, atol=1e-3)
