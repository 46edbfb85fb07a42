import numpy as np
import pytest
from scipy.special import softmax
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from calibrant.multiclass import features, posterior
from calibrant.multiclass.blend import MatrixBlend
from calibrant.multiclass.scaling import MatrixScaling


def draw(truth, rng):
    return (truth.cumsum(axis=1) < rng.random((len(truth), 1))).sum(axis=1)


def make_rows(n, n_classes=3, seed=0, change=lambda log_p: log_p):
    """Scores, labels and the true probabilities, a function of the scores."""
    rng = np.random.default_rng(seed)
    scores = rng.dirichlet(np.ones(n_classes), size=n)
    truth = softmax(change(np.log(scores)), axis=1)
    return scores, draw(truth, rng), truth


CHANGES = {
    "nothing": lambda x: x,
    "temperature": lambda x: 0.5 * x,
    "bias": lambda x: x + np.linspace(-1.0, 1.0, x.shape[1]),
    "vector": lambda x: x * np.linspace(0.6, 1.4, x.shape[1]),
    "lapse": lambda x: np.log(0.8 * np.exp(x) + 0.2 / x.shape[1]),
    "confusion": lambda x: np.log(0.7 * np.exp(x) + 0.3 * np.roll(np.exp(x), 1, axis=1)),
}


@pytest.mark.parametrize("name", CHANGES)
def test_recovers_simulated_truths_and_prefers_the_model_that_is_true(name):
    scores, y, truth = make_rows(2000, change=CHANGES[name])
    blend = MatrixBlend().fit(scores, y)
    error = np.abs(blend.predict_proba(scores) - truth).mean()
    assert error < 0.03
    if name != "nothing":
        assert error < 0.5 * np.abs(scores - truth).mean()
    assert sum(blend.weights_.values()) == pytest.approx(1.0)
    if name in ("temperature", "confusion"):
        heaviest = max(blend.weights_, key=blend.weights_.get)
        # Matrices only come near a mixture of classes, so a function of all of them may be the better one.
        assert heaviest in {"temperature": ("temperature",), "confusion": ("full", "joint")}[name]


def test_intervals_cover_the_truth():
    covered = []
    for seed, change in enumerate(("temperature", "bias", "vector", "lapse", "confusion")):
        scores, y, truth = make_rows(300, 4, seed, CHANGES[change])
        low, high = MatrixBlend().fit(scores, y).predict_interval(scores[:100], level=0.9)
        covered.append(((low <= truth[:100]) & (truth[:100] <= high)).mean())
    assert 0.8 < np.mean(covered) < 0.97


def test_few_rows_do_no_harm():
    harm = []
    for seed in range(3):
        scores, y, truth = make_rows(30, 4, seed)
        p = MatrixBlend().fit(scores, y).predict_proba(scores)
        harm.append(np.abs(p - truth).mean())
    assert np.mean(harm) < 0.07


def test_summary_says_whether_it_was_needed_and_what_carries_it():
    scores, y, _ = make_rows(2000, change=CHANGES["bias"])
    text = MatrixBlend().fit(scores, y).summary()
    assert text.startswith("Calibration was needed")
    assert "class frequencies" in text
    scores, y, _ = make_rows(300)
    assert MatrixBlend().fit(scores, y).summary().startswith("The data do not show")


def differences_to_other_rows(method, scores, y, seed):
    """How far the probabilities move when weights become repeated rows, and when rows and classes change places."""
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 4, len(y))
    fitted = method.fit(scores, y, sample_weight=weights).predict_proba(scores)
    repeated = method.fit(np.repeat(scores, weights, axis=0), np.repeat(y, weights)).predict_proba(scores)
    order, columns = rng.permutation(len(y)), rng.permutation(scores.shape[1])
    names = np.argsort(columns)[y[order]]
    other = method.fit(scores[order][:, columns], names, sample_weight=weights[order])
    return [np.abs(fitted - repeated).max(), np.abs(fitted[:, columns] - other.predict_proba(scores[:, columns])).max()]


def test_weights_are_repeated_rows_and_order_does_not_matter_with_many_rows():
    scores, y, _ = make_rows(20_000, 5, seed=2, change=lambda x: 0.6 * x + np.linspace(-0.5, 0.5, 5))
    assert max(differences_to_other_rows(MatrixBlend(), scores, y, 2)) < 1e-6


