import numpy as np
import pytest

from calibrant import Tally
from calibrant.report import write_report
from calibrant.report.figures import scatter, titled
from calibrant.report.section import Section, SectionFigure, SectionTable

pytest.importorskip("jinja2", reason="jinja2 is in the extra `report`")


def test_a_section_is_linked_drawn_and_escaped(tmp_path):
    generator = np.random.default_rng(4)
    scores = generator.random(60)
    tally = Tally.from_arrays(scores, (generator.random(60) < scores).astype(int))
    rows = scatter("markers", "cost", [1.0, 2.0], ["a <miss>", "a false alarm"])
    figure = {"data": [rows], "layout": {"xaxis": titled("Cost & more")}, "meta": {}}
    section = Section(
        "costs",
        "What a <mistake> costs",
        ("First & foremost.",),
        (SectionFigure(figure, "A line.", legend=(("before", "now & then"),)),),
        (
            SectionTable("Costs", ("Kind", "Cost"), (("miss", "<b>9</b>"),)),
            SectionTable("More", ("A",), (("1",),), folded=True),
        ),
    )
    path = tmp_path / "page.html"
    write_report(path, tally, method="platt", sections=[section])
    page = path.read_text("utf-8")
    assert '<a href="#costs">What a &lt;mistake&gt; costs</a>' in page
    assert "First &amp; foremost." in page
    assert "&lt;b&gt;9&lt;/b&gt;" in page
    assert 'id="figure-costs-0"' in page
    drawn = page.split('id="figure-costs-0"')[1].split("</figure>")[0]
    assert drawn.count('class="mark"') == 2
    assert "a &lt;miss&gt;" in drawn
    assert "Cost &amp; more" in drawn
    assert '<span class="dot before"></span>now &amp; then' in page
    assert page.index('id="costs"') < page.index('id="next"')
    assert page.count("<summary>More</summary>") == 1
    assert "<summary>Costs</summary>" not in page
