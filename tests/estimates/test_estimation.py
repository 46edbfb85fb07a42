from itertools import product

import numpy as np
import pytest

import calibrant
from calibrant import ABB, Blend, IsotonicCalibration, Tally, simulate
from calibrant.calibrators import registry
from calibrant.calibrators.base import BayesianCalibrator
from calibrant.errors import InvalidInputError
from calibrant.estimates import QUANTITIES, count_scores, estimate, estimate_difference, estimate_several
from calibrant.estimates.rows import draw_levelled_maps


class Known:
    """A posterior of maps that are known: the score to a power, each drawn equally often."""

    def __init__(self, *powers):
        self.powers = np.array(powers)

    def predict(self, scores):
        return (np.asarray(scores) ** self.powers[:, None]).mean(axis=0)

    def sample_maps(self, scores, n_draws=100, random_state=0):
        del random_state  # there is no chance in it
        return np.asarray(scores) ** np.resize(self.powers, n_draws)[:, None]


def test_the_finite_number_of_rows_is_enumerated():
    """Seven rows have 128 outcomes: the interval of their mean is that of the enumerated distribution."""
    scores = np.array([0.1, 0.2, 0.35, 0.5, 0.5, 0.8, 0.9])
    worlds = np.array(list(product((0, 1), repeat=7)))
    weights = np.where(worlds == 1, scores, 1 - scores).prod(axis=1)
    for what, values in {
        "mean": worlds.mean(axis=1),
        "accuracy": ((scores >= 0.5) == worlds).mean(axis=1),
        "precision": worlds[:, scores >= 0.5].mean(axis=1),
    }.items():
        answer = estimate(Known(1.0), scores, what, n_draws=20_000, level=0.8)
        assert answer.value == pytest.approx(weights @ values)
        for value in np.unique(values):
            share = weights[values <= value + 1e-12].sum()
            assert (answer.draws <= value + 1e-12).mean() == pytest.approx(share, abs=0.015)


def test_draws_are_those_of_a_loop_over_maps_and_rows():
    model, scores = Known(0.5, 1.0, 2.0), np.linspace(0.05, 0.95, 19)
    answer = estimate(model, scores, "accuracy", threshold=0.4, sampling_noise=False, n_draws=30, target="scores")
    called = scores >= 0.4
    loop = [np.where(called, truth, 1 - truth).mean() for truth in model.sample_maps(scores, 30)]
    np.testing.assert_allclose(answer.draws, loop, rtol=1e-12)
    assert (answer.low, answer.high) == pytest.approx(np.quantile(loop, [0.05, 0.95]))


def test_the_value_is_that_of_the_fitted_map_at_the_level_of_the_labels():
    data = simulate.bayes_iso(400, rng=1)
    calibrator = ABB().fit(data.scores[:100], data.labels[:100])
    scores = data.scores[100:]
    predicted, _ = draw_levelled_maps(calibrator, scores, 1, np.random.default_rng(0))
    called = calibrator.predict(scores) >= 0.5
    assert calibrator.estimate(scores).value == pytest.approx(predicted.mean())
    assert calibrator.estimate(scores, "positives").value == pytest.approx(predicted.sum())
    assert calibrator.estimate(scores, "precision").value == pytest.approx(predicted[called].mean())


def test_a_generous_judge_is_not_worse_than_counting():
    """The map alone was 1.2 times as far off."""
    errors, n = [], 100
    for seed in range(5000, 5050):
        rng = np.random.default_rng(seed)
        truth = rng.beta(2, 2, 1000 + n)
        scores, right = np.round(np.sqrt(truth), 2), rng.random(1000 + n) < truth
        value = Blend().fit(scores[:n], right[:n]).estimate(scores[n:], n_draws=20).value
        errors.append((abs(value - right[n:].mean()), abs(right[:n].mean() - right[n:].mean())))
    ours, counting = np.mean(errors, axis=0)
    assert ours < counting


@pytest.mark.parametrize("n_labels", [50, 100])
def test_the_interval_of_a_mean_covers_where_the_score_is_too_steep(n_labels):
    """Draws that kept the level of the score covered 0.74 with 50 labels."""
    covered, rng = 0, np.random.default_rng(5)
    for _ in range(60):
        scores, new = rng.beta(1.5, 1.5, n_labels), rng.beta(1.5, 1.5, 2000)
        blend = Blend().fit(scores, rng.random(n_labels) < 0.15 + 0.5 * scores)
        answer = blend.estimate(new, n_draws=200)
        covered += answer.low <= (rng.random(2000) < 0.15 + 0.5 * new).mean() <= answer.high
    assert covered >= 0.8 * 60


