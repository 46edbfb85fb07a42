import numpy as np
import pytest

import calibrant
from calibrant import ABB, BayesIso, Blend, IsotonicCalibration, simulate
from calibrant.adjust.prior import _most_likely, estimate_prior
from calibrant.errors import InvalidInputError


def expectation_maximisation(probabilities, weights, train, rounds=20_000):
    """Saerens, Latinne and Decaestecker 2002, as printed."""
    rate = train
    for _ in range(rounds):
        positive = rate / train * probabilities
        rate = np.average(positive / (positive + (1 - rate) / (1 - train) * (1 - probabilities)), weights=weights)
    return rate


@pytest.mark.parametrize("train", [0.1, 0.4, 0.8])
def test_halving_finds_what_expectation_maximisation_converges_to(train):
    rng = np.random.default_rng(0)
    probabilities, weights = rng.beta(1, 2, 60), rng.integers(1, 9, 60).astype(float)
    found = _most_likely(probabilities[None], weights[None], np.array([train]))[0]
    assert found == pytest.approx(expectation_maximisation(probabilities, weights, train), abs=1e-6)


def test_a_perfect_score_is_counted():
    """Scores that are nearly the labels: the share is that of the high ones."""
    scores = np.repeat([0.001, 0.999], [70, 30])
    calibrator = BayesIso().fit(np.tile([0.001, 0.999], 500), np.tile([0, 1], 500))
    answer = estimate_prior(calibrator, scores)
    assert answer.value == pytest.approx(0.3, abs=0.01)
    assert answer.train_rate == pytest.approx(0.5, abs=0.01)


def resample(scores, labels, rate, n, rng):
    positives = rng.binomial(n, rate)
    own = [rng.choice(scores[labels == y], size) for y, size in ((True, positives), (False, n - positives))]
    return np.concatenate(own), positives / n


def test_intervals_cover_new_rates():
    hits, errors = [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        data = simulate.bayes_iso(4000, rng=seed)
        calibrator = ABB().fit(data.scores[:500], data.labels[:500])
        new, truth = resample(data.scores[500:], data.labels[500:].astype(bool), (0.1, 0.3, 0.7)[seed % 3], 1500, rng)
        answer = estimate_prior(calibrator, new)
        hits.append(answer.low <= truth <= answer.high)
        errors.append(abs(answer.value - truth))
    assert np.mean(hits) >= 0.6
    assert np.mean(errors) < 0.04


def test_the_map_is_adjusted_to_the_new_share():
    rng = np.random.default_rng(1)
    data = simulate.bayes_iso(6000, rng=1)
    calibrator = ABB().fit(data.scores[:2000], data.labels[:2000])
    labels = data.labels.astype(bool)
    new, truth = resample(data.scores[2000:], labels[2000:], 0.15, 3000, rng)
    answer = estimate_prior(calibrator, new)
    assert answer.map_(new).mean() == pytest.approx(answer.value, abs=0.01)  # the score equation of the likelihood
    assert abs(answer.map_(new).mean() - truth) < 0.5 * abs(calibrator.predict(new).mean() - truth)


def test_a_change_of_the_base_rate_alone_raises_no_doubt():
    doubts = 0
    for seed in range(20):
        rng = np.random.default_rng(100 + seed)
        data = simulate.bayes_iso(4000, rng=seed)
        calibrator = ABB().fit(data.scores[:500], data.labels[:500])
        new, _ = resample(data.scores[500:], data.labels[500:].astype(bool), 0.2, 2000, rng)
        doubts += bool(estimate_prior(calibrator, new, n_draws=20).warning)
    assert doubts <= 2


def test_scores_that_no_share_explains_are_reported():
    """All new scores lie in the middle, where both classes had few."""
    data = simulate.bayes_iso(3000, rng=0)
    blend = Blend().fit(data.scores, data.labels)
    answer = estimate_prior(blend, np.linspace(0.45, 0.55, 1000))
    assert answer.p_value < 1e-6
    assert "does not explain the new scores" in answer.warning
    assert answer.warning in str(answer)


def test_few_labelled_rows_leave_the_check_open():
    calibrator = BayesIso().fit([0.1, 0.4, 0.6, 0.9], [0, 1, 0, 1])
    answer = estimate_prior(calibrator, [0.2, 0.8])
    assert np.isnan(answer.p_value)
    assert answer.warning == ""


def test_a_saved_model_answers_too(tmp_path):
    data = simulate.bayes_iso(2000, rng=3)
    calibrator = BayesIso().fit(data.scores[:500], data.labels[:500])
    calibrator.save(tmp_path / "model.json")
    loaded, fitted = (estimate_prior(m, data.scores) for m in (calibrant.load(tmp_path / "model.json"), calibrator))
    assert loaded.value == pytest.approx(fitted.value, abs=0.01)
    assert loaded.to_dict()["low"] == pytest.approx(fitted.low, abs=0.02)


def test_models_without_a_posterior_are_refused():
    with pytest.raises(InvalidInputError, match="has none"):
        estimate_prior(IsotonicCalibration().fit([0.1, 0.9], [0, 1]), [0.5])
