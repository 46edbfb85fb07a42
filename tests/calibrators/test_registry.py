import pytest

import calibrant
from calibrant.calibrators import registry
from calibrant.calibrators.base import BayesianCalibrator, Calibrator
from calibrant.errors import InvalidInputError


@pytest.mark.parametrize("name", list(registry.METHODS))
def test_every_method_is_a_public_calibrator_in_its_own_file(name):
    cls = registry.get(name)
    module, class_name = registry.METHODS[name]
    assert issubclass(cls, Calibrator)
    assert cls.bayesian == issubclass(cls, BayesianCalibrator)
    assert cls.__module__ == f"calibrant.calibrators.{module}"
    assert getattr(calibrant, class_name) is cls
    assert class_name in calibrant.__all__


def test_create_passes_parameters():
    assert registry.create("platt", space="decision").space == "decision"


def test_unknown_method():
    with pytest.raises(InvalidInputError, match=r"`method` must be one of .*platt.*, or a calibrator; got 'plat'"):
        registry.get("plat")
