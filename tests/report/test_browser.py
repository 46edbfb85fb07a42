"""The page in a real browser: Chromium without a screen."""

import base64
import json
from dataclasses import replace

import pytest


@pytest.fixture(scope="module")
def addresses(segmented, classes, data, hostile, render_page, tmp_path_factory):
    """A page with segments of odd names, one of classes, and one of many days; what is folded is open in all."""
    south = next(one for one in segmented.segments.segments if one.name == "south")
    days = tuple(replace(south, name=f"2026-{1 + i // 28:02}-{1 + i % 28:02}") for i in range(60))
    many = replace(segmented.segments, segments=days, in_order=True)
    pages = {"segments": (segmented, hostile), "classes": (classes, "t"), "days": (replace(data, segments=many), "t")}
    folder = tmp_path_factory.mktemp("pages")
    for name, (numbers, title) in pages.items():
        text = render_page(numbers, title).replace("<details", "<details open")
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    return {name: (folder / f"{name}.html").as_uri() for name in pages}


def show(driver, address, width, scheme="light"):
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    wanted = {"name": "prefers-color-scheme", "value": scheme}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": [wanted]})
    driver.get(address)


def complaints(driver):
    return [entry for entry in driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]


def js(driver, code, *values):
    return driver.execute_script(f"return {code}", *values)


def test_nothing_is_requested(driver, addresses):
    address = addresses["segments"]
    show(driver, address, 1280)
    events = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    requests = [e["params"] for e in events if e["method"] == "Network.requestWillBeSent"]
    asked = {r["request"]["url"] for r in requests if r["documentURL"] == address}
    assert address in asked
    assert {url for url in asked if not url.startswith("data:")} == {address}


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
const found = [];
for (const e of document.querySelectorAll("body *:not(title)")) {
  const own = [...e.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
  if (!own || !e.getClientRects().length) continue;
  const style = getComputedStyle(e), color = e.closest("svg") ? style.fill : style.color;
  const [high, low] = [luminance(color), luminance(ground(e))].sort((x, y) => y - x);
  const ratio = (high + 0.05) / (low + 0.05);
  if (ratio < 4.5) found.push([e.tagName, e.className, e.textContent.slice(0, 40), ratio]);
}
return found;
"""

# Texts of figures that leave their figure, or touch the next text on the same line.
BADLY_PLACED = """
const found = [];
for (const svg of document.querySelectorAll("svg")) {
  const outer = svg.getBoundingClientRect();
  const boxes = [...svg.querySelectorAll("text")].map((t) => [t.textContent, t.getBoundingClientRect()]);
  for (const [text, box] of boxes)
    if (box.left < outer.left - 2 || box.right > outer.right + 2 || box.bottom > outer.bottom + 2) found.push(text);
  const upright = boxes.filter(([text, box]) => box.width > box.height).sort((a, b) => a[1].left - b[1].left);
  for (const [text, box] of upright)
    for (const [other, beside] of upright)
      if (beside.left > box.left && beside.left < box.right && Math.abs(beside.top - box.top) < 2)
        found.push([text, other]);
}
return found;
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("name", ["segments", "classes", "days"])
def test_every_page_width_and_theme(driver, addresses, name, width, scheme):
    show(driver, addresses[name], width, scheme)
    assert js(driver, "document.documentElement.scrollWidth") == width
    figures = "[...document.querySelectorAll('figure')]"
    assert max(js(driver, f"{figures}.map((s) => s.getBoundingClientRect().right)")) <= width
    assert min(js(driver, f"{figures}.map((s) => s.querySelector('svg').getBoundingClientRect().height)")) > 60
    assert driver.execute_script(TOO_FAINT) == []
    assert driver.execute_script(BADLY_PLACED) == []
    assert complaints(driver) == []


def test_figures_take_the_colours_of_the_theme(driver, addresses):
    curve = "getComputedStyle([...document.querySelectorAll('#reliability svg path')].find((p) => "
    curve += "p.getAttribute('style')?.includes('stroke: var(--before)'))).stroke"
    for scheme, color in (("light", "rgb(176, 74, 10)"), ("dark", "rgb(255, 159, 90)")):
        show(driver, addresses["segments"], 1280, scheme)
        assert js(driver, curve) == color


def test_code_keeps_its_lines_on_a_phone(driver, addresses):
    show(driver, addresses["segments"], 390)
    assert js(driver, "getComputedStyle(document.getElementById('code-python')).whiteSpace") == "pre"


def test_paper_is_white_and_has_no_links_to_places(driver, addresses):
    show(driver, addresses["segments"], 1280, "dark")
    printed = driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": False})
    assert base64.b64decode(printed["data"]).startswith(b"%PDF")
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert js(driver, "getComputedStyle(document.querySelector('nav')).display") == "none"
    assert js(driver, "getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert complaints(driver) == []