@pytest.mark.parametrize("method", [MatrixBlend(), MatrixScaling()])
def test_weights_are_repeated_rows_and_order_does_not_matter_where_a_sample_is_used(method, monkeypatch):
    monkeypatch.setattr(posterior, "SAMPLED_ENTRIES", 6_000)
    monkeypatch.setattr(features, "QUANTILE_ENTRIES", 3_000)
    monkeypatch.setattr(posterior, "SHARED_ROWS", 1000)
    scores, y, _ = make_rows(3000, 4, change=CHANGES["vector"])
    assert max(differences_to_other_rows(method, scores, y, 0)) < 1e-4


def test_many_entries_learn_classes_on_all_rows(monkeypatch):
    scores, y, truth = make_rows(4000, 8, change=CHANGES["bias"])
    monkeypatch.setattr(posterior, "SAMPLED_ENTRIES", 10_000)
    monkeypatch.setattr(posterior, "SHARED_ROWS", 1000)
    blend = MatrixBlend().fit(scores.astype(np.float32), y)
    assert np.abs(blend.predict_proba(scores) - truth).mean() < 0.015
    low, high = blend.predict_interval(scores[:50])
    assert 0.7 < ((low <= truth[:50]) & (truth[:50] <= high)).mean() <= 1.0
    assert blend.weights_["vector"] == 1.0


def test_extreme_scores_are_survived():
    rng = np.random.default_rng(0)
    logits = 200.0 * rng.normal(size=(300, 3))
    y = rng.integers(3, size=300)
    p = MatrixBlend(space="decision").fit(logits, y).predict_proba(logits)
    np.testing.assert_allclose(p.mean(axis=0), np.bincount(y) / 300, atol=0.05)
    constant = np.full((50, 3), 1.0 / 3.0)
    labels = np.repeat([0, 1, 2], [30, 15, 5])
    fitted = MatrixBlend().fit(constant, labels).predict_proba(constant[:1])[0]
    assert fitted[0] > fitted[1] > fitted[2]


class WithoutJoint(MatrixBlend):
    models = {name: blocks for name, blocks in MatrixBlend.models.items() if name != "joint"}  # noqa: RUF012


def test_two_classes_that_together_mean_a_third_are_learned():
    """Where the first two are about equal, most rows are of the third, whatever its own score."""

    def change(x):
        together = np.exp(-((x[:, 0] - x[:, 1]) ** 2))
        return x + np.outer(2.5 * together, [0.0, 0.0, 1.0])

    scores, y, _ = make_rows(2000, change=change)
    blend, without = MatrixBlend().fit(scores, y), WithoutJoint().fit(scores, y)
    assert max(blend.weights_, key=blend.weights_.get) == "joint"
    assert "a smooth function of all classes together" in blend.summary()
    new, _, truth = make_rows(2000, seed=1, change=change)
    error, error_without = (np.abs(fitted.predict_proba(new) - truth).mean() for fitted in (blend, without))
    assert error < 0.04
    assert error < 0.7 * error_without
    ends = (fitted.predict_interval(new[:200]) for fitted in (blend, without))
    covered, covered_without = (((low <= truth[:200]) & (truth[:200] <= high)).mean() for low, high in ends)
    # The ridge is narrower than the prior expects, so not all of its top is covered.
    assert covered > max(0.7, covered_without)


def test_classes_that_mean_something_together_are_learned_among_twelve():
    """Twelve classes of two clusters each, of which a linear model sees the sum."""
    X, y = make_classification(3000, 8, n_informative=8, n_redundant=0, n_classes=12, class_sep=1.2, random_state=0)
    scores = LogisticRegression().fit(X[:1000], y[:1000]).predict_proba(X)
    rows, new = (scores[1000:1700], y[1000:1700]), (scores[2000:], y[2000:])
    blend, without = MatrixBlend().fit(*rows), WithoutJoint().fit(*rows)
    assert blend.weights_["joint"] > 0.9
    loss, loss_without = (log_loss(new[1], fitted.predict_proba(new[0])) for fitted in (blend, without))
    assert loss < loss_without - 0.1
    assert max(differences_to_other_rows(MatrixBlend(), scores[:200], y[:200], 0)) < 1e-6


def test_rows_with_the_same_scores_in_other_places_do_not_make_their_order_matter():
    """Few values, so that many rows have the same scores in another order of classes."""
    rng = np.random.default_rng(3)
    scores = rng.permuted(np.tile([0.6, 0.3, 0.1], (400, 1)), axis=1)
    y = np.where(rng.random(400) < 0.7, scores.argmax(axis=1), rng.integers(3, size=400))
    assert max(differences_to_other_rows(MatrixBlend(), scores, y, 3)) < 1e-4


def test_two_classes_work_too():
    scores, y, truth = make_rows(2000, 2, change=CHANGES["temperature"])
    assert np.abs(MatrixBlend().fit(scores, y).predict_proba(scores) - truth).mean() < 0.02
