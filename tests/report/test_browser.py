"""The page in a real browser: Chromium without a screen."""

import base64
import json
import shutil
import struct
from dataclasses import replace

import pytest

from calibrant.report.page import render

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed, so no browser can be driven")
jinja2 = pytest.importorskip("jinja2", reason="jinja2 is in the extra `report`")
offline = pytest.importorskip("plotly.offline", reason="plotly is in the extra `report`")

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
FLAGS = """
--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking
--disable-component-update --disable-sync --disable-dev-shm-usage --hide-scrollbars --window-size=1280,900
"""

pytestmark = pytest.mark.skipif(
    not BROWSER or not DRIVER, reason="needs chromium and chromedriver (Debian: chromium chromium-driver)"
)


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for flag in (*FLAGS.split(), f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield browser
    browser.quit()


@pytest.fixture(scope="module")
def address(segmented, hostile, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(render(segmented, hostile, jinja2, offline.get_plotlyjs()), encoding="utf-8")
    return path.as_uri()


@pytest.fixture(scope="module")
def loaded(driver, address):
    """The page, loaded once, 1280 pixels wide and light; every test that uses it leaves it as it was."""
    show(driver, address, 1280, "light")
    return driver


@pytest.fixture
def page(loaded):
    yield loaded
    assert complaints(loaded) == []


def show(driver, address, width, scheme):
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    wanted = {"name": "prefers-color-scheme", "value": scheme}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": [wanted]})
    driver.get(address)
    assert js(driver, "document.documentElement.dataset.ready") == "true"


def complaints(driver):
    return [entry for entry in driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]


def js(driver, code, *values):
    return driver.execute_script(f"return {code}", *values)


def click(driver, selector):
    js(driver, "document.querySelector(arguments[0]).click()", selector)


def curves_shown(driver):
    shown = "(t) => t.meta && t.meta.method && t.visible"
    return js(driver, f"document.getElementById('figure-map').data.filter({shown}).map((t) => t.meta.method)")


def test_every_figure_is_drawn_and_nothing_is_requested(page, address):
    drawn = js(page, "[...document.querySelectorAll('.figure')].map((d) => d.querySelectorAll('.trace').length)")
    assert len(drawn) == 7
    assert min(drawn) > 0
    events = [json.loads(entry["message"])["message"] for entry in page.get_log("performance")]
    requests = [e["params"] for e in events if e["method"] == "Network.requestWillBeSent"]
    asked = {r["request"]["url"] for r in requests if r["documentURL"] == address}
    assert address in asked
    assert {url for url in asked if not url.startswith("data:")} == {address}


def test_methods_switch_on_and_off(page):
    assert curves_shown(page) == ["bayes_iso"]
    click(page, "button[data-method=platt]")
    assert curves_shown(page) == ["bayes_iso", "platt"]
    assert js(page, "document.querySelector('button[data-method=platt]').getAttribute('aria-pressed')") == "true"
    click(page, "button[data-method=bayes_iso]")
    assert curves_shown(page) == ["platt"]
    click(page, "#all-methods")
    assert curves_shown(page) == ["bayes_iso", "platt"]
    click(page, "#all-methods")
    assert curves_shown(page) == ["bayes_iso"]


BARS_OVERLAP = """
const study = [];
for (const { x, width } of document.getElementById("figure-scores").data) {
  for (let i = 1; i < x.length; i += 1) {
    if (x[i] - width[i] / 2 < x[i - 1] + width[i - 1] / 2 - 1e-6) study.push([x[i - 1], x[i]]);
  }
}
return study;
"""


def test_axes_stretch(page):
    def right_end():
        return js(page, "document.getElementById('figure-before').layout.xaxis.range[1]")

    def rows_in_bars():
        return js(page, "document.getElementById('figure-scores').data.map((t) => t.y.reduce((a, b) => a + b, 0))")

    assert right_end() == pytest.approx(1.02)
    rows = rows_in_bars()
    click(page, "button[data-scale=logit]")
    assert right_end() > 1.5
    assert rows_in_bars() == pytest.approx(rows)  # none are lost beyond the ends
    assert page.execute_script(BARS_OVERLAP) == []
    click(page, "button[data-scale=linear]")
    assert right_end() == pytest.approx(1.02)


def test_segments_can_be_chosen(page):
    def choose(index):
        js(page, "document.getElementById('segment').selectedIndex = arguments[0]", index)
        js(page, "document.getElementById('segment').dispatchEvent(new Event('change'))")
        return js(page, "document.getElementById('figure-segment').data.at(-1).x")

    assert choose(1) != choose(0)
    rows = "document.getElementById('segment-rows').textContent"
    first = js(page, rows)
    choose(1)
    assert js(page, rows) != first
    assert js(page, "document.getElementById('segment-rows').rows.length") == js(
        page, "document.getElementById('figure-segment').data.at(-1).x.length"
    )
    assert "segment south" in js(page, "document.getElementById('figure-segment').getAttribute('aria-label')")
    assert "south" in js(page, "document.getElementById('status').textContent")
    choose(0)
    assert js(page, rows).split() == first.split()


def test_theme_button(page):
    background = "getComputedStyle(document.body).backgroundColor"
    assert js(page, background) == "rgb(255, 255, 255)"
    click(page, "#theme")
    assert js(page, background) == "rgb(20, 23, 27)"
    line = "document.getElementById('figure-before').data.find((t) => t.meta && t.meta.low).line.color"
    assert js(page, line) == "#ff9f5a"
    click(page, "#theme")
    assert js(page, background) == "rgb(255, 255, 255)"


def test_hover_shows_values(page):
    js(page, "Plotly.Fx.hover('figure-before', [{curveNumber: 2, pointNumber: 20}])")
    shown = js(page, "document.querySelector('#figure-before .hoverlayer').textContent")
    js(page, "Plotly.Fx.unhover('figure-before')")
    assert "predicted" in shown
    assert "%" in shown


def test_everything_works_from_the_keyboard(page):
    keys = pytest.importorskip("selenium.webdriver.common.keys").Keys
    focus = "document.activeElement"
    seen = []
    while len(seen) < 60 and "platt" not in seen:
        webdriver.ActionChains(page).send_keys(keys.TAB).perform()
        seen.append(js(page, f"{focus}.id || {focus}.dataset.method || {focus}.tagName"))
    assert "theme" in seen
    assert seen[-1] == "platt"
    assert js(page, f"getComputedStyle({focus}).outlineStyle") == "solid"
    webdriver.ActionChains(page).send_keys(keys.SPACE).perform()
    assert curves_shown(page) == ["bayes_iso", "platt"]
    webdriver.ActionChains(page).send_keys(keys.SPACE).perform()
    assert curves_shown(page) == ["bayes_iso"]


# WCAG 2: texts need 4.5 times the luminance of their ground, or the reverse.
TOO_FAINT = """
const numbers = (color) => color.match(/[0-9.]+/g).map(Number);
const linear = (v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
function luminance(color) {
  const [r, g, b] = numbers(color).map(linear);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
function ground(element) {
  for (let e = element; e; e = e.parentElement) {
    const color = getComputedStyle(e).backgroundColor;
    if (numbers(color).length < 4 || numbers(color)[3] > 0) return color;
  }
  return "rgb(255,255,255)";
}
const study = [];
for (const e of document.querySelectorAll("body *:not(script)")) {
  const own = [...e.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
  if (!own || e.closest(".figure") || !e.getClientRects().length) continue;
  const [high, low] = [luminance(getComputedStyle(e).color), luminance(ground(e))].sort((x, y) => y - x);
  const ratio = (high + 0.05) / (low + 0.05);
  if (ratio < 4.5) study.push([e.tagName, e.className, e.textContent.slice(0, 40), ratio]);
}
return study;
"""


TICKS_TOUCH = """
const study = [];
for (const axis of document.querySelectorAll(".figure .xaxislayer-above, .figure .xaxislayer-below")) {
  const boxes = [...axis.querySelectorAll(".xtick text")].map((t) => [t.textContent, t.getBoundingClientRect()]);
  for (let i = 1; i < boxes.length; i += 1) {
    if (boxes[i][1].left < boxes[i - 1][1].right + 3) study.push([boxes[i - 1][0], boxes[i][0]]);
  }
}
return study;
"""


CUT_OFF = """
const study = [];
for (const text of document.querySelectorAll(".figure .main-svg text, nav a, #theme")) {
  const outer = (text.closest(".figure") || document.body).getBoundingClientRect(), box = text.getBoundingClientRect();
  if (box.left < outer.left - 1 || box.right > outer.right + 1) study.push(text.textContent);
}
return study;
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 375])
def test_every_width_and_theme(driver, address, width, scheme):
    show(driver, address, width, scheme)
    assert js(driver, "document.documentElement.scrollWidth") == width
    ends = js(driver, "[...document.querySelectorAll('svg.main-svg')].map((s) => s.getBoundingClientRect().right)")
    assert max(ends) <= width
    assert driver.execute_script(TOO_FAINT) == []
    for scale in ("linear", "logit"):
        click(driver, f"button[data-scale={scale}]")
        assert driver.execute_script(TICKS_TOUCH) == []
        assert driver.execute_script(CUT_OFF) == []
    study = driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png", "captureBeyondViewport": True})
    picture = base64.b64decode(study["data"])
    assert struct.unpack(">I", picture[16:20])[0] == width
    assert len(picture) > 20_000
    assert complaints(driver) == []


def test_prints_without_controls_and_comes_back(driver, address):
    show(driver, address, 1280, "dark")
    study = driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": False})
    assert base64.b64decode(study["data"]).startswith(b"%PDF")
    assert js(driver, "document.documentElement.dataset.theme") == "dark"
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert js(driver, "getComputedStyle(document.querySelector('nav')).display") == "none"
    assert js(driver, "getComputedStyle(document.querySelector('.controls')).display") == "none"
    assert complaints(driver) == []


def test_a_figure_of_many_segments_fits_on_one_sheet_of_paper(driver, study, segmented, tmp_path):
    many = tuple(replace(segmented.segments[1], name=f"ward {i}", diagram=None) for i in range(40))
    path = tmp_path / "many.html"
    path.write_text(render(replace(study, segments=many), "t", jinja2, offline.get_plotlyjs()), encoding="utf-8")
    show(driver, path.as_uri(), 1280, "light")
    height = "document.getElementById('figure-segments').getBoundingClientRect().height"
    assert js(driver, height) > 1000
    js(driver, "window.dispatchEvent(new Event('beforeprint'))")
    assert js(driver, height) < 900  # A4 within its margins has 1009 pixels, Letter 943
    js(driver, "window.dispatchEvent(new Event('afterprint'))")
    assert js(driver, height) > 1000
    assert complaints(driver) == []


def test_code_keeps_its_lines_on_a_phone(driver, address):
    show(driver, address, 390, "light")
    assert js(driver, "getComputedStyle(document.getElementById('code-python')).whiteSpace") == "pre"
    assert js(driver, "document.documentElement.scrollWidth") == 390


def test_one_outcome_has_no_methods_to_switch_and_points_beyond_the_axes(driver, one_sided, tmp_path):
    path = tmp_path / "one.html"
    path.write_text(render(one_sided, "t", jinja2, offline.get_plotlyjs()), encoding="utf-8")
    show(driver, path.as_uri(), 1280, "light")
    assert js(driver, "document.querySelectorAll('button[data-method]').length") == 0
    assert len(curves_shown(driver)) == 1
    left = "document.getElementById('figure-{}').getBoundingClientRect().left"
    assert js(driver, left.format("map")) == js(driver, left.format("scores"))  # not pushed aside by what is not there
    for scale in ("logit", "linear"):
        click(driver, f"button[data-scale={scale}]")
        assert js(driver, "document.getElementById('beyond-note').hidden") == (scale == "linear")
    assert complaints(driver) == []
