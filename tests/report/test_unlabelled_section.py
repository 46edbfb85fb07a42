import numpy as np
import pytest

from calibrant import Blend, simulate
from calibrant.errors import InvalidInputError
from calibrant.estimates import QUANTITIES, count_scores
from calibrant.report import write_report
from calibrant.report.data import make_report_data
from calibrant.report.decision_sections import unlabelled_section
from calibrant.report.wording import sentence_case


@pytest.fixture(scope="module")
def rows():
    return simulate.bayes_iso(1500, rng=0)


@pytest.fixture(scope="module")
def labelled(rows):
    return make_report_data(rows.scores[:500], rows.labels[:500], methods=["bayes_iso"], method="bayes_iso")


@pytest.mark.parametrize("count", [count_scores, list])
def test_it_says_what_the_model_estimates(labelled, rows, count):
    section = unlabelled_section(labelled, count(rows.scores[500:]))
    mean = labelled.calibrator.estimate(rows.scores[500:])
    assert (
        f"an estimated {100 * mean.value:.1f} % ({100 * mean.low:.1f} to {100 * mean.high:.1f})" in section.sentences[0]
    )
    cells = section.tables[0].rows
    assert [row[0] for row in cells] == [sentence_case(quantity.title) for quantity in QUANTITIES.values()]
    assert cells[0][1].text == f"{100 * mean.value:.1f} %"


def test_a_method_without_posterior_gives_way_to_the_default(rows):
    data = make_report_data(rows.scores[:300], rows.labels[:300], methods=["platt"], method="platt")
    mean = Blend().fit(rows.scores[:300], rows.labels[:300]).estimate(rows.scores[500:])
    assert f"an estimated {100 * mean.value:.1f} %" in unlabelled_section(data, rows.scores[500:]).sentences[0]


def test_without_rows_called_positive_there_is_no_precision(labelled):
    section = unlabelled_section(labelled, np.full(50, 0.02))
    assert "Precision" not in [row[0] for row in section.tables[0].rows]


def test_rows_outside_the_labelled_range_are_mentioned(labelled):
    section = unlabelled_section(labelled, np.linspace(0.0, 1.0, 5).repeat(10))
    assert "outside" in section.sentences[-1]


@pytest.mark.parametrize(
    "asked", [{"unlabelled": [0.2, 0.3]}, {"costs": (1.0, 4.0)}, {"thresholds": (0.1, 0.5)}, {"top_label": True}]
)
def test_several_classes_are_refused(tmp_path, asked):
    with pytest.raises(InvalidInputError, match=f"`{next(iter(asked))}` is for one score a row"):
        write_report(tmp_path / "page.html", np.full((30, 3), 1 / 3), [0, 1, 2] * 10, **asked)
