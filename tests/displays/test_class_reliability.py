import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

from calibrant import ClassReliabilityDisplay, ReliabilityDisplay
from calibrant.errors import InvalidInputError
from calibrant.reliability import reliability


def draw(n=400, n_classes=3):
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(n_classes), n)
    y = (p.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
    return y, p


def test_the_predicted_class_and_each_class():
    y, p = draw()
    wrong = p[:, [0, 2, 1]]  # the last two columns are mixed up
    display = ClassReliabilityDisplay.from_predictions(np.array(list("abc"))[y], wrong, figure=Figure())
    top = wrong.argmax(axis=1)
    expected = reliability(top == y, wrong.max(axis=1))
    np.testing.assert_array_equal(display.top.points, expected.points)
    assert {result.name for result in display.classes[:2]} == {"b", "c"}
    assert display.errors == sorted(display.errors, reverse=True)
    titles = [one.ax_.get_title() for one in display.classes_]
    assert titles[2] == f"a: off by {100 * display.errors[2]:.2g} points"
    assert display.top_.ax_.get_ylabel() == "Fraction of right predictions"
    display.figure_.draw_without_rendering()


def test_many_classes_and_a_figure_of_its_own():
    y, p = draw(n_classes=15)
    display = ClassReliabilityDisplay.from_predictions(y, p, classes=[f"class {k}" for k in range(15)], max_classes=5)
    assert len(display.classes_) == 5
    assert all(result.name.startswith("class ") for result in display.classes)
    plt.close(display.figure_)


def test_from_a_classifier():
    features, species = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[species]
    model = LogisticRegression().fit(features[:, :2], names)
    display = ClassReliabilityDisplay.from_estimator(model, features[:, :2], names, figure=Figure())
    assert {result.name for result in display.classes} == set(names)
    one = ReliabilityDisplay.from_estimator(model, features[:, :2], names, ax=Figure().subplots())
    np.testing.assert_array_equal(one.results[0].points, display.top.points)
    assert one.top_label
    with pytest.raises(InvalidInputError, match="`y` must have labels that `estimator` knows"):
        ClassReliabilityDisplay.from_estimator(model, features[:, :2], species)


def test_the_predicted_class_of_several_models():
    y, p = draw()
    models = {"raw": p, "sharp": p**3 / (p**3).sum(axis=1, keepdims=True)}
    display = ReliabilityDisplay.from_predictions(y, models, ax=Figure().subplots())
    assert [result.name for result in display.results] == ["raw", "sharp"]
    assert display.ax_scores_.get_xlabel() == "Probability of the predicted class"
    assert display.results[1].points["mean_score"].mean() > display.results[0].points["mean_score"].mean()


def test_refusals():
    y, p = draw()
    with pytest.raises(InvalidInputError, match="`classes` must name the 3 columns; got 2 names"):
        ClassReliabilityDisplay.from_predictions(y, p, classes=["a", "b"])
    with pytest.raises(InvalidInputError, match="one entry for each class; got 0 and 0"):
        ClassReliabilityDisplay(reliability(y == 0, p[:, 0]), [], [])
