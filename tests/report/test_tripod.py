"""The TRIPOD+AI checklist: every figure in its texts is that of the function it names."""

import numpy as np
import pytest

from calibrant import Tally, compare
from calibrant._numerics import links
from calibrant.adjust import choose_update
from calibrant.errors import InvalidInputError
from calibrant.metrics import brier_score, required_rows, validate_centres, validation_summary
from calibrant.metrics.samples import number_groups, read_sample
from calibrant.metrics.validation import measure_text
from calibrant.report import fill_tripod, write_report
from calibrant.report.tripod import _apply_update, tripod_section

HOW = {"level": 0.95, "thresholds": [0.2], "n_resamples": 20}


def rows(n_centres=8, size=150, seed=0):
    rng = np.random.default_rng(seed)
    centre = np.repeat(np.arange(n_centres), size)
    z = rng.normal(-0.5, 1.3, len(centre))
    truth = links.expit(-0.8 + 0.6 * z + 0.4 * rng.normal(0, 1, n_centres)[centre])
    sex = rng.choice(["f", "m"], len(centre))
    return rng.random(len(centre)) < truth, links.expit(z), centre, sex


@pytest.fixture(scope="module")
def checklist():
    y, p, centre, sex = rows()
    return fill_tripod(y, p, subgroups={"sex": sex}, centres=centre, thresholds=[0.2], level=0.95, n_resamples=20)


def text_of(summary, title, name):
    return f"{title}: {measure_text(name, summary[name])}"


def test_has_all_items_in_their_order(checklist):
    numbers = [item.number for item in checklist.items]
    assert len(set(numbers)) == len(numbers) == 52
    assert [int(number.rstrip("abcdefg")) for number in numbers] == sorted(int(n.rstrip("abcdefg")) for n in numbers)
    assert {int(number.rstrip("abcdefg")) for number in numbers} == set(range(1, 28))
    answered = [item.number for item in checklist.items if item.answer]
    assert answered == ["6a", "10", "12d", "12e", "12f", "15", "20a", "20b", "21", "23a", "23b", "24"]
    assert all(bool(item.source) == bool(item.answer) for item in checklist.items)


def test_performance_is_that_of_the_summaries(checklist):
    y, p, centre, sex = rows()
    whole, women = (
        validation_summary(y[own], p[own], groups=centre[own], **HOW) for own in (np.full(len(y), True), sex == "f")
    )
    assert (checklist.summary, checklist.subgroups["sex = f"]) == (whole, women)
    text = checklist["23a"].answer
    for summary in (whole, women):
        for title, name in (("Slope", "slope"), ("AUC", "auc"), ("Net benefit at 0.2", "net_benefit_0.2")):
            assert text_of(summary, title, name) in text
    assert f"{y.sum()} with the outcome, {(~y).sum()} without it." in checklist["20a"].answer
    assert f"take {required_rows(p, level=0.95).rows} rows if" in checklist["10"].answer
    assert f"sex = m: {(sex == 'm').sum()} rows, {y[sex == 'm'].sum()} with" in checklist["20b"].answer


def test_centres_are_pooled(checklist):
    y, p, centre, _ = rows()
    pooled = validate_centres(y, p, centre, **HOW)
    assert checklist.centres == pooled
    new = measure_text("slope", pooled.columns["new centre"]["slope"])
    assert f"{text_of(pooled, 'Slope', 'slope')}, tau " in checklist["23b"].answer
    assert f"new centre {new}" in checklist["23b"].answer
    assert checklist["6a"].answer == "8 centres."


def test_the_update_is_judged_on_other_rows(checklist):
    y, p, centre, _ = rows()
    assert checklist.update.sentence == choose_update(y, p, groups=centre).sentence
    assert checklist["24"].answer.startswith(checklist.update.sentence)
    assert text_of(checklist.updated, "Slope", "slope") in checklist["24"].answer
    assert checklist.updated["observed_expected"].value == pytest.approx(1.0, abs=0.1)
    assert abs(checklist.summary["observed_expected"].value - 1.0) > 0.2
    # Labels that are turned round in one fold change only what other folds are told.
    own = number_groups(centre, len(y)).deal(8) == 3
    choice = choose_update(y, p, largest="intercept", groups=centre)
    assert choice.chosen.name == "intercept"
    found = [_apply_update(read_sample(labels, p, groups=centre), choice).rows for labels in (y, np.where(own, ~y, y))]
    for name in np.unique(centre):
        before, after = (np.sort(rows.scores[rows.groups.codes == name]) for rows in found)
        assert (before == after).all() == own[centre == name].all()


