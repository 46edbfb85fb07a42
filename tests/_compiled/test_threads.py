"""Kernels run in parallel threads, and importing them keeps a Python without the global lock without it."""

import importlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from sysconfig import get_config_var
from threading import Barrier

import numpy as np
import pytest

from .conftest import COMPILED, PACKAGE
from .test_builds import RUNS, as_tuple

THREADS = 4


@pytest.mark.compiled
@pytest.mark.parametrize("name", RUNS)
def test_threads_do_not_disturb_each_other(name):
    kernel, together = importlib.import_module(f"{PACKAGE}.{name}"), Barrier(THREADS)
    alone = as_tuple(RUNS[name](kernel))

    def run(_):
        together.wait(timeout=60.0)
        return [as_tuple(RUNS[name](kernel)) for _ in range(3)]

    with ThreadPoolExecutor(THREADS) as pool:
        runs = [found for thread in pool.map(run, range(THREADS)) for found in thread]
    for found in runs:
        for one, other in zip(found, alone, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.skipif(not get_config_var("Py_GIL_DISABLED"), reason="this Python has a global lock")
def test_kernels_do_not_bring_the_lock_back():
    modules = ", ".join(f"{PACKAGE}.{name}" for name in COMPILED)
    code = f"import sys, {modules}; sys.exit(sys._is_gil_enabled())"
    assert subprocess.run([sys.executable, "-W", "error", "-c", code], check=False).returncode == 0
