"""The section on a gate says what the gate says."""

import numpy as np
import pytest

from calibrant import Tally
from calibrant.decisions import acceptance
from calibrant.report import write_report
from calibrant.report.data import make_report_data
from calibrant.report.decision_sections import gate_section


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    scores = rng.beta(4, 1.2, 900)
    return scores, rng.random(900) < scores


@pytest.fixture(scope="module")
def data(rows):
    return make_report_data(*rows, methods=["platt"], method="platt")


def test_both_guarantees_are_named(data, rows):
    section = gate_section(data, 0.85)
    exact, more = (acceptance(rows[1], rows[0], precision=0.85, guarantee=g) for g in ("finite_sample", "posterior"))
    assert section.sentences[0] == str(exact).splitlines()[0]
    assert f"accept from a score of {more.threshold:.4g}" in section.sentences[-1]
    assert [row[1] for row in section.tables[0].rows] == [f"{exact.threshold:.4g}", f"{more.threshold:.4g}"]
    assert "<svg" in section.figures[0].svg


def test_nothing_to_accept(data):
    section = gate_section(data, 0.999)
    assert section.sentences[0].startswith("Nothing can be accepted")
    assert section.tables[0].rows[0][1] == "nothing"


def test_broken_weights_leave_the_posterior(rows):
    tally = Tally.from_arrays(*rows).scaled(0.5)
    section = gate_section(make_report_data(tally, methods=["platt"], method="platt"), 0.8)
    assert [row[0] for row in section.tables[0].rows] == ["By the posterior"]


def test_it_stands_on_the_page_also_of_several_classes(rows, tmp_path):
    write_report(tmp_path / "page.html", *rows, methods=["platt"], precision=0.85)
    assert "Which rows to accept" in (tmp_path / "page.html").read_text("utf-8")
    rng = np.random.default_rng(1)
    matrix = rng.dirichlet([0.3] * 3, 300)
    labels = np.array([rng.choice(3, p=row) for row in matrix])
    write_report(tmp_path / "page.html", matrix, labels, methods=["temperature"], precision=0.7)
    assert "Which rows to accept" in (tmp_path / "page.html").read_text("utf-8")
