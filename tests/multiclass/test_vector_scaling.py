import numpy as np
from scipy.special import softmax

from calibrant.multiclass.scaling import VectorScaling


def test_recovers_a_slope_and_an_intercept_for_each_class():
    rng = np.random.default_rng(1)
    p = rng.dirichlet(np.ones(3), size=20_000)
    truth = softmax(np.log(p) * [0.5, 1.0, 1.5] + [0.5, 0.0, -0.5], axis=1)
    y = (truth.cumsum(axis=1) < rng.random((20_000, 1))).sum(axis=1)
    assert np.abs(VectorScaling().fit(p, y).predict_proba(p) - truth).max() < 0.05


def test_few_rows_stay_near_temperature_scaling():
    rng = np.random.default_rng(2)
    p = rng.dirichlet(np.ones(3), size=40)
    y = np.array([rng.choice(3, p=q) for q in p])
    fitted = VectorScaling().fit(p, y)
    member = fitted.map_.members[0]
    slope = np.mean([member.slope for member in fitted.map_.members])
    tempered = softmax((1.0 + slope) * np.log(p), axis=1)
    assert member.vector.shape == (3,)
    assert np.abs(fitted.predict_proba(p) - tempered).mean() < 0.08


def test_intervals_cover_slopes_that_differ_between_classes():
    covered = []
    for seed in range(15):
        rng = np.random.default_rng(seed)
        p = softmax(rng.normal(0.0, 1.5, (200, 6)), axis=1)
        truth = softmax(np.log(p) * np.linspace(0.4, 1.6, 6), axis=1)
        y = (truth[:100].cumsum(axis=1) < rng.random((100, 1))).sum(axis=1).clip(0, 5)
        low, high = VectorScaling().fit(p[:100], y).predict_interval(p[100:])
        covered.append(np.mean((low <= truth[100:]) & (truth[100:] <= high)))
    assert 0.85 < np.mean(covered) < 0.97
