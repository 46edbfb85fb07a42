import numpy as np
import pytest

from calibrant.multiclass import posterior
from calibrant.multiclass.blend import MatrixBlend
from calibrant.multiclass.scaling import VectorScaling


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    scores = rng.dirichlet(np.ones(4), size=120)
    return scores, np.array([rng.choice(4, p=p) for p in scores])


def test_few_rows_are_averaged_over_draws_and_many_are_not(rows, monkeypatch):
    assert len(VectorScaling().fit(*rows).map_.members) == posterior.DRAWS
    monkeypatch.setattr(posterior, "AVERAGED_ENTRIES", 10)
    fitted = VectorScaling().fit(*rows)
    assert len(fitted.map_.members) == 1
    draws = fitted.sample_maps(rows[0][:5], n_draws=2000)
    np.testing.assert_allclose(draws.mean(axis=0), fitted.predict_proba(rows[0][:5]), atol=0.03)


def test_weights_of_the_pool_add_up_and_follow_the_models(rows):
    blend = MatrixBlend().fit(*rows)
    members = blend.map_.members
    assert sum(member.weight for member in members) == pytest.approx(1.0)
    with_matrix = sum(member.weight for member in members if member.matrix.size)
    expected = sum(blend.weights_[name] for name in ("matrix", "full", "joint"))
    assert with_matrix == pytest.approx(expected, abs=0.01)


def test_draws_of_the_posterior_average_to_the_prediction(rows):
    blend = MatrixBlend().fit(*rows)
    draws = blend.sample_maps(rows[0][:10], n_draws=3000, random_state=3)
    np.testing.assert_allclose(draws.mean(axis=0), blend.predict_proba(rows[0][:10]), atol=0.03)


def test_scales_are_those_of_the_heaviest_model(rows):
    blend = MatrixBlend().fit(*rows)
    heaviest = max(blend.weights_, key=blend.weights_.get)
    assert set(blend.scales_) <= set(MatrixBlend.models[heaviest])
    assert all(scale > 0.0 for scale in blend.scales_.values())


def test_classes_decide_which_models_there_are():
    blend = MatrixBlend()
    assert list(blend.models_for(10)) == ["temperature", "curve", "bias", "vector", "matrix", "full", "joint"]
    assert list(blend.models_for(30)) == list(blend.models_for(10))
    assert "confusion" not in blend.models_for(25)["full"]
    assert list(blend.models_for(100)) == ["temperature", "curve", "bias", "vector"]
    assert "class_curve" not in blend.models_for(1000)["vector"]


def test_weights_follow_what_is_expected_of_new_rows_and_prefer_simple_models(rows, monkeypatch):
    monkeypatch.setattr(posterior, "LEAST_WEIGHT", 0.0)
    blend = MatrixBlend().fit(*rows)
    fit = np.array([model.posterior.expected for model in blend._fitted])
    weights = 0.8 ** np.arange(7) * np.exp(0.2 * (fit - fit.max()))
    np.testing.assert_allclose(list(blend.weights_.values()), weights / weights.sum(), rtol=1e-9)


def test_a_fifth_of_a_row_is_shared_by_all_classes():
    """Sure scores that are always right, and one that rules a class out: it keeps a little all the same."""
    scores, y = np.eye(3)[[0, 1, 2] * 40], np.array([0, 1, 2] * 40)
    share = 0.2 / 120.2
    blend = MatrixBlend().fit(scores, y)
    assert sum(member.weight for member in blend.map_.members) == pytest.approx(1.0)
    assert blend.map_.members[-1].weight == pytest.approx(share)
    assert blend.predict_proba(scores).min() > share / 3
    weighted = MatrixBlend().fit(scores, y, sample_weight=np.full(120, 2.0))
    assert weighted.map_.members[-1].weight == pytest.approx(0.2 / 240.2)
    assert len(VectorScaling().fit(scores, y).map_.members) == posterior.DRAWS
