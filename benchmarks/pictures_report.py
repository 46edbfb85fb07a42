"""Screenshots of a report, for review by eye and for the README: python -m benchmarks.pictures_report FOLDER.

Needs Debian's chromium and chromium-driver, and selenium. `report.txt` holds the words of what `report.png` shows; a
test compares them with the page of today, so that the picture cannot grow old unseen.
"""

from __future__ import annotations

import base64
import html
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from calibrant import Tally
from calibrant.report import write_report

#: name → width, scheme, height (None is the whole page)
PICTURES = {
    "report": (1080, "light", 1520),
    "report-dark": (1080, "dark", 1520),
    "report-whole": (1280, "light", None),
    "report-phone": (375, "light", None),
}
FLAGS = """
--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking
--disable-component-update --disable-sync --disable-dev-shm-usage --hide-scrollbars
"""
REGIONS = {"north": 0.0, "south": 0.1, "east": 0.9, "west": -0.1}


def example(rows: int = 4000, seed: int = 0) -> dict[str, Tally]:
    """An overconfident model whose rows come from four regions, one of them unlike the others."""
    rng = np.random.default_rng(seed)
    parts = {}
    for name, shift in REGIONS.items():
        logits = rng.normal(-0.8, 1.8, rows)
        truth = 1.0 / (1.0 + np.exp(-(0.55 * logits + 0.1 + shift)))
        parts[name] = Tally.from_arrays(1.0 / (1.0 + np.exp(-logits)), rng.random(rows) < truth)
    return parts


def write_page(page: Path) -> None:
    """The report of the example."""
    segments = example()
    whole = segments["north"] + segments["south"] + segments["east"] + segments["west"]
    write_report(page, whole, segments=segments, title="Loan defaults, model of 2026")


def words(page: Path) -> str:
    """What the first screen of the page says, a line for each element; drawings are left out."""
    body = page.read_text(encoding="utf-8").partition("<body")[2].partition("Numbers of the diagram")[0]
    text = re.sub(r"<svg.*?</svg>|<[^>]*>", "\n", f"<body{body}", flags=re.DOTALL)
    lines = (html.unescape(line).strip() for line in text.splitlines())
    return "\n".join(line for line in lines if line) + "\n"


def browser(folder: str) -> Any:
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or "chromium"
    for flag in (*FLAGS.split(), f"--user-data-dir={folder}"):
        options.add_argument(flag)
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))


def photograph(driver: Any, address: str, width: int, scheme: str, height: int | None) -> bytes:
    def resize(to: int) -> None:
        size = {"width": width, "height": to, "deviceScaleFactor": 1, "mobile": width < 500}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    resize(height or 900)
    feature = {"name": "prefers-color-scheme", "value": scheme}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": [feature]})
    driver.get(address)
    if height is None:
        resize(driver.execute_script("return document.documentElement.scrollHeight"))
    found = driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})
    return base64.b64decode(found["data"])


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    page = folder / "report.html"
    write_page(page)
    (folder / "report.txt").write_text(words(page), encoding="utf-8")
    with tempfile.TemporaryDirectory() as profile:
        driver = browser(profile)
        try:
            for name, (width, scheme, height) in PICTURES.items():
                (folder / f"{name}.png").write_bytes(photograph(driver, page.resolve().as_uri(), width, scheme, height))
                print(folder / f"{name}.png")
        finally:
            driver.quit()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
