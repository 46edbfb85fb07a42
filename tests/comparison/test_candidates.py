import numpy as np
import pytest

from calibrant import IsotonicCalibration, PlattScaling, Tally
from calibrant.calibrators import registry
from calibrant.comparison.candidates import are_probabilities, create, name_candidates, title_of


class Mine(IsotonicCalibration):
    title = "isotonic regression of my own"


@pytest.mark.parametrize(("scores", "answer"), [([0.0, 1.0], True), ([-0.1, 0.5], False), ([0.5, 1.5], False)])
def test_probabilities_lie_between_0_and_1(scores, answer):
    assert are_probabilities(Tally.from_arrays(scores, [0, 1])) is answer


def test_only_methods_that_can_be_told_are_told_of_decision_scores():
    assert create("platt", probabilities=False).space == "decision"
    assert create("platt", probabilities=True).space != "decision"
    assert "space" not in create("isotonic", probabilities=False).get_params()


def test_the_raw_score_comes_first_and_objects_are_left_as_they_are():
    own = PlattScaling(target_correction=False)
    named = name_candidates({"mine": own}, probabilities=False)
    assert list(named) == ["identity", "mine"]
    assert named["mine"] is own
    assert np.array_equal(list(name_candidates(None, probabilities=True)), list(registry.names()))


def test_names_and_titles():
    assert list(name_candidates([PlattScaling(), Mine()], probabilities=True)) == ["identity", "platt", "Mine"]
    assert title_of(Mine(), "Mine") == "isotonic regression of my own"
    assert title_of(PlattScaling(), "platt") == getattr(registry.get("platt"), "title", "platt")
