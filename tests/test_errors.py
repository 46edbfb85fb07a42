import sklearn.exceptions

from calibrant import errors


def test_every_error_is_also_the_builtin_that_a_caller_would_catch():
    assert issubclass(errors.InvalidInputError, ValueError)
    assert issubclass(errors.ModelFileError, ValueError)
    assert issubclass(errors.MissingExtraError, ImportError)
    assert issubclass(errors.NotFittedError, sklearn.exceptions.NotFittedError)
    assert sorted(errors.__all__) == errors.__all__
