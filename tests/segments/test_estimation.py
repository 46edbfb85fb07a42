"""Answers about rows without labels by segment: joint maps, each segment at the level of its own labels."""

import numpy as np
import pytest
from scipy import optimize, special

from calibrant import SegmentedCalibrator
from calibrant.errors import InvalidInputError
from calibrant.estimates.rows import OFF_LEVEL


def judge(n_rows, favour, rng, quality=2.0):
    """Scores of a judge who is kind to a system by so many logits, and whether its answers are right."""
    truth = rng.beta(quality, 2.0, n_rows)
    return special.expit(special.logit(np.sqrt(truth)) + favour).round(2).clip(0.01, 0.99), rng.random(n_rows) < truth


@pytest.fixture(scope="module")
def systems():
    """Labelled scores, labels and systems; a calibrator of them; and unlabelled scores of each system."""
    rng = np.random.default_rng(0)
    drawn = {"a": judge(60, 0.0, rng), "b": judge(120, 0.5, rng), "c": judge(200, -0.5, rng)}
    names = np.repeat(list(drawn), [len(own[0]) for own in drawn.values()])
    scores, right = (np.concatenate([own[i] for own in drawn.values()]) for i in (0, 1))
    model = SegmentedCalibrator("spline").fit(scores, right, segment=names)
    return model, (scores, right, names), {name: judge(500, 0.0, rng)[0] for name in drawn}


def test_the_value_is_that_of_the_map_at_the_level_of_the_own_labels(systems):
    model, (scores, right, names), new = systems
    for name, own in new.items():
        mine = names == name
        logits = special.logit(model.predict(scores[mine], segment=names[mine]))

        def excess(shift, logits=logits, mine=mine):
            p = special.expit(logits + shift)
            trust = min(1.0, (p * (1.0 - p)).sum() / ((right[mine] - p) ** 2).sum())
            return trust * (right[mine] - p).sum() - shift / OFF_LEVEL**2

        shift = optimize.brentq(excess, -3.0, 3.0)
        predicted = model.predict(own, segment=np.repeat(name, len(own)))
        levelled = special.expit(special.logit(predicted) + shift)
        assert model.estimate(own, segment=name).value == pytest.approx(levelled.mean(), abs=2e-3)


def test_rows_of_one_segment_may_be_named_once_and_several_stand_in_any_order(systems):
    model, _, new = systems
    named = model.estimate(new["b"], "accuracy", threshold=0.4, segment="b")
    listed = model.estimate(new["b"][::-1], "accuracy", threshold=0.4, segment=["b"] * 500)
    assert (named.value, named.low, named.high) == (listed.value, listed.low, listed.high)
    scores, names = np.concatenate([new["a"], new["c"]]), np.repeat(["a", "c"], 500)
    order = np.random.default_rng(1).permutation(1000)
    both = model.estimate(scores[order], segment=names[order], sampling_noise=False)
    alone = [model.estimate(new[name], segment=name, sampling_noise=False) for name in "ac"]
    assert both.rows == 1000
    assert both.value == pytest.approx(np.mean([one.value for one in alone]), abs=2e-3)
    # The same worlds, whichever rows are asked about.
    np.testing.assert_allclose(both.draws, np.mean([one.draws for one in alone], axis=0), atol=0.01)


def test_a_difference_is_taken_in_the_same_worlds(systems):
    model, _, new = systems
    same = model.estimate_difference(new["a"], new["a"][::-1], segment=("a", "a"), sampling_noise=False)
    assert same.value == same.low == same.high == 0.0
    with_new = np.append(new["b"], 0.5), np.append(np.repeat("b", 500), "unseen")
    near = model.estimate_difference(new["b"], with_new[0], segment=("b", with_new[1]), sampling_noise=False)
    assert near.width < 2e-3
    apart = model.estimate_difference(new["c"], new["b"], segment=("c", "b"), sampling_noise=False)
    one, other = (model.estimate(new[name], segment=name, sampling_noise=False) for name in "cb")
    assert apart.value == pytest.approx(one.value - other.value)
    np.testing.assert_allclose(apart.draws, one.draws - other.draws)
    assert apart.first_higher > 0.9  # whom the judge favours less is better at the same scores


