"""The page of several scores of a row: what each adds, then the ordinary sections on their one probability."""

import numpy as np
import pytest

from calibrant import PanelCalibrator, compare
from calibrant.errors import InvalidInputError
from calibrant.report import write_report
from calibrant.report.data import make_report_data


@pytest.fixture(scope="module")
def judges():
    rng = np.random.default_rng(1)
    truth = rng.normal(size=240)
    right = rng.random(240) < 1.0 / (1.0 + np.exp(-2.0 * truth))
    scores = {name: 1.0 / (1.0 + np.exp(-truth - rng.normal(size=240))) for name in ("anna", "ben <b>")}
    scores["ben <b>"][:40] = np.nan
    return scores | {"length": truth + 50.0, "verdict": np.where(truth > 0, "yes", "no"), "gone": [None] * 240}, right


SPACE = {"length": "decision"}


@pytest.fixture(scope="module")
def judged(judges):
    return compare(*judges, methods=["mean_logit"], space=SPACE, cv=3)


@pytest.fixture(scope="module")
def numbers(judges, judged):
    return make_report_data(*judges, comparison=judged, space=SPACE)


def test_numbers_are_those_of_rows_that_the_fit_did_not_see(judged, numbers):
    assert (numbers.name, numbers.before, numbers.rows, numbers.map) == ("panel", None, None, None)
    assert numbers.after.tally == judged.fits["panel"].out_of_fold.tally()
    assert isinstance(numbers.calibrator, PanelCalibrator)


def test_effects_by_hand(judges, numbers):
    scores, _ = judges
    effects = numbers.effects()
    assert set(effects) == {"anna", "ben <b>", "length", "verdict"}  # nothing is known of the last
    values, means = effects["verdict"]
    assert values == ["no", "yes"]
    some = np.unique(np.linspace(0, 239, 200).astype(int))
    rows = {name: np.asarray(column)[some] for name, column in scores.items()} | {"verdict": np.full(200, "yes")}
    assert means[1] == pytest.approx(numbers.calibrator.predict(rows).mean())
    values, means = effects["anna"]
    assert values == sorted(values)
    assert means[0] < means[-1]


def test_the_page_says_what_each_score_adds(numbers, render_page):
    page = render_page(numbers)
    assert "What each score adds" in page
    assert "Several scores of a row are not one probability; together they become one." in page
    assert page.count('aria-label="Mean probability over') == 4
    assert "ben &lt;b&gt;" in page
    assert "ben <b>" not in page
    for worth in numbers.calibrator.scores_:
        assert f"{worth.alone:.4f}" in page
    assert "--score a --score b --method panel" in page
    assert "What a score means" not in page


class Mean(PanelCalibrator):
    """The first score alone, and nothing said of its worth."""

    name = "first"
    scores_ = ()

    def fit(self, X, y, sample_weight=None, *, pos_label=None):
        first = next(iter(X))
        return super().fit({first: X[first]}, y, sample_weight, pos_label=pos_label)


def test_a_method_of_another_package_is_shown_when_asked_for(judges, tmp_path):
    scores, y = judges
    some = {name: scores[name] for name in ("anna", "verdict")}
    write_report(tmp_path / "page.html", some, y, methods=[Mean(), "verdict alone"], method="Mean")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "What each score adds" in page
    assert "What each score is worth" not in page  # the method does not say


def test_what_is_for_one_score_is_refused(judges, judged, tmp_path):
    with pytest.raises(InvalidInputError, match="`costs` is for one score a row; got several"):
        write_report(tmp_path / "page.html", *judges, costs=(1.0, 2.0))
    with pytest.raises(InvalidInputError, match=r"`method` must be one of .*; got 'platt'"):
        make_report_data(*judges, comparison=judged, method="platt")