def test_scores_and_their_tally_give_the_same_and_labels_do_not_matter():
    data = simulate.bayes_iso(300, rng=2)
    calibrator = ABB().fit(data.scores[:100], data.labels[:100])
    by_rows = calibrator.estimate(data.scores, "auc")
    for tally in (count_scores(data.scores), data.tally):
        assert calibrator.estimate(tally, "auc").to_dict() == by_rows.to_dict()


def test_a_billion_rows_are_weights_of_cells():
    scores = np.linspace(0.01, 0.99, 99)
    once = estimate(Known(1.0, 1.1), count_scores(scores, np.full(99, 10.0)))
    often = estimate(Known(1.0, 1.1), count_scores(scores, np.full(99, 1e7)))
    expected = estimate(Known(1.0, 1.1), scores, sampling_noise=False)
    assert often.value == pytest.approx(once.value)
    assert often.rows == pytest.approx(9.9e8)
    assert often.width == pytest.approx(expected.width, rel=0.01)
    assert once.width > expected.width


def test_many_scores_are_merged_without_mixing_decisions():
    rng = np.random.default_rng(3)
    scores = rng.random(50_000)
    answer = estimate(Known(1.0, 1.3), scores, "precision", threshold=0.777, target="scores", sampling_noise=False)
    exact = [(scores**power)[scores >= 0.777].mean() for power in (1.0, 1.3)]
    assert sorted(set(answer.draws.round(6))) == pytest.approx(sorted(exact), abs=1e-5)


def test_what_is_judged_is_chosen():
    """Scores that were squared decide otherwise than their square roots."""
    scores = np.linspace(0.01, 0.99, 99)
    of_scores = estimate(Known(0.5), scores, "accuracy", target="scores")
    of_probabilities = estimate(Known(0.5), scores, "accuracy")
    truth = np.sqrt(scores)
    assert of_scores.value == pytest.approx(np.where(scores >= 0.5, truth, 1 - truth).mean())
    assert of_probabilities.value == pytest.approx(np.where(truth >= 0.5, truth, 1 - truth).mean())


def test_rows_outside_the_labelled_range_are_counted_and_warned_of():
    data = simulate.bayes_iso(200, rng=4)
    inner = (data.scores > 0.3) & (data.scores < 0.7)
    calibrator = ABB().fit(data.scores[inner], data.labels[inner])
    answer = calibrator.estimate(data.scores)
    low, high = data.scores[inner].min(), data.scores[inner].max()
    assert answer.outside == pytest.approx(((data.scores < low) | (data.scores > high)).mean())
    assert "outside 0.3" in answer.warning
    assert answer.warning in str(answer)
    assert calibrator.estimate(data.scores[inner]).warning == ""


@pytest.mark.parametrize("what", QUANTITIES)
def test_blend_answers_every_question(what):
    data = simulate.bayes_iso(1200, rng=6)
    blend = Blend().fit(data.scores[:200], data.labels[:200])
    answer = blend.estimate(data.scores[200:], what, threshold=0.3 if QUANTITIES[what].decides else None)
    assert answer.low <= answer.value <= answer.high
    assert np.isfinite(answer.draws).all()
    assert str(answer).startswith(QUANTITIES[what].title)


def test_intervals_cover_the_truth():
    """Forty samples of 100 labels; the outcomes of the 900 other rows are covered about nine times out of ten."""
    hits = []
    for seed in range(40):
        data = simulate.bayes_iso(1000, rng=seed)
        calibrator = ABB().fit(data.scores[:100], data.labels[:100])
        answer = calibrator.estimate(data.scores[100:])
        hits.append(answer.low <= data.labels[100:].mean() <= answer.high)
    assert 0.75 <= np.mean(hits) <= 1.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"quantity": "recal"}, "`quantity` must be one of"),
        ({"quantity": "mean", "threshold": 0.5}, "`threshold` has no part in the mean outcome"),
        ({"quantity": "net_benefit"}, "`threshold` must be given for the net benefit"),
        ({"quantity": "accuracy", "threshold": 1.5}, "`threshold` must lie between 0 and 1"),
        ({"quantity": "precision", "threshold": 0.999}, "has no value on these rows"),
        ({"level": 1.0}, "`level` must lie"),
        ({"n_draws": 0}, "`n_draws` must be"),
        ({"target": "ranks"}, "`target` must be one of"),
    ],
)
def test_bad_questions_are_refused(arguments, message):
    with pytest.raises(InvalidInputError, match=message):
        estimate(Known(1.0), [0.2, 0.6], **arguments)


