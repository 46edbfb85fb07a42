import inspect

from calibrant.calibrators import registry
from calibrant.calibrators.base import BayesianCalibrator
from calibrant.estimates import estimate, estimate_difference
from calibrant.estimates.methods import EstimateMethods


def test_methods_have_the_arguments_of_the_functions():
    for function in (estimate, estimate_difference):
        of_function = list(inspect.signature(function).parameters.values())[1:]
        of_method = list(inspect.signature(getattr(EstimateMethods, function.__name__)).parameters.values())[1:]
        assert [(p.name, p.default, p.kind) for p in of_function] == [(p.name, p.default, p.kind) for p in of_method]


def test_every_bayesian_method_answers():
    for name in registry.names():
        calibrator = registry.create(name)
        if isinstance(calibrator, BayesianCalibrator):
            answer = calibrator.fit([0.1, 0.3, 0.4, 0.6, 0.9], [0, 0, 1, 0, 1]).estimate([0.2, 0.7], n_draws=20)
            assert 0.0 <= answer.low <= answer.value <= answer.high <= 1.0
