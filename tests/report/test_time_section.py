import numpy as np
import pytest
from scipy.special import expit

from calibrant import Tally
from calibrant.errors import InvalidInputError
from calibrant.monitoring import walk_forward
from calibrant.report import write_report
from calibrant.report.time_section import time_section


def history(jump):
    rng = np.random.default_rng(0)
    month = np.repeat([f"2026-{m:02}" for m in range(1, 9)], 250)
    z = rng.normal(size=len(month))
    return expit(z), rng.random(len(z)) < expit(z + jump * (month >= "2026-05")), month


def test_the_section_says_what_a_replay_finds():
    rows = history(1.5)
    section, found = time_section(*rows), walk_forward(*rows)
    assert found.advice in section.sentences[0]
    assert "has reached 20 (first with the labels of period " in section.sentences[1]
    table = section.figures[0].numbers
    assert [line[0] for line in table.rows] == list(found.periods)
    last, line = found.adaptive.history[-1], table.rows[-1]
    assert line[1] == "250"
    assert float(line[2].rstrip(" %")) == pytest.approx(100 * last.observed, abs=0.06)
    assert float(line[5]) == pytest.approx(100 * (last.adaptive - last.reference), abs=0.06)
    assert float(line[6]) == pytest.approx(last.log_e_value / np.log(10), abs=0.06)
    assert "2026-08" in section.figures[0].svg


def test_calm_months_give_no_evidence_and_months_are_made_of_days():
    scores, y, month = history(0.0)
    days = [f"{m}-{1 + row % 28:02}" for row, m in enumerate(month)]
    section = time_section(scores, y, days, every="month")
    assert "over the 7 that follow" in section.sentences[0]
    assert "has not reached 20" in section.sentences[1]


def test_the_page_has_it_and_refuses_what_has_no_rows(tmp_path):
    scores, y, month = history(1.5)
    write_report(tmp_path / "page.html", scores, y, time=month, methods=["platt"])
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Over time" in page
    # What to do first is what the replay says: the page's other figures know no order.
    todo = page.partition("What to do:")[2].partition("</p>")[0]
    assert "A static map, fitted to the first period" in todo
    assert "an adaptive map is written by “calibrant replay”" in todo  # the code of the page fits another
    with pytest.raises(InvalidInputError, match="`time` needs scores and `y` of single rows"):
        write_report(tmp_path / "x.html", Tally.from_arrays(scores, y), time=month)
    with pytest.raises(InvalidInputError, match="`time` needs scores and `y` of single rows"):
        write_report(tmp_path / "x.html", scores, y, time=month, sample_weight=np.ones(len(y)))
    with pytest.raises(InvalidInputError, match="`time` is for one score a row"):
        write_report(tmp_path / "x.html", np.full((6, 3), 1 / 3), [0, 1, 2] * 2, time=range(6))
