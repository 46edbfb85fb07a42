import re

import matplotlib as mpl
import pytest
from matplotlib import pyplot as plt

from calibrant.report.figures import COLORS, FOLDER, open_figure, to_svg


def draw(text="label", name="one"):
    with open_figure(2.0) as figure:
        ax = figure.subplots()
        ax.plot([0.0, 0.123456789], [0.0, 1.0], marker="o")
        ax.set_xlabel(text)
        return to_svg(figure, name, 'A "line" & <more>')


def test_the_markup_is_small_safe_and_as_wide_as_its_place():
    text = draw("<b>$5 & $x^{2$")
    assert text.startswith('<svg role="img" aria-label="A &quot;line&quot; &amp; &lt;more&gt;" viewBox="0 0 ')
    assert text.rstrip().endswith("</svg>")
    assert "&lt;b&gt;$5 &amp; $x^{2$" in text  # no formula, no markup
    assert not re.search(r"<style|<metadata|<!--|<g id=", text)
    assert not re.search(r"<[^>]*\d\.\d{3}", text)
    assert len(text) < 12_000


def test_texts_keep_their_digits():
    assert ">0.12345 of 1<" in draw("0.12345 of 1")


def test_colours_follow_the_theme():
    text = draw()
    assert "var(--before)" in text
    assert not any(color in text for color in COLORS.values())


def test_the_style_of_figures_has_the_colours_of_the_page():
    style = (FOLDER / "figures.mplstyle").read_text("utf-8")
    found = re.findall(r"^\S+color: (\w{6})$", style, re.MULTILINE)
    assert len(found) == 7
    assert {f"#{color}" for color in found} <= set(COLORS.values())


def test_the_same_on_every_run_and_names_apart_between_figures():
    def ids(text):
        return set(re.findall(r' id="([^"]+)"', text))

    assert draw() == draw()
    assert ids(draw())
    assert not ids(draw(name="one")) & ids(draw(name="two"))


def test_settings_of_the_user_neither_matter_nor_change():
    plain = draw()
    with mpl.rc_context({"axes.grid": False, "font.size": 20.0, "svg.fonttype": "path"}):
        before = dict(mpl.rcParams)
        assert draw() == plain
        assert dict(mpl.rcParams) == before
    assert plt.get_fignums() == []


@pytest.mark.filterwarnings("error")
def test_a_script_that_the_font_lacks_is_left_to_the_browser():
    assert "検定" in draw("検定")