def test_a_method_without_a_posterior_is_refused():
    with pytest.raises(InvalidInputError, match="IsotonicCalibration has none"):
        estimate(IsotonicCalibration().fit([0.1, 0.9], [0, 1]), [0.5])


def test_no_rows_are_refused():
    with pytest.raises(InvalidInputError, match="the tally is empty"):
        estimate(Known(1.0), Tally.empty())


def test_several_questions_are_answered_in_the_same_worlds():
    scores = np.linspace(0.05, 0.95, 40)
    answers = estimate_several(Known(0.7, 1.0, 1.4), scores, ["mean", "positives", "accuracy"], threshold=0.3)
    np.testing.assert_allclose(answers["positives"].draws, 40 * answers["mean"].draws)
    alone = estimate(Known(0.7, 1.0, 1.4), scores, "accuracy", threshold=0.3)
    assert alone.to_dict() == answers["accuracy"].to_dict()


def test_all_questions_are_asked_unless_some_are_named():
    assert list(estimate_several(Known(1.0), [0.2, 0.8], threshold=0.4)) == list(QUANTITIES)


BAYESIAN = [name for name in registry.names() if isinstance(registry.create(name), BayesianCalibrator)]


@pytest.mark.parametrize("name", BAYESIAN)
def test_every_bayesian_method_answers_and_again_after_it_was_saved(name, tmp_path):
    calibrator = registry.create(name).fit([0.1, 0.3, 0.4, 0.6, 0.9], [0, 0, 1, 0, 1])
    answer = calibrator.estimate([0.2, 0.7], n_draws=400)
    assert 0.0 <= answer.low <= answer.value <= answer.high <= 1.0
    calibrator.save(tmp_path / "model.json")
    saved = calibrant.load(tmp_path / "model.json").estimate([0.2, 0.7], sampling_noise=False)
    assert saved.value == answer.value
    fitted = calibrator.estimate([0.2, 0.7], sampling_noise=False)
    assert (saved.low, saved.high) == pytest.approx((fitted.low, fitted.high), abs=0.1)


@pytest.fixture
def judge():
    data = simulate.bayes_iso(150, rng=0)
    return ABB().fit(data.scores, data.labels)


def test_the_value_is_the_difference_of_the_values(judge):
    a, b = np.linspace(0.3, 0.9, 50), np.linspace(0.1, 0.8, 70)
    answer = estimate_difference(judge, a, b, "accuracy")
    assert answer.value == pytest.approx(judge.estimate(a, "accuracy").value - judge.estimate(b, "accuracy").value)
    assert answer.low <= answer.value <= answer.high


def test_the_same_rows_do_not_differ(judge):
    a = np.linspace(0.1, 0.9, 50)
    answer = judge.estimate_difference(a, a, sampling_noise=False)
    assert (answer.value, answer.low, answer.high, answer.first_higher) == (0.0, 0.0, 0.0, 0.5)


def test_what_is_uncertain_about_both_alike_cancels(judge):
    a, b = np.linspace(0.42, 0.62, 200), np.linspace(0.40, 0.60, 200)
    apart = estimate(judge, a, sampling_noise=False).width
    assert judge.estimate_difference(a, b, sampling_noise=False).width < 0.5 * apart


def test_draws_are_those_of_a_loop_over_maps(judge):
    a, b = np.linspace(0.3, 0.9, 5), np.linspace(0.1, 0.8, 7)
    _, maps = draw_levelled_maps(judge, np.concatenate((a, b)), 25, np.random.default_rng(1))
    expected = [truth[:5].mean() - truth[5:].mean() for truth in maps]
    drawn = estimate_difference(judge, a, b, sampling_noise=False, target="scores", n_draws=25, rng=1).draws
    np.testing.assert_allclose(drawn, expected, atol=1e-12)


def test_it_says_which_is_higher_and_warns(judge):
    answer = judge.estimate_difference(np.linspace(0.6, 2.0, 500), np.linspace(0.1, 0.3, 500))
    assert answer.first_higher > 0.95
    assert "the first is higher with probability" in str(answer)
    assert answer.warning.startswith("First: ")
    assert answer.to_dict()["outside"][1] <= 0.1


def test_differences_of_unknown_quantities_are_refused(judge):
    with pytest.raises(InvalidInputError, match="`quantity`"):
        judge.estimate_difference([0.1], [0.2], "median")
