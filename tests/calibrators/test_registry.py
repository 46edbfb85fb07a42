import importlib.metadata
import subprocess
import sys

import numpy as np
import pytest

import calibrant
from calibrant import Blend, IsotonicCalibration, _optional, calibrators
from calibrant.calibrators import registry
from calibrant.calibrators.base import BayesianCalibrator, Calibrator
from calibrant.errors import InvalidInputError
from calibrant.multiclass.base import MatrixCalibrator


@pytest.fixture
def empty(monkeypatch):
    """The registry of a process in which nothing but the built-in methods is known."""
    monkeypatch.setattr(registry, "_REGISTERED", {})
    monkeypatch.setattr(registry, "load_plugins", tuple)
    registry._register_plugins.cache_clear()
    yield
    registry._register_plugins.cache_clear()


def method(name, **facts):
    return type("Mine", (IsotonicCalibration,), {"name": name, **facts})


@pytest.mark.parametrize("name", list(registry.METHODS["score"]))
def test_every_method_is_a_public_calibrator_in_its_own_file(name):
    cls = registry.get(name)
    module, class_name = registry.METHODS["score"][name]
    assert issubclass(cls, Calibrator)
    assert cls.bayesian == issubclass(cls, BayesianCalibrator)
    assert cls.__module__ == module
    assert getattr(calibrant, class_name) is cls
    assert class_name in calibrators.__all__
    assert registry.name_of(cls) == registry.name_of(cls()) == name


@pytest.mark.parametrize("name", list(registry.METHODS["matrix"]))
def test_every_method_for_matrices_is_a_calibrator_of_its_name(name):
    cls = registry.get(name, "matrix")
    assert issubclass(cls, MatrixCalibrator)
    assert cls.shape == "matrix"
    assert registry.name_of(cls) == registry.name_of(cls()) == name


def test_a_name_of_another_shape_is_told():
    with pytest.raises(InvalidInputError, match="'platt' takes one score for each row, and these"):
        registry.get("platt", "matrix")


def test_a_twin_has_the_options_or_refuses_them():
    assert registry.matrix_twin(Blend(space="decision")).space == "decision"
    with pytest.raises(InvalidInputError, match="`monotone` of Blend is for one score"):
        Blend(monotone=True).fit(np.eye(3), [0, 1, 2])


def test_create_passes_parameters():
    assert registry.create("platt", space="decision").space == "decision"


def test_unknown_method():
    with pytest.raises(InvalidInputError, match=r"`method` must be one of .*platt.*, or a calibrator; got 'plat'"):
        registry.get("plat")


def test_a_registered_method_is_found_like_the_others(empty):
    mine = method("mine")
    assert registry.name_of(mine) == "Mine"  # nobody could find it under another name
    assert registry.register(mine) is mine
    assert registry.names() == (*registry.METHODS["score"], "mine")
    assert registry.get("mine") is mine
    assert registry.create("mine", interpolation="step").interpolation == "step"
    assert registry.name_of(mine()) == "mine"


def test_a_class_may_be_registered_again_and_anew(empty):
    registry.register(IsotonicCalibration)
    registry.register(registry.register(method("mine")))
    anew = method("mine")
    assert registry.register(anew) is anew
    assert registry.get("mine") is anew
    assert registry.names() == (*registry.METHODS["score"], "mine")


def test_a_name_belongs_to_one_class(empty):
    with pytest.raises(InvalidInputError, match=r"`name` of Mine must be its own; 'isotonic' is .*IsotonicCalibration"):
        registry.register(method("isotonic"))
    registry.register(method("mine"))
    with pytest.raises(InvalidInputError, match=r"must be its own; 'mine' is .*Mine"):
        registry.register(type("Other", (IsotonicCalibration,), {"name": "mine"}))
    with pytest.raises(InvalidInputError, match="must be letters, digits and underscores"):
        registry.register(method("no name"))


@pytest.mark.parametrize("thing", [Calibrator, BayesianCalibrator, dict, IsotonicCalibration(), "isotonic"], ids=str)
def test_only_methods_that_can_be_made_are_registered(empty, thing):
    with pytest.raises(InvalidInputError, match="takes a subclass of Calibrator or MatrixCalibrator"):
        registry.register(thing)
    assert registry.names() == tuple(registry.METHODS["score"])


def test_an_entry_point_that_is_no_method_is_left_out_with_a_warning(empty, monkeypatch):
    entry = importlib.metadata.EntryPoint("strange", "builtins:dict", _optional.GROUP)
    monkeypatch.setattr(registry, "load_plugins", lambda: ((entry, dict),))
    with pytest.warns(RuntimeWarning, match="'strange' of the package 'builtins:dict' is left out"):
        assert registry.names() == tuple(registry.METHODS["score"])
    assert registry.names() == tuple(registry.METHODS["score"])  # and no second warning


def test_a_built_in_method_is_found_without_looking_for_others():
    program = (
        "import sys; from calibrant.calibrators import registry; registry.create('platt')\n"
        "assert 'calibrant.calibrators.blend' not in sys.modules\n"
        "assert registry._register_plugins.cache_info().currsize == 0"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_names_of_other_libraries_are_translated():
    with pytest.raises(InvalidInputError, match=r"got 'sigmoid'\. It is called 'platt' here"):
        registry.get("sigmoid")


def test_a_mistyped_name_is_corrected():
    with pytest.raises(InvalidInputError, match=r"got 'Isotonc'\. Did you mean 'isotonic'\?"):
        registry.get("Isotonc")
    with pytest.raises(InvalidInputError, match=r"got 'xyz'\.$"):
        registry.get("xyz")