def test_the_update_of_a_page_is_what_it_recommends():
    y, p, centre, _ = rows()
    comparison = compare(p, y, methods=["platt"], groups=centre)
    found = fill_tripod(y, p, centres=centre, comparison=comparison, n_resamples=20)
    assert comparison.recommended == "platt"
    assert found["24"].answer.startswith(
        "Calibrate the probabilities with Platt scaling. Each row updated by other rows"
    )
    assert found["12f"].source == "compare"
    after = comparison.fits["platt"].out_of_fold
    assert found.updated["brier_score"].value == pytest.approx(brier_score(after.tally()))
    calm = np.random.default_rng(4).random(1000) < p[:1000]
    kept = fill_tripod(calm, p[:1000], comparison=compare(p[:1000], calm, methods=["platt"]), n_resamples=20)
    assert kept.updated is None
    assert kept["24"].answer.startswith(
        "Keep the probabilities as they are: no method lowers the log-loss by more than chance. A closed test, "
    )


@pytest.mark.parametrize(("level", "chosen"), [(0.0, "keep"), (0.35, "intercept")])
def test_a_page_that_keeps_a_model_says_what_the_closed_test_finds(level, chosen):
    # A level that is wrong by 0.35 is seen in 400 rows, and no curve gains by more than chance.
    rng = np.random.default_rng(1)
    z = rng.normal(-0.8, 1.3, 400)
    y, p = rng.random(400) < links.expit(z - level), links.expit(z)
    comparison, choice = compare(p, y, methods=["isotonic"]), choose_update(y, p)
    assert (comparison.recommended, choice.chosen.name) == ("identity", chosen)
    found = fill_tripod(y, p, comparison=comparison, n_resamples=5)
    assert found["24"].answer.startswith("Keep the probabilities as they are: no method lowers")
    assert found["24"].answer.endswith(f"not what lowers the loss: {choice.sentence}")
    assert found["24"].source.endswith("adjust.choose_update")
    rounded = np.round(p, 0).clip(0.2, 0.8)  # too few probabilities for a closed test
    few = fill_tripod(y, rounded, comparison=compare(rounded, y, methods=["platt"]), n_resamples=5)
    assert "closed test" not in few["24"].answer


def test_what_is_missing_is_said():
    y, p, centre, _ = rows()
    found = fill_tripod(Tally.from_arrays(p, y), n_resamples=5)
    assert found["23b"].answer == found["20b"].answer == ""
    assert found["15"].answer.endswith("No threshold was given.")
    text = str(found)
    assert "Not answered by this run: 1 what was done" in text
    assert max(map(len, text.splitlines())) <= 120
    patients = fill_tripod(y, p, centres=np.arange(len(y)) // 5, n_resamples=5)
    assert patients.centres is None
    assert "ten positive and ten negative rows in each on average" in patients.remarks[-1]
    two = fill_tripod(y, p, centres=centre % 2, n_resamples=5, subgroups={"half": centre % 2})
    assert "at least three" in two.remarks[-1]
    assert two.remarks[1] == "Left out, as they have no calibration slope or no two centres: half = 0, half = 1."
    with pytest.raises(InvalidInputError, match="a tally no longer knows its rows"):
        fill_tripod(Tally.from_arrays(p, y), subgroups={"half": centre % 2})
    with pytest.raises(InvalidInputError, match="`number`"):
        found["99"]


def test_reads_as_tables(checklist):
    assert "| 21 | people and events in each analysis | Evaluation: 1200 rows" in checklist.to_markdown()
    assert repr(checklist).startswith("TripodChecklist(TRIPOD+AI: 12 of 52 items answered")
    section = tripod_section(checklist)
    titles = [table.caption.partition(" (")[0] for table in section.tables]
    assert titles[:4] == ["Performance", "Clinical utility", "Centres", "Each centre"]
    first = section.tables[0].cells[0]
    assert [cell.text for cell in first[:2]] == ["All rows", f"{checklist.summary.positives:.0f} of 1200"]
    slope = checklist.summary["slope"]
    assert (first[4].text, first[4].small) == (f"{slope.value:.2f}", f"{slope.low:.2f} to {slope.high:.2f}")
    assert "95 % intervals" in section.sentences[0]


def test_is_a_section_of_the_page(tmp_path):
    pytest.importorskip("jinja2", reason="jinja2 is in the extra `report`")
    y, p, centre, sex = rows(6, 100)
    page = tmp_path / "page.html"
    options = {"methods": ["platt"], "groups": centre, "thresholds": (0.1, 0.3)}
    write_report(page, p, y, tripod={"sex": sex}, **options)
    text = page.read_text(encoding="utf-8")
    assert '<section id="tripod"' in text
    assert "sex = m" in text
    assert "Net benefit at 0.2" in text
    with pytest.raises(InvalidInputError, match="`tripod` needs probabilities"):
        write_report(page, p, y, tripod=True, space="decision")
    with pytest.raises(InvalidInputError, match="`tripod` is for one score"):
        write_report(page, np.full((6, 3), 1 / 3), [0, 1, 2] * 2, tripod=True)


def test_a_model_that_is_kept_has_no_updated_rows():
    p = np.random.default_rng(4).uniform(0.05, 0.95, 2000)
    y = np.random.default_rng(5).random(2000) < p
    found = fill_tripod(y, p, n_resamples=20)
    assert found.update.chosen.name == "keep"
    assert "updated by other rows" not in found["24"].answer
    assert not any("updated" in str(row) for row in tripod_section(found).tables[0].rows)
