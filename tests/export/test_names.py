import pytest

from calibrant import PlattScaling
from calibrant.errors import InvalidInputError
from calibrant.export import to_c, to_python
from calibrant.export.names import check_name


@pytest.fixture(scope="module")
def map_():
    return PlattScaling().fit([0.1, 0.4, 0.6, 0.9], [0, 1, 0, 1]).map_


@pytest.mark.parametrize(
    "name", ["class", "None", "lambda", "while", "__import__", "exp", "log", "print", "TEST_SCORES"]
)
def test_names_that_python_has_taken_are_refused(map_, name):
    with pytest.raises(InvalidInputError, match=f"`name` .* Python has taken; got '{name}'"):
        to_python(map_, name=name)


@pytest.mark.parametrize(
    "name",
    ["class", "double", "exp", "expf", "printf", "main", "_Bool", "__import__", "NAN", "calibrant_search"],
)
def test_names_that_c_has_taken_are_refused(map_, name):
    with pytest.raises(InvalidInputError, match=f"`name` .* C has taken; got '{name}'"):
        to_c(map_, name=name)


@pytest.mark.parametrize("name", ["", "a b", "1x", "é", "a-b", 'x"; DROP TABLE'])
@pytest.mark.parametrize("language", ["C", "Python"])
def test_only_plain_identifiers_are_names(name, language):
    with pytest.raises(InvalidInputError, match="identifier"):
        check_name(name, language)


@pytest.mark.parametrize("name", ["select", "match", "score", "calibrate_2", "v1", "double_score"])
def test_other_names_work(map_, name):
    assert f"def {name}(" in to_python(map_, name=name)
    assert f"double {name}(" in to_c(map_, name=name)
