"""Every run tries the same examples, and no test leaves a method or a map function behind that others would find."""

import shutil

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


BROWSER_FLAGS = """
--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking
--disable-component-update --disable-sync --disable-dev-shm-usage --hide-scrollbars --window-size=1280,900
"""


@pytest.fixture(scope="session")
def driver(tmp_path_factory):
    """Chromium without a screen, which keeps a record of what it asks for."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed, so no browser is driven")
    browser, program = shutil.which("chromium") or shutil.which("google-chrome"), shutil.which("chromedriver")
    if not browser or not program:
        pytest.skip("needs chromium and chromedriver (Debian: chromium chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for flag in (*BROWSER_FLAGS.split(), f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    running = webdriver.Chrome(options=options, service=webdriver.ChromeService(program))
    yield running
    running.quit()
