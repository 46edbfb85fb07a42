import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.naive_bayes import GaussianNB

from calibrant import ABB, CalibratedClassifier, simulate
from calibrant.errors import InvalidInputError
from calibrant.estimates.ensemble import estimate_ensemble


def test_one_model_gives_what_it_gives_alone():
    data = simulate.bayes_iso(500, rng=0)
    calibrator = ABB().fit(data.scores[:200], data.labels[:200])
    scores = data.scores[200:]
    for what in ("mean", "accuracy", "auc", "log_loss"):
        together = estimate_ensemble([(calibrator, scores)], calibrator.predict(scores), what, sampling_noise=False)
        alone = calibrator.estimate(scores, what, sampling_noise=False)
        assert together.value == pytest.approx(alone.value, abs=1e-4)
        assert (together.low, together.high) == pytest.approx((alone.low, alone.high), abs=0.02)


def test_draws_are_those_of_a_loop_over_models_maps_and_rows():
    """Two models see other scores of the same rows; their probabilities are averaged, their draws are pooled."""

    class Known:
        def predict(self, scores):
            return scores

        def sample_maps(self, scores, n_draws=100, random_state=0):
            del random_state
            return np.asarray(scores) ** np.linspace(0.5, 2.0, n_draws)[:, None]

    rng = np.random.default_rng(1)
    first, second = rng.random(300), rng.random(300)
    averaged = 0.5 * (first + second)
    members = [(Known(), first), (Known(), second)]
    answer = estimate_ensemble(members, averaged, "accuracy", threshold=0.4, sampling_noise=False, n_draws=20)
    called = averaged >= 0.4
    loop = [
        np.where(called, truth, 1 - truth).mean()
        for scores in (first, second)
        for truth in Known().sample_maps(scores, 10)
    ]
    np.testing.assert_allclose(answer.draws, loop, rtol=1e-9)


def test_many_rows_are_merged():
    rng = np.random.default_rng(2)
    scores = rng.random(20_000)
    labels = rng.random(200) < scores[:200]
    calibrator = ABB().fit(scores[:200], labels)
    together = estimate_ensemble([(calibrator, scores)], calibrator.predict(scores), "recall", sampling_noise=False)
    assert together.value == pytest.approx(calibrator.estimate(scores, "recall").value, rel=1e-3)


@pytest.mark.parametrize("ensemble", [True, False])
def test_a_calibrated_classifier_answers(ensemble):
    features, y = make_classification(2000, n_informative=5, flip_y=0.2, random_state=0)
    model = CalibratedClassifier(GaussianNB(), cv=3, ensemble=ensemble).fit(features[:300], y[:300])
    for what, truth in {
        "mean": y[300:].mean(),
        "accuracy": (model.predict(features[300:]) == y[300:]).mean(),
    }.items():
        answer = model.estimate(features[300:], what, level=0.98)
        assert answer.low < truth < answer.high
        assert answer.width < 0.27
    assert answer.outside is not None


def test_a_classifier_without_a_posterior_is_refused():
    features, y = make_classification(100, random_state=0)
    model = CalibratedClassifier(GaussianNB(), "isotonic", cv=3).fit(features, y)
    with pytest.raises(InvalidInputError, match="has no posterior"):
        model.estimate(features)
