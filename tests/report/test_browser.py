"""The page in a real browser: Chromium without a screen."""

import base64
import json
import re
import shutil
import struct
from dataclasses import replace

import pytest

from calibrant.report.page import render

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed, so no browser can be driven")
jinja2 = pytest.importorskip("jinja2", reason="jinja2 is in the extra `report`")

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
    path.write_text(render(segmented, hostile, jinja2), encoding="utf-8")
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
    """The methods whose lines can be seen in the map, on the axes that are shown."""
    lines = "document.querySelectorAll('#figure-map [data-method] .curve')"
    return js(
        driver, f"[...{lines}].filter((p) => p.getClientRects().length).map((p) => p.parentElement.dataset.method)"
    )


def test_every_figure_is_drawn_and_nothing_is_requested(page, address):
    shapes = "d.querySelectorAll('path, circle, rect').length"
    drawn = js(page, f"[...document.querySelectorAll('.figure')].map((d) => {shapes})")
    assert len(drawn) == 8
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


def test_axes_stretch(page):
    def ends():
        shown = "[...document.querySelectorAll('#figure-before .area')].filter((a) => a.getClientRects().length)"
        return js(page, f"{shown}.map((a) => a.dataset.x)")

    assert [one.split()[0] for one in ends()] == ["linear"]
    click(page, "button[data-scale=stretched]")
    assert [one.split()[0] for one in ends()] == ["logit"]
    assert js(page, "document.querySelector('button[data-scale=stretched]').getAttribute('aria-pressed')") == "true"
    click(page, "button[data-scale=even]")
    assert [one.split()[0] for one in ends()] == ["linear"]


def test_segments_can_be_chosen(page):
    def choose(index):
        js(page, "document.getElementById('segment').selectedIndex = arguments[0]", index)
        js(page, "document.getElementById('segment').dispatchEvent(new Event('change'))")
        shown = "[...document.querySelectorAll('figure.segment')].filter((f) => f.getClientRects().length)"
        return js(page, f"{shown}.map((f) => f.querySelector('.figure').getAttribute('aria-label'))")

    (label,) = choose(1)
    assert "segment south" in label
    assert "south" in js(page, "document.getElementById('status').textContent")
    (label,) = choose(0)
    assert "segment south" not in label


def test_theme_button(page):
    background = "getComputedStyle(document.body).backgroundColor"
    line = "getComputedStyle(document.querySelector('#figure-before .curve[data-tip]')).stroke"
    assert js(page, background) == "rgb(255, 255, 255)"
    click(page, "#theme")
    assert js(page, background) == "rgb(20, 23, 27)"
    assert js(page, line) == "rgb(255, 159, 90)"
    click(page, "#theme")
    assert js(page, background) == "rgb(255, 255, 255)"
    assert js(page, line) == "rgb(176, 74, 10)"


BOX = """[document.querySelector(arguments[0]).getBoundingClientRect()]
  .map((box) => [box.left, box.top, box.width, box.height])[0]"""


def point_at(driver, selector, x=0.5, y=0.5):
    """Move the mouse to a place inside an element, given in shares of its size."""
    js(driver, "document.querySelector(arguments[0]).scrollIntoView({block: 'center', behavior: 'instant'})", selector)
    left, top, width, height = js(driver, BOX, selector)
    place = {"x": left + x * width, "y": top + y * height}
    driver.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": "mouseMoved", **place})
    return js(driver, "document.getElementById('tip').hidden ? '' : document.getElementById('tip').textContent")


def test_points_bars_and_lines_show_their_values(page, segmented):
    text = point_at(page, "#figure-before .area.even .mark circle")
    first = segmented.before.linear.points[0]
    assert f"{first['total']:,.0f} rows between" in text
    assert f"happened {100 * first['fraction']:.1f}" in text
    assert "rows, " in point_at(page, "#figure-scores-before .area.even rect:last-child", y=0.9)
    assert point_at(page, "#verdict-title") == ""


def test_a_line_shows_the_values_of_its_map(page, segmented):
    # The middle of an even axis from 0 to 1 with equal margins is a score of one half.
    place = js(
        page,
        "[...document.querySelectorAll('#figure-map .area.even [data-method=bayes_iso] .curve')].map((p) => "
        "{ const n = p.getAttribute('d').match(/[\\d.]+/g).map(Number); let best = 0;"
        " for (let i = 0; i < n.length; i += 2) if (Math.abs(n[i] - 500) < Math.abs(n[best] - 500)) best = i;"
        " return [n[best] / 1000, n[best + 1] / 1000]; })[0]",
    )
    text = point_at(page, "#figure-map .area.even", *place)
    score, becomes = (float(number) for number in re.findall(r"(?:score|becomes) ([\d.]+)", text))
    assert score == pytest.approx(100 * (place[0] * 1.04 - 0.02), abs=0.6)
    assert becomes == pytest.approx(100 * float(segmented.calibrator.predict([score / 100])[0]), abs=1.0)
    low, high = (float(number) for number in re.findall(r"\(([\d.]+).% to ([\d.]+)", text)[0])
    assert low <= becomes <= high
    assert not js(page, "document.getElementById('spot').hidden")


