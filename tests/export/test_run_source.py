import ctypes
import shutil

import pytest

from calibrant.errors import ModelFileError
from calibrant.export.run_source import c_function, python_function

needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")


def test_python_function_by_name():
    assert python_function("def half(x):\n    return x / 2\n", "half")(3.0) == 1.5


@needs_compiler
def test_c_function_by_name():
    with c_function("double half(double x) { return x / 2; }", "half") as half:
        half.restype, half.argtypes = ctypes.c_double, [ctypes.c_double]
        assert half(3.0) == 1.5


@needs_compiler
def test_what_does_not_compile_is_refused_with_the_compilers_words():
    with pytest.raises(ModelFileError, match=r"compiler rejected it\.\n.*error"), c_function("double half(", "half"):
        pass
