import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from calibrant import load, simulate
from calibrant._numerics import links
from calibrant.adjust import choose_update
from calibrant.errors import InvalidInputError
from calibrant.metrics import calibration_slope, validation_summary

RECORDED = json.loads((Path(__file__).parents[1] / "decisions" / "peers.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", RECORDED["cases"], ids=lambda case: str(len(case["data"]["labels"])))
def test_agrees_with_statsmodels(case):
    choice = choose_update(case["data"]["labels"], case["data"]["probabilities"])
    ours = {update.name: update for update in choice.updates}
    deviances = {name: update.deviance for name, update in ours.items()}
    # The knots of the curve are quartiles of rows here and interpolated ones there.
    theirs = dict(zip(("keep", "intercept", "slope", "curve"), case["deviances"].values(), strict=True))
    assert deviances == pytest.approx(theirs, abs=0.2)
    for name in ("keep", "intercept", "slope"):
        assert deviances[name] == pytest.approx(theirs[name], abs=1e-6)
        degrees = {"keep": 5, "intercept": 4, "slope": 3}[name]
        expected = stats.chi2.sf(deviances[name] - deviances["curve"], degrees)
        assert ours[name].p_values["curve"] == pytest.approx(expected)
    assert ours["intercept"].map_.function.intercept == pytest.approx(case["intercept"], abs=1e-6)
    line = ours["slope"].map_.function
    assert (line.intercept, line.slope) == pytest.approx(tuple(case["intercept and slope"]), abs=1e-6)


def rows(n, bend, seed):
    rng = np.random.default_rng(seed)
    z = rng.normal(-0.5, 1.2, n)
    return rng.random(n) < links.expit(bend(z)), links.expit(z)


@pytest.mark.parametrize(
    ("bend", "name"),
    [
        (lambda z: z, "keep"),
        (lambda z: z - 0.8, "intercept"),
        (lambda z: 0.5 * z + 0.3, "slope"),
        (lambda z: np.where(z > 0, 2.5 * z, 0.3 * z), "curve"),
    ],
    ids=["keep", "intercept", "slope", "curve"],
)
def test_finds_the_update_that_is_needed(bend, name):
    choice = choose_update(*rows(3000, bend, 1))
    assert choice.chosen.name == name
    logits = np.linspace(-2, 1, 7)
    error = np.abs(choice.chosen.map_(links.expit(logits)) - links.expit(bend(logits))).max()
    assert error < 0.09
    assert str(choice).startswith(choice.sentence)
    assert repr(choice) == f"UpdateChoice({name}, alpha 0.05)"


def test_a_model_that_needs_no_update_is_changed_as_rarely_as_it_says():
    changed = sum(choose_update(*rows(400, lambda z: z, seed), alpha=0.1).chosen.name != "keep" for seed in range(200))
    assert changed <= 30  # 20 are expected; and each is a chi-squared limit


def test_updates_are_nested_and_their_maps_can_be_saved(tmp_path):
    choice = choose_update(*rows(500, lambda z: 0.7 * z, 0))
    deviances = [update.deviance for update in choice.updates]
    assert deviances == sorted(deviances, reverse=True)
    for update in choice.updates:
        update.map_.save(tmp_path / "map.json")
        assert load(tmp_path / "map.json") == update.map_


def test_sentences_say_what_to_do():
    shifted = choose_update(*rows(3000, lambda z: z - 0.8, 1)).sentence
    assert shifted.startswith("Shift all log-odds by -0.")
    kept = choose_update(*rows(500, lambda z: z, 1)).sentence
    assert kept.startswith("Keep the probabilities as they are")
    assert "alpha 0.05" in kept


def test_the_flexible_curve_has_the_deviance_of_its_map():
    y, p = rows(800, lambda z: z + np.sin(2 * z), 3)
    update = choose_update(y, p).updates[-1]
    q = update.map_(p)
    assert update.deviance == pytest.approx(-2 * np.sum(np.where(y, np.log(q), np.log1p(-q))))


def test_refuses_few_probabilities_and_one_class():
    with pytest.raises(InvalidInputError, match="five different"):
        choose_update([0, 1, 0, 1], [0.2, 0.2, 0.7, 0.7])
    with pytest.raises(InvalidInputError, match="both classes"):
        choose_update(np.ones(10), np.linspace(0.1, 0.9, 10))


def test_data_with_ties_at_the_quartiles():
    data = simulate.from_truth("D1", 1000)
    choice = choose_update(data.labels, np.round(data.probabilities, 1))
    assert 2 <= choice.updates[-1].parameters <= 5


def test_most_rows_at_the_lowest_probability():
    rng = np.random.default_rng(0)
    p = np.concatenate((np.full(900, 0.05), np.linspace(0.1, 0.8, 100)))
    choice = choose_update(rng.random(1000) < p, p)
    assert choice.updates[-1].parameters == 3
    assert choice.updates[-1].deviance <= choice.updates[-2].deviance


def patients():
    """Twelve centres, a level and a spread that are wrong."""
    rng = np.random.default_rng(7)
    centre, effects = rng.integers(0, 12, 300), rng.normal(0, 0.6, 12)
    logits = rng.normal(-1.2, 1.3, 300)
    labels = rng.random(300) < links.expit(-0.4 + 0.75 * logits + effects[centre])
    return labels, links.expit(logits), centre


def test_the_sentence_never_contradicts_the_summary_of_the_same_rows():
    y, p, centre = patients()
    summary, choice = validation_summary(y, p, level=0.95), choose_update(y, p)
    assert summary["intercept"].high < 0.0  # so the level is wrong, and nothing may say that no update helps
    assert choice.chosen.name == "keep"
    assert choice.sentence.endswith(
        "(p = 0.077, alpha 0.05). Tested alone there is evidence for: intercept (p = 0.0089) and slope (p = 0.0077); "
        "`largest` restricts the test to such updates."
    )
    assert "0.0089" in str(choice).splitlines()[2]
    assert choose_update(y, p, largest="slope").chosen.name == "intercept"
    with pytest.raises(InvalidInputError, match="`largest`"):
        choose_update(y, p, largest="flexible")
    grouped = choose_update(y, p, groups=centre)
    line = calibration_slope(y, p, groups=centre)
    assert grouped.updates[0].p_values["slope"] == pytest.approx(line.p_value, rel=1e-6)
    assert "fewer than 30 groups" in str(grouped)


def test_a_calibrated_model_in_few_groups_is_seldom_changed():
    """The p-value of five coefficients and twelve groups is uniform where nothing is wrong, not too small."""
    rng, p_values = np.random.default_rng(3), []
    for _ in range(60):
        logits = rng.normal(-1.2, 1.3, 300)
        y, centre = rng.random(300) < links.expit(logits), rng.integers(0, 12, 300)
        p_values.append(choose_update(y, links.expit(logits), groups=centre).updates[0].p_values["curve"])
    assert 0.4 < np.mean(p_values) < 0.65
    assert np.mean(np.array(p_values) < 0.05) <= 0.1


def test_as_many_groups_as_coefficients_test_nothing():
    y, p = rows(400, lambda z: 2.0 * z + 1.0, 1)
    choice = choose_update(y, p, groups=np.arange(400) % 5)
    assert choice.chosen.name == "keep"
    assert np.isnan(choice.updates[0].p_values["curve"])


def test_groups_of_single_rows_are_tested_nearly_as_rows():
    y, p = rows(4000, lambda z: 0.9 * z + 0.1, 1)
    alone, grouped = choose_update(y, p), choose_update(y, p, groups=np.arange(4000))
    for one, other in zip(alone.updates, grouped.updates, strict=True):
        assert one.p_values == pytest.approx(other.p_values, abs=0.03)
