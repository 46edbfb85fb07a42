"""Every run tries the same examples, and no test leaves a method or a map function behind that others would find."""

import pytest
from hypothesis import settings

from calibrant.calibrators import registry
from calibrant.maps import functions

# New examples belong in the fuzzing job: elsewhere a change must not fail for what it has not touched.
settings.register_profile("same examples", derandomize=True)
settings.load_profile("same examples")

# The package of somebody else: importing it registers its method, which only the test that installs it wants.
collect_ignore = ["tests/example_package"]


@pytest.fixture(autouse=True)
def _same_methods_afterwards():
    tables = (registry._REGISTERED, functions.MAP_FUNCTIONS)
    before = [dict(table) for table in tables]
    yield
    for table, entries in zip(tables, before, strict=True):
        table.clear()
        table.update(entries)
