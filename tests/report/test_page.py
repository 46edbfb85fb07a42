import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import pytest

from calibrant import IsotonicCalibration, Tally, compare
from calibrant.comparison import MethodResult
from calibrant.errors import InvalidInputError, MissingExtraError
from calibrant.metrics.samples import ScoreSample
from calibrant.report import write_report
from calibrant.report.data import make_report_data
from calibrant.report.page import _note

pytest.importorskip("jinja2", reason="jinja2 is in the extra `report`")
pytest.importorskip("matplotlib", reason="matplotlib is in the extra `report`")


class Outline(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def all(self, tag):
        return [attrs for name, attrs in self.tags if name == tag]


@pytest.fixture(scope="module")
def page(segmented, hostile, render_page):
    return render_page(segmented, hostile)


@pytest.fixture(scope="module")
def outline(page):
    return Outline(page)


def test_texts_of_the_user_cannot_break_out(page, outline, hostile):
    assert "<script>alert(1)" not in page
    assert '<b>"bold"' not in page
    assert "{{ 7 * 7 }}" in page  # shown, not computed
    assert not outline.all("script")
    assert not any(name.startswith("on") for _, attrs in outline.tags for name in attrs)


def test_the_page_loads_nothing(page, outline):
    assert not any("src" in attrs for tag in ("script", "img", "iframe") for attrs in outline.all(tag))
    assert [link["href"] for link in outline.all("link")] == ["data:,"]
    assert "default-src 'none'" in page
    own = page.split("<style>")[1].split("</style>")[0]
    assert "url(" not in own
    assert "@import" not in own


def test_structure_for_those_who_cannot_see_it(outline):
    assert outline.all("html")[0]["lang"] == "en"
    levels = [int(tag[1]) for tag, _ in outline.tags if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    drawn = outline.all("svg")
    assert len(drawn) == 5  # before, after, the map, the methods and the segments
    assert all(attrs["role"] == "img" and len(attrs["aria-label"]) > 20 for attrs in drawn)
    assert not any({"width", "height"} & set(attrs) for attrs in drawn)  # as wide as their place
    regions = [attrs["aria-label"] for _, attrs in outline.tags if attrs.get("role") == "region"]
    assert all(name.startswith("Table: ") for name in regions)  # no section has such a name
    assert len(set(regions)) == len(regions)
    ids = [attrs["id"] for _, attrs in outline.tags if "id" in attrs]
    assert len(set(ids)) == len(ids)
    targets = [attrs["href"][1:] for attrs in outline.all("a") if attrs["href"].startswith("#")]
    assert set(targets) <= set(ids)
    used = {attrs["xlink:href"][1:] for attrs in outline.all("use")}
    assert used <= set(ids)


def test_every_figure_has_its_numbers_in_a_table(outline):
    # Two diagrams, map, methods and segments; measures and losses.
    assert len(outline.all("table")) == 2 + 1 + 1 + 1 + 2


def test_same_input_same_page(data, render_page):
    assert render_page(data) == render_page(data)


def test_no_time_and_no_duration_in_the_page(tally, data, render_page):
    # Fits take a different time on every run; the page must not show it.
    again = compare(tally, methods=["platt", "isotonic"])
    changed = {**vars(data), "comparison": again}
    assert render_page(type(data)(**changed)) == render_page(data)


def test_notes_call_methods_by_their_titles(unbounded, render_page):
    results = (
        *unbounded.comparison.results,
        MethodResult("warm", note="it needs probabilities.", title="warm words (brackets)"),
    )
    titles = {result.name: result.title for result in results}
    named = replace(unbounded, titles=titles, comparison=replace(unbounded.comparison, results=results))
    page = render_page(named)
    assert "<li>Warm words: it needs probabilities.</li>" in page


def test_rows_by_weight_are_called_so(data, render_page):
    assert "rows by weight" not in render_page(data)
    before = data.before
    weighted = Tally(before.tally.scores, before.tally.positives * 0.5, before.tally.totals * 0.75)
    page = render_page(replace(data, before=replace(before, sample=ScoreSample(weighted))))
    assert "rows by weight" in page


def test_no_line_ends_before_a_percent_sign(page):
    words = re.sub(r"<svg.*?</svg>", "", page.split("<main")[1], flags=re.DOTALL)
    assert "\N{NO-BREAK SPACE}%" in words
    assert not re.search(r"\d %", words)


def test_code_runs(data, tally, tmp_path, monkeypatch, render_page):
    text = Code(render_page(data)).text
    monkeypatch.chdir(tmp_path)
    scope = {"scores": tally.scores, "labels": tally.positives / tally.totals > 0.5, "new_scores": [0.2, 0.8]}
    exec(compile(text, "report", "exec"), scope)
    assert (tmp_path / "calibration.json").exists()
    assert np.all(scope["low"] <= scope["high"])


class Mine(IsotonicCalibration):
    title = "isotonic regression of my own"


def test_a_method_from_elsewhere_has_its_map_its_title_and_its_own_path(tally, render_page):
    data = make_report_data(tally, comparison=compare(tally, methods=["platt", Mine()]), method="Mine")
    page = render_page(data)
    code = Code(page).text
    assert code.startswith(f"from {Mine.__module__} import Mine\n\ncalibrator = Mine()\n")
    assert "calibrant.Mine" not in page
    assert "Isotonic regression of my own" in page
    assert "code-shell" not in page  # the command line does not know it


class Code(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.inside, self.text = False, ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.inside = tag == "pre" and dict(attrs)["id"] == "code-python"

    def handle_endtag(self, tag):
        self.inside = self.inside and tag != "pre"

    def handle_data(self, data):
        self.text += data if self.inside else ""


def test_the_whole_file_is_small_and_repeats(tmp_path, tally, comparison):
    paths = [tmp_path / "a.html", tmp_path / "b.html"]
    for path in paths:
        write_report(path, tally, comparison=comparison, method="bayes_iso")
    first, second = (path.read_bytes() for path in paths)
    assert first == second
    assert 5e4 < len(first) < 4e5
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.html", "b.html"]


def test_scores_and_labels_write_the_page_of_their_tally(tmp_path, tally):
    paths = [tmp_path / "a.html", tmp_path / "b.html"]
    comparison = compare(tally, methods=["platt"])
    positives, negatives = tally.positives.astype(int), tally.negatives.astype(int)
    scores = np.concatenate((np.repeat(tally.scores, positives), np.repeat(tally.scores, negatives)))
    labels = ["yes"] * positives.sum() + ["no"] * negatives.sum()
    write_report(paths[0], tally, comparison=comparison, method="platt")
    write_report(paths[1], scores, labels, pos_label="yes", comparison=comparison, method="platt")
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_a_failure_leaves_the_old_file(tmp_path):
    path = tmp_path / "report.html"
    path.write_text("old")
    with pytest.raises(InvalidInputError, match="needs 2 rows of each class"):
        write_report(path, Tally.from_arrays([0.5], [1]))
    assert path.read_text() == "old"


def test_a_missing_package_is_named(monkeypatch, tmp_path, tally):
    monkeypatch.setitem(__import__("sys").modules, "jinja2", None)
    with pytest.raises(MissingExtraError, match=r"calibrant\[report\]"):
        write_report(tmp_path / "r.html", tally)


def test_what_to_do_comes_second(page):
    screen = page.split('<section id="verdict"')[1].split("</section>")[0]
    order = ["verdict-title", "What to do:", "On average", "Average error"]
    places = [screen.index(text) for text in order]
    assert places == sorted(places)


def test_several_classes_on_one_page(tmp_path, class_rows, hostile):
    scores, y = class_rows
    path = tmp_path / "page.html"
    options = {"space": "decision", "classes": ["ant", "bee", hostile], "methods": ["temperature"]}
    write_report(path, np.log(scores), y, **options)
    text = path.read_text("utf-8")
    assert "<script>alert(1)" not in text
    assert "Of the predicted class: its probability, and whether it was right." in text
    assert '<td role="cell" data-head="Its share">' in text  # beside each value where the screen is narrow
    assert "predict_proba(new_scores)" in Code(text).text
    assert "space=" in Code(text).text


def test_notes_name_methods_in_words():
    titles = {"platt": "Platt scaling", "isotonic": "isotonic regression"}
    assert _note("platt, isotonic: not tied.", titles) == "Platt scaling, isotonic regression: not tied."
    assert _note("platt is slow.", titles) == "Platt scaling is slow."
    assert _note("plattitude: no.", titles) == "plattitude: no."
