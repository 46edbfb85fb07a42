"""What callers may catch, and that a saved map is applied without waiting for scikit-learn."""

import pickle
import subprocess
import sys

import pytest
import sklearn.exceptions

from calibrant import IsotonicCalibration, errors
from calibrant.calibrators import base


def test_every_error_is_also_the_builtin_that_a_caller_would_catch():
    assert issubclass(errors.InvalidInputError, ValueError)
    assert issubclass(errors.ModelFileError, ValueError)
    assert issubclass(errors.MissingExtraError, ImportError)
    assert issubclass(errors.NotFittedError, sklearn.exceptions.NotFittedError)
    assert sorted(errors.__all__) == errors.__all__


def test_the_error_of_unfitted_calibrators_is_one_class_wherever_it_is_caught():
    assert errors.NotFittedError is base.NotFittedError
    assert "NotFittedError" in dir(errors)
    assert errors.NotFittedError.__doc__
    for kind in (errors.NotFittedError, sklearn.exceptions.NotFittedError, ValueError, AttributeError):
        with pytest.raises(kind, match="not fitted"):
            IsotonicCalibration().predict([0.5])


def test_it_travels_between_processes():
    copy = pickle.loads(pickle.dumps(errors.NotFittedError("not fitted yet")))
    assert type(copy) is errors.NotFittedError
    assert str(copy) == "not fitted yet"
    assert errors.NotFittedError.__qualname__ == "NotFittedError"


def test_other_names_are_refused():
    with pytest.raises(AttributeError, match="no attribute 'CalibrationError'"):
        _ = errors.CalibrationError


@pytest.mark.parametrize(
    "statement",
    [
        "import calibrant.errors",
        "import calibrant; calibrant.load(sys.argv[1])([0.5])",
        "import calibrant.cli.app",
    ],
)
def test_what_fits_nothing_does_not_load_scikit_learn(statement, tmp_path):
    path = tmp_path / "map.json"
    IsotonicCalibration().fit([0.2, 0.8], [0, 1]).save(path)
    code = f"import sys; {statement}; print('sklearn' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
