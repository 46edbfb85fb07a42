"""No test leaves a method or a map function behind that others would find; examples are the same in every run."""

import pytest

from calibrant import map_functions
from calibrant.calibrators import registry

# The package of somebody else: importing it registers its method, which only the test that installs it wants.
collect_ignore = ["tests/example_package"]

try:
    from hypothesis import settings
except ImportError:  # the tests that need it are skipped or fail by themselves
    pass
else:
    settings.register_profile("same", derandomize=True)
    settings.load_profile("same")


@pytest.fixture(autouse=True)
def _same_methods_afterwards():
    tables = (registry._REGISTERED, map_functions.MAP_FUNCTIONS)
    before = [dict(table) for table in tables]
    yield
    for table, entries in zip(tables, before, strict=True):
        table.clear()
        table.update(entries)