def test_what_is_uncertain_of_two_systems_is_nearly_independent_noise_of_their_level(systems):
    model, _, new = systems
    a, b = (model.estimate(new[name], segment=name, sampling_noise=False).draws for name in "ab")
    assert -0.2 < np.corrcoef(a, b)[0, 1] < 0.8


def test_intervals_hold_the_truth_and_values_are_nearer_than_counts():
    values, counts, held, apart, widths = [], [], [], [], []
    for seed in range(100, 125):
        rng = np.random.default_rng(seed)
        drawn = [judge(n + 600, rng.normal(0.0, 0.4), rng, 2.0 + 0.3 * k) for k, n in enumerate((30, 80, 150))]
        sizes = (30, 80, 150)
        scores, right = (np.concatenate([own[i][:n] for own, n in zip(drawn, sizes, strict=True)]) for i in (0, 1))
        model = SegmentedCalibrator("spline").fit(scores, right, segment=np.repeat([0, 1, 2], sizes))
        rest = [own[0][n:] for own, n in zip(drawn, sizes, strict=True)]
        truth = [own[1][n:].mean() for own, n in zip(drawn, sizes, strict=True)]
        answers = [model.estimate(own, segment=k, n_draws=200) for k, own in enumerate(rest)]
        values += [one.value - true for one, true in zip(answers, truth, strict=True)]
        counts += [own[1][:n].mean() - true for own, n, true in zip(drawn, sizes, truth, strict=True)]
        widths += [one.width / (3.3 * np.sqrt(0.25 / n)) for one, n in zip(answers, sizes, strict=True)]
        held += [one.low <= true <= one.high for one, true in zip(answers, truth, strict=True)]
        for k in (1, 2):
            one = model.estimate_difference(rest[k], rest[0], segment=(k, 0), n_draws=200)
            apart.append(one.low <= truth[k] - truth[0] <= one.high)
    assert np.square(values).mean() < 0.9 * np.square(counts).mean()
    assert np.mean(widths) < 0.95
    assert np.mean(held) >= 0.82
    assert np.mean(apart) >= 0.82


def test_a_segment_without_labels_is_warned_of_and_less_certain(systems):
    model, _, new = systems
    known, unseen = (model.estimate(new["c"], segment=name, sampling_noise=False) for name in ("c", "z"))
    assert "100 % of the rows are of segments without labels" in unseen.warning
    assert known.warning == ""
    assert unseen.width > known.width
    assert unseen.outside is None


def test_several_keys_and_decision_scores():
    rng = np.random.default_rng(3)
    team, place = rng.choice(["x", "y"], 600), rng.choice([1, 2], 600)
    logits = rng.normal(size=600)
    y = rng.random(600) < special.expit(logits + (team == "x"))
    model = SegmentedCalibrator("spline", space="decision").fit(logits, y, segment={"team": team, "place": place})
    own = (team == "x") & (place == 2)
    answer = model.estimate(logits[own], segment=("x", 2))
    assert answer.low < special.expit(logits[own] + 1.0).mean() < answer.high
    listed = model.estimate(logits[own], segment={"place": place[own], "team": team[own]})
    assert answer.value == listed.value


def test_what_it_cannot_do_is_said(systems):
    model, _, new = systems
    with pytest.raises(InvalidInputError, match="`segment` must be given"):
        model.estimate(new["a"])
    with pytest.raises(InvalidInputError, match="or with segments"):
        model.estimate(new["a"], "precision", target="scores", segment="a")
    rng = np.random.default_rng(0)
    matrix = rng.dirichlet(np.ones(3), 200)
    labels = np.arange(200) % 3
    several = SegmentedCalibrator().fit(matrix, labels, segment=np.arange(200) % 2)
    with pytest.raises(InvalidInputError, match="one score of each row"):
        several.estimate(matrix, segment=np.arange(200) % 2)