def test_a_finger_shows_values(page):
    js(page, "document.querySelector('#figure-after').scrollIntoView({block: 'center', behavior: 'instant'})")
    left, top, width, height = js(page, BOX, "#figure-after .area.even .mark circle")
    place = {"x": left + width / 2, "y": top + height / 2}
    page.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [place]})
    page.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    assert "rows between" in js(page, "document.getElementById('tip').textContent")


def test_arrow_keys_go_through_the_points_and_are_read_out(page):
    keys = pytest.importorskip("selenium.webdriver.common.keys").Keys
    js(page, "document.getElementById('figure-before').focus()")
    seen = []
    for _ in range(2):
        webdriver.ActionChains(page).send_keys(keys.ARROW_RIGHT).perform()
        seen.append(js(page, "document.getElementById('status').textContent"))
    assert "rows between" in seen[0]
    assert seen[0] != seen[1]
    assert js(page, "document.getElementById('tip').textContent") == seen[1]
    webdriver.ActionChains(page).send_keys(keys.ESCAPE).perform()
    assert js(page, "document.getElementById('tip').hidden")
    js(page, "document.activeElement.blur()")


def test_everything_works_from_the_keyboard(page):
    keys = pytest.importorskip("selenium.webdriver.common.keys").Keys
    focus = "document.activeElement"
    seen = []
    js(page, "document.querySelector('.skip').focus()")
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
for (const axis of document.querySelectorAll(".ticks, .scale")) {
  const texts = [...axis.querySelectorAll(".of-x")].filter((t) => t.getClientRects().length);
  const boxes = texts.map((t) => [t.textContent, t.getBoundingClientRect()]).sort((a, b) => a[1].left - b[1].left);
  for (let i = 1; i < boxes.length; i += 1) {
    if (boxes[i][1].left < boxes[i - 1][1].right + 3) study.push([boxes[i - 1][0], boxes[i][0]]);
  }
}
return study;
"""


CUT_OFF = """
const study = [];
for (const text of document.querySelectorAll(".figure text, nav a, #theme, .tiles *")) {
  if (!text.getClientRects().length) continue;
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
    ends = js(driver, "[...document.querySelectorAll('.area')].map((s) => s.getBoundingClientRect().right)")
    assert max(ends) <= width
    assert driver.execute_script(TOO_FAINT) == []
    for scale in ("even", "stretched"):
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


def test_paper_is_white_and_opens_what_is_folded(driver, address):
    show(driver, address, 1280, "dark")
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert js(driver, "getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    js(driver, "window.dispatchEvent(new Event('beforeprint'))")
    assert js(driver, "document.querySelector('#about details').open")
    js(driver, "window.dispatchEvent(new Event('afterprint'))")


def test_many_days_are_one_figure(driver, study, segmented, tmp_path):
    many = tuple(
        replace(segmented.segments[1], name=f"2026-{1 + i // 28:02}-{1 + i % 28:02}", diagram=None) for i in range(60)
    )
    path = tmp_path / "many.html"
    path.write_text(render(replace(study, segments=many), "t", jinja2), encoding="utf-8")
    for width in (1280, 375):
        show(driver, path.as_uri(), width, "light")
        assert js(driver, "document.querySelectorAll('#figure-timeline .mark').length") == 120
        assert 200 < js(driver, "document.getElementById('figure-timeline').getBoundingClientRect().height") < 500
        assert driver.execute_script(TICKS_TOUCH) == []
        assert driver.execute_script(CUT_OFF) == []
    assert complaints(driver) == []


def test_without_scripts_figures_and_values_are_there(driver, address):
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        driver.get(address)
        assert js(driver, "document.querySelectorAll('#figure-before .mark title').length") > 0
        assert js(driver, "document.querySelector('#figure-before .area.even').getBoundingClientRect().height") > 200
        assert js(driver, "getComputedStyle(document.querySelector('.controls')).display") == "none"
    finally:
        driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_code_keeps_its_lines_on_a_phone(driver, address):
    show(driver, address, 390, "light")
    assert js(driver, "getComputedStyle(document.getElementById('code-python')).whiteSpace") == "pre"
    assert js(driver, "document.documentElement.scrollWidth") == 390


def test_one_outcome_has_no_methods_to_switch_and_points_beyond_the_axes(driver, one_sided, tmp_path):
    path = tmp_path / "one.html"
    path.write_text(render(one_sided, "t", jinja2), encoding="utf-8")
    show(driver, path.as_uri(), 1280, "light")
    assert js(driver, "document.querySelectorAll('button[data-method]').length") == 0
    assert js(driver, "document.getElementById('figure-after')") is None
    for scale in ("stretched", "even"):
        click(driver, f"button[data-scale={scale}]")
        note = "document.querySelector('#reliability p .stretched').getClientRects().length"
        marks = "[...document.querySelectorAll('#figure-before .beyond')].some((m) => m.getClientRects().length)"
        assert bool(js(driver, note)) == js(driver, marks) == (scale == "stretched")
    assert complaints(driver) == []
