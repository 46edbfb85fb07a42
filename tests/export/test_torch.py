import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the module is one of torch")

from calibrant import CalibrationMap  # noqa: E402 - after the check that torch is there
from calibrant.calibrators import registry  # noqa: E402
from calibrant.export import to_torch  # noqa: E402
from calibrant.maps.functions import Linear, Sigmoid  # noqa: E402


@pytest.mark.parametrize("name", registry.names())
def test_every_method_of_one_score(name):
    rng = np.random.default_rng(0)
    raw = np.round(rng.beta(0.8, 1.2, 300), 2)
    map_ = registry.create(name).fit(raw, rng.random(300) < raw**1.4).map_
    scores = rng.random((50, 2))
    np.testing.assert_allclose(to_torch(map_)(torch.tensor(scores)), map_(scores.ravel()).reshape(50, 2), atol=1e-12)


def test_scores_that_the_map_refuses_give_nan():
    module = to_torch(CalibrationMap(Linear([0.0, 1.0], [0.1, 0.4]), "probability", True))
    assert torch.isnan(module(torch.tensor([-0.1, 0.5, 1.1, torch.nan]))).tolist() == [True, False, True, True]


def test_gradients_are_the_slopes_of_the_map():
    logits = torch.tensor([[0.0], [1.0]], requires_grad=True)
    module = to_torch(CalibrationMap(Sigmoid(2.0, 0.0, "identity")))
    module(logits).sum().backward()
    p = module(logits).detach()
    torch.testing.assert_close(logits.grad, 2.0 * p * (1.0 - p))


def test_every_part_in_both_spaces(full_map):
    row = np.array([[0.2, 0.3, 0.5]])
    np.testing.assert_allclose(to_torch(full_map)(torch.tensor(row)), full_map(row), atol=1e-14)


def test_fitted_maps(fitted_map, rows_with_zeros):
    got = to_torch(fitted_map)(torch.tensor(rows_with_zeros))
    np.testing.assert_allclose(got, fitted_map(rows_with_zeros), atol=1e-12)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_the_result_has_the_type_of_the_scores(full_map, dtype):
    scores = torch.tensor([[0.25, 0.25, 0.5]]).to(dtype)
    got = to_torch(full_map)(scores)
    assert got.dtype == dtype
    np.testing.assert_allclose(got.double(), full_map(scores.double().numpy()), rtol=torch.finfo(dtype).eps)


def test_halving_the_network_leaves_the_map_in_double(full_map):
    module = to_torch(full_map)
    before = [buffer.clone() for buffer in module.buffers()]
    torch.nn.Sequential(module).half()
    assert all(map(torch.equal, module.buffers(), before))


def test_gradients_reach_the_scores_and_nothing_is_trained(full_map):
    module = to_torch(full_map)
    scores = torch.tensor([[0.2, 0.3, 0.5]], dtype=torch.float64, requires_grad=True)
    module(scores)[0, 0].backward()
    assert scores.grad.abs().sum() > 0
    assert list(module.parameters()) == []


def test_state_dict_holds_the_coefficients(full_map):
    module, changed = to_torch(full_map), to_torch(full_map)
    row = torch.tensor([[0.2, 0.3, 0.5]], dtype=torch.float64)
    for buffer in changed.buffers():
        buffer += 1.0
    assert not torch.equal(changed(row), module(row))
    changed.load_state_dict(module.state_dict())
    assert torch.equal(changed(row), module(row))
