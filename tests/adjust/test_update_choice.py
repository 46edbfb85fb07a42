import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from calibrant import load, simulate
from calibrant._numerics import links
from calibrant.adjust import choose_update
from calibrant.errors import InvalidInputError

RECORDED = json.loads((Path(__file__).parents[1] / "decisions" / "peers.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", RECORDED["cases"], ids=lambda case: str(len(case["data"]["labels"])))
def test_agrees_with_statsmodels(case):
    choice = choose_update(case["data"]["labels"], case["data"]["probabilities"])
    ours = {update.name: update for update in choice.updates}
    deviances = {name: update.deviance for name, update in ours.items()}
    # The knots of the curve are quartiles of rows here and interpolated ones there.
    assert deviances == pytest.approx(case["deviances"], abs=0.2)
    for name in ("keep", "intercept", "intercept and slope"):
        assert deviances[name] == pytest.approx(case["deviances"][name], abs=1e-6)
        degrees = {"keep": 5, "intercept": 4, "intercept and slope": 3}[name]
        expected = stats.chi2.sf(deviances[name] - deviances["flexible"], degrees)
        assert ours[name].p_value == pytest.approx(expected)
    assert ours["intercept"].map_.function.intercept == pytest.approx(case["intercept"], abs=1e-6)
    line = ours["intercept and slope"].map_.function
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
        (lambda z: 0.5 * z + 0.3, "intercept and slope"),
        (lambda z: np.where(z > 0, 2.5 * z, 0.3 * z), "flexible"),
    ],
    ids=["keep", "intercept", "slope", "flexible"],
)
def test_finds_the_update_that_is_needed(bend, name):
    choice = choose_update(*rows(3000, bend, 1))
    assert choice.chosen.name == name
    logits = np.linspace(-2, 1, 7)
    error = np.abs(choice.chosen.map_(links.expit(logits)) - links.expit(bend(logits))).max()
    assert error < 0.09
    assert str(choice) == choice.sentence
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
