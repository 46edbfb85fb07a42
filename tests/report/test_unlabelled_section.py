import numpy as np
import pytest

from calibrant import BayesIso, Tally, simulate
from calibrant.estimates import QUANTITIES, count_scores
from calibrant.report import write_report
from calibrant.report.unlabelled_section import unlabelled_section
from calibrant.report.wording import sentence_case


@pytest.fixture(scope="module")
def fitted():
    data = simulate.bayes_iso(1500, rng=0)
    return BayesIso().fit(data.scores[:500], data.labels[:500]), data


def test_it_says_what_the_model_estimates(fitted):
    calibrator, data = fitted
    section = unlabelled_section(calibrator, count_scores(data.scores[500:]))
    mean = calibrator.estimate(data.scores[500:])
    assert f"{100 * mean.value:.1f} %" in section.sentences[0]
    rows = section.tables[0].rows
    assert [row[0] for row in rows] == [sentence_case(quantity.title) for quantity in QUANTITIES.values()]
    assert rows[0][1] == f"{mean.value:.4f}"
    trace = section.figures[0].figure["data"][0]
    assert len(trace["x"]) == len(trace["y"]) == len(trace["error_x"]["array"]) == 7


def test_without_rows_called_positive_there_is_no_precision(fitted):
    calibrator, _ = fitted
    section = unlabelled_section(calibrator, count_scores(np.full(50, 0.02)), threshold=0.9)
    assert "Precision" not in [row[0] for row in section.tables[0].rows]


def test_rows_outside_the_labelled_range_are_mentioned(fitted):
    calibrator, _ = fitted
    section = unlabelled_section(calibrator, count_scores(np.linspace(0.0, 1.0, 5).repeat(10)))
    assert "outside" in section.sentences[-1]


def test_the_page_shows_it(fitted, tmp_path):
    calibrator, data = fitted
    section = unlabelled_section(calibrator, count_scores(data.scores[500:]))
    tally = Tally.from_arrays(data.scores[:500], data.labels[:500])
    write_report(tmp_path / "page.html", tally, sections=[section])
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Rows without labels" in page
    assert "Area under the curve" in page
