"""Views of several classes, by hand and by property."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from calibrant import Identity, IsotonicCalibration, PlattScaling, TemperatureScaling
from calibrant.classifier.views import (
    ClassScores,
    OneVsRest,
    Recipe,
    TopLabel,
    WholeMatrix,
    _normalised,
    choose_recipe,
    class_scores,
)
from calibrant.errors import InvalidInputError
from calibrant.maps.matrix import MatrixMap, MatrixMember
from calibrant.multiclass.base import MatrixCalibrator

ABC = np.array(["a", "b", "c"])
ALL = np.ones(3, dtype=bool)


def model(classes, **answers):
    methods = {name: (lambda _, answer=answer: np.asarray(answer)) for name, answer in answers.items()}
    return SimpleNamespace(classes_=np.array(classes), **methods)


def test_one_decision_score_becomes_two_columns():
    scores = class_scores(model([0, 1], decision_function=[-1.0, 2.0]), None, "decision_function", np.array([0, 1]))
    assert scores.values.tolist() == [[1.0, -1.0], [-2.0, 2.0]]
    column = class_scores(model([0, 1], decision_function=[[3.0]]), None, "decision_function", np.array([0, 1]))
    assert column.values.tolist() == [[-3.0, 3.0]]


def test_columns_are_placed_by_label_and_unknown_classes_score_lowest():
    proba = class_scores(model(["c", "a"], predict_proba=[[0.3, 0.7]]), None, "predict_proba", ABC)
    assert proba.values.tolist() == [[0.7, 0.0, 0.3]]
    assert proba.known.tolist() == [True, False, True]
    decision = class_scores(model(["a", "c"], decision_function=[2.0, -5.0]), None, "decision_function", ABC)
    assert decision.values.tolist() == [[-2.0, -5.0, 2.0], [5.0, -5.0, -5.0]]


def test_a_model_without_classes_is_taken_to_know_all():
    plain = SimpleNamespace(predict_proba=lambda _: np.array([[0.2, 0.3, 0.5]]))
    assert class_scores(plain, None, "predict_proba", ABC).known.all()


def test_rounding_is_forgiven_but_not_more():
    near = class_scores(model([0, 1], predict_proba=[[-1e-9, 1 + 1e-9]]), None, "predict_proba", np.array([0, 1]))
    assert near.values.tolist() == [[0.0, 1.0]]
    far = class_scores(model([0, 1], predict_proba=[[-0.5, 1.5]]), None, "predict_proba", np.array([0, 1]))
    with pytest.raises(InvalidInputError, match=r"must lie in \[0, 1\]; got .*1.5"):
        OneVsRest.fit(Identity(), far, np.array([1]), None)


def test_bad_answers_are_refused():
    with pytest.raises(InvalidInputError, match="`predict_proba` must be finite; got NaN"):
        class_scores(model([0, 1], predict_proba=[[np.nan, 1.0]]), None, "predict_proba", np.array([0, 1]))
    with pytest.raises(InvalidInputError, match=r"must be among the labels \['a', 'b', 'c'\]; got 0"):
        class_scores(model([0, 1, 2], predict_proba=[[0.4, 0.5, 0.1]]), None, "predict_proba", ABC)
    with pytest.raises(InvalidInputError, match=r"one column for each of the 3 classes.*got shape \(1, 2\)"):
        class_scores(model(ABC, predict_proba=[[0.4, 0.6]]), None, "predict_proba", ABC)


def test_one_vs_rest_normalises_by_hand():
    scores = ClassScores(np.array([[0.4, 0.3, 0.5], [0.0, 0.0, 0.0]]), ALL)
    view = OneVsRest.fit(Identity(), scores, np.array([0, 1]), None)
    assert len(view.calibrators) == 3
    np.testing.assert_allclose(view.predict_proba(scores), [[0.4 / 1.2, 0.3 / 1.2, 0.5 / 1.2], [1 / 3] * 3])


def test_one_calibrator_serves_two_classes():
    scores = ClassScores(np.array([[0.8, 0.2], [0.6, 0.4], [0.3, 0.7]]), ALL[:2])
    view = OneVsRest.fit(IsotonicCalibration(target_correction=False), scores, np.array([0, 1, 0]), None)
    assert len(view.calibrators) == 1
    np.testing.assert_allclose(view.predict_proba(scores), [[1.0, 0.0], [0.5, 0.5], [0.5, 0.5]])


def test_top_label_shares_the_rest_in_proportion():
    values = np.array([[0.6, 0.3, 0.1], [0.2, 0.2, 0.6], [1.0, 0.0, 0.0], [0.1, 0.7, 0.2]])
    scores = ClassScores(values, ALL)
    # Two of the three confidences below 1 hit; sorted by confidence the hits are 1, 0, 1, 0: pooled to 1/2 twice.
    view = TopLabel.fit(IsotonicCalibration(target_correction=False), scores, np.array([0, 0, 1, 1]), None)
    np.testing.assert_allclose(
        view.predict_proba(scores),
        [[0.5, 0.375, 0.125], [0.25, 0.25, 0.5], [0.5, 0.25, 0.25], [0.5 / 3, 0.5, 1.0 / 3]],
    )


def test_unknown_classes_get_nothing():
    known = np.array([True, False, True])
    scores = ClassScores(np.array([[0.0, 0.0, 1.0], [0.9, 0.0, 0.1], [0.0, 0.0, 0.0]]), known)
    codes = np.array([2, 1, 0])
    for view in (OneVsRest, TopLabel):
        proba = view.fit(Identity(), scores, codes, None).predict_proba(scores)
        np.testing.assert_allclose(proba.sum(axis=1), 1.0)
        assert not proba[:, 1].any()
    only = ClassScores(np.array([[1.0, 0.0, 0.0]]), np.array([True, False, False]))
    for view in (OneVsRest, TopLabel):
        assert view.fit(Identity(), only, np.array([1]), None).predict_proba(only).tolist() == [[1.0, 0.0, 0.0]]


def test_whole_matrix_fits_the_rows_of_known_classes():
    rng = np.random.default_rng(0)
    logits, codes = rng.normal(size=(60, 4)), rng.integers(0, 4, 60)
    w = rng.uniform(0.5, 2.0, 60)
    known = np.array([True, True, False, True])
    view = WholeMatrix.fit(TemperatureScaling(space="decision"), ClassScores(logits, known), codes, w)
    kept = codes != 2
    direct = TemperatureScaling(space="decision").fit(logits[kept][:, known], codes[kept], w[kept])
    assert view.calibrators[0].temperature_ == direct.temperature_
    proba = view.predict_proba(ClassScores(logits, known))
    np.testing.assert_array_equal(proba[:, known], direct.predict_proba(logits[:, known]))
    assert not proba[:, 2].any()


def test_recipes_choose_view_and_scores():
    both = model(ABC, predict_proba=0, decision_function=0)
    assert choose_recipe("isotonic", both, "auto", "one_vs_rest", ABC).response == "decision_function"
    assert choose_recipe("beta", both, "auto", "one_vs_rest", ABC).response == "predict_proba"
    assert choose_recipe("isotonic", both, "auto", "top_label", ABC).response == "predict_proba"
    assert (
        choose_recipe(PlattScaling(space="probability"), both, "auto", "one_vs_rest", ABC).response == "predict_proba"
    )
    assert (
        choose_recipe(PlattScaling(space="decision"), both, "auto", "one_vs_rest", ABC).response == "decision_function"
    )
    told = choose_recipe("platt", both, "predict_proba", "one_vs_rest", ABC)
    assert (told.response, told.calibrator.space) == ("predict_proba", "probability")
    given = PlattScaling(space="decision")
    kept = choose_recipe(given, model(ABC, predict_proba=0), "auto", "one_vs_rest", ABC)
    assert kept.calibrator is given
    assert given.space == "decision"


@pytest.mark.parametrize(
    ("multiclass", "n_known", "expected"),
    [("auto", 3, WholeMatrix), ("auto", 2, OneVsRest), ("one_vs_rest", 3, OneVsRest), ("top_label", 3, TopLabel)],
)
def test_temperature_takes_the_matrix_of_three_classes_or_more(multiclass, n_known, expected):
    scores = ClassScores(np.array([[0.5, 0.3, 0.2], [0.1, 0.8, 0.1]])[:, :n_known], ALL[:n_known])
    scores = ClassScores(scores.values / scores.values.sum(axis=1, keepdims=True), scores.known)
    recipe = Recipe(TemperatureScaling(), "predict_proba", multiclass, ABC[:n_known])
    assert isinstance(recipe.calibrate(None, scores, np.array([0, 1]), None).view, expected)


rows = st.integers(1, 30).flatmap(
    lambda n: st.tuples(
        arrays(float, (n, 4), elements=st.floats(0.0, 1.0, width=32)), arrays(int, n, elements=st.integers(0, 3))
    )
)


@settings(deadline=None, max_examples=60)
@given(rows)
def test_views_give_distributions_and_top_label_keeps_proportions(drawn):
    values, codes = drawn
    scores = ClassScores(values, np.ones(4, dtype=bool))
    for view in (OneVsRest, TopLabel):
        fitted = view.fit(IsotonicCalibration(), scores, codes, None)
        proba = fitted.predict_proba(scores)
        assert proba.min() >= 0.0
        np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    top = values.argmax(axis=1)
    np.testing.assert_allclose(
        proba[np.arange(len(top)), top], fitted.calibrators[0].predict(values.max(axis=1)), atol=1e-12
    )
    for row, raw, best in zip(proba, values, top, strict=True):
        others = np.delete(raw, best)
        if others.sum() > 1e-30:
            np.testing.assert_allclose(
                np.delete(row, best) * others.sum(), others * (1 - row[best]), rtol=1e-6, atol=1e-9
            )


class Uniform(MatrixCalibrator):
    """A method of somebody else that says which classes there are, and no more."""

    def fit_map(self, scores, labels, weights):  # noqa: ARG002 - nothing to learn
        return MatrixMap(tuple(self.classes_.tolist()), self.space, 0.0, (MatrixMember(1.0),))


def test_a_method_for_matrices_gets_the_whole_matrix():
    three = model([0, 1, 2], predict_proba=np.eye(3))
    recipe = choose_recipe(Uniform(), three, "auto", "one_vs_rest", np.arange(3))
    fitted = recipe.calibrate(three, recipe.scores(three, None), np.arange(3), None)
    assert isinstance(fitted.view, WholeMatrix)
    np.testing.assert_allclose(fitted.predict_proba(None), 1.0 / 3.0)


def test_a_row_that_every_map_gives_zero_is_uniform_over_the_known_classes():
    """As in scikit-learn's test_calibration_zero_probability, which calls a private class of its own."""
    rows = np.array([[0.0, 0.0, 0.0], [0.2, 0.0, 0.6]])
    np.testing.assert_allclose(_normalised(rows, np.array([True, True, True])), [[1 / 3] * 3, [0.25, 0.0, 0.75]])
    np.testing.assert_allclose(_normalised(rows, np.array([True, False, True]))[0], [0.5, 0.0, 0.5])
