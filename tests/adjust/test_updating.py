import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from calibrant import load, simulate
from calibrant._numerics import links
from calibrant.adjust.updating import updating_ladder
from calibrant.errors import InvalidInputError

RECORDED = json.loads((Path(__file__).parents[1] / "decisions" / "peers.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", RECORDED["cases"], ids=lambda case: str(len(case["data"]["labels"])))
def test_agrees_with_statsmodels(case):
    ladder = updating_ladder(case["data"]["labels"], case["data"]["probabilities"])
    ours = {rung.name: rung for rung in ladder.rungs}
    deviances = {name: rung.deviance for name, rung in ours.items()}
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
def test_finds_the_rung_that_is_needed(bend, name):
    ladder = updating_ladder(*rows(3000, bend, 1))
    assert ladder.chosen.name == name
    at = np.linspace(-2, 1, 7)
    error = np.abs(ladder.chosen.map_(links.expit(at)) - links.expit(bend(at))).max()
    assert error < 0.09
    assert str(ladder) == ladder.sentence


def test_a_model_that_needs_no_update_is_changed_as_rarely_as_it_says():
    changed = sum(
        updating_ladder(*rows(400, lambda z: z, seed), alpha=0.1).chosen.name != "keep" for seed in range(200)
    )
    assert changed <= 30  # 20 are expected; and each is a chi-squared limit


def test_rungs_are_nested_and_their_maps_can_be_saved(tmp_path):
    ladder = updating_ladder(*rows(500, lambda z: 0.7 * z, 0))
    deviances = [rung.deviance for rung in ladder.rungs]
    assert deviances == sorted(deviances, reverse=True)
    for rung in ladder.rungs:
        rung.map_.save(tmp_path / "map.json")
        assert load(tmp_path / "map.json") == rung.map_


def test_sentences_say_what_to_do():
    shifted = updating_ladder(*rows(3000, lambda z: z - 0.8, 1)).sentence
    assert shifted.startswith("Shift all log-odds by -0.")
    kept = updating_ladder(*rows(500, lambda z: z, 1)).sentence
    assert kept.startswith("Keep the probabilities as they are")
    assert "level 0.05" in kept


def test_the_flexible_curve_has_the_deviance_of_its_map():
    y, p = rows(800, lambda z: z + np.sin(2 * z), 3)
    rung = updating_ladder(y, p).rungs[-1]
    q = rung.map_(p)
    assert rung.deviance == pytest.approx(-2 * np.sum(np.where(y, np.log(q), np.log1p(-q))))


def test_refuses_few_probabilities_and_one_class():
    with pytest.raises(InvalidInputError, match="five different"):
        updating_ladder([0, 1, 0, 1], [0.2, 0.2, 0.7, 0.7])
    with pytest.raises(InvalidInputError, match="both classes"):
        updating_ladder(np.ones(10), np.linspace(0.1, 0.9, 10))


def test_data_with_ties_at_the_quartiles():
    data = simulate.from_truth("D1", 1000)
    ladder = updating_ladder(data.labels, np.round(data.probabilities, 1))
    assert 2 <= ladder.rungs[-1].parameters <= 5


def test_most_rows_at_the_lowest_probability():
    rng = np.random.default_rng(0)
    p = np.concatenate((np.full(900, 0.05), np.linspace(0.1, 0.8, 100)))
    ladder = updating_ladder(rng.random(1000) < p, p)
    assert ladder.rungs[-1].parameters == 3
    assert ladder.rungs[-1].deviance <= ladder.rungs[-2].deviance
