import inspect

import pytest

import calibrant
from calibrant.calibrators import registry
from calibrant.calibrators.base import BayesianCalibrator
from calibrant.estimates import estimate, estimate_difference
from calibrant.estimates.methods import EstimateMethods


def test_methods_have_the_arguments_of_the_functions():
    for function in (estimate, estimate_difference):
        of_function = list(inspect.signature(function).parameters.values())[1:]
        of_method = list(inspect.signature(getattr(EstimateMethods, function.__name__)).parameters.values())[1:]
        assert [(p.name, p.default, p.kind) for p in of_function] == [(p.name, p.default, p.kind) for p in of_method]


BAYESIAN = [name for name in registry.names() if isinstance(registry.create(name), BayesianCalibrator)]


@pytest.mark.parametrize("name", BAYESIAN)
def test_every_bayesian_method_answers_and_again_after_it_was_saved(name, tmp_path):
    calibrator = registry.create(name).fit([0.1, 0.3, 0.4, 0.6, 0.9], [0, 0, 1, 0, 1])
    answer = calibrator.estimate([0.2, 0.7], n_draws=400)
    assert 0.0 <= answer.low <= answer.value <= answer.high <= 1.0
    calibrator.save(tmp_path / "model.json")
    saved = calibrant.load(tmp_path / "model.json").estimate([0.2, 0.7], finite=False)
    assert saved.value == answer.value
    fitted = calibrator.estimate([0.2, 0.7], finite=False)
    assert (saved.low, saved.high) == pytest.approx((fitted.low, fitted.high), abs=0.1)
