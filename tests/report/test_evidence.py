from dataclasses import replace

import pytest

from calibrant.metrics import Interval
from calibrant.report.evidence import (
    behind_best,
    evidence,
    gain,
    improves,
    is_large,
    is_small,
    is_tied,
    one_outcome,
    segments_off,
)


def test_small_means_small_for_the_rarer_class():
    assert is_small(0.005, 0.5)
    assert not is_small(0.005, 0.01)
    assert not is_small(0.005, 0.99)
    assert not is_small(0.02, 0.5)
    assert is_large(0.2)
    assert not is_large(0.1)


@pytest.mark.parametrize(
    ("p_value", "recommended", "proof"),
    [(0.5, "identity", 0), (0.03, "identity", 1), (0.5, "platt", 1), (0.03, "platt", 2), (0.0001, "identity", 2)],
)
def test_two_signs_make_clear_evidence(with_facts, p_value, recommended, proof):
    assert evidence(with_facts(p_value=p_value, error=(0.06, 0.05, 0.07), recommended=recommended)) == proof


def test_scores_that_are_no_probabilities_prove_nothing(unbounded):
    assert evidence(unbounded) == 0


def test_the_method_of_the_page_needs_no_allowance_for_the_best_of_many(found):
    # The comparison allows for having tried many methods and recommends none; this one was not picked for its result.
    cautious = replace(found, name="platt", comparison=replace(found.comparison, recommended="identity"))
    assert gain(cautious).high < 0.0
    assert improves(cautious)
    results = tuple(
        replace(r, log_loss_difference=Interval(-0.01, -0.03, 0.01, 0.9)) if r.name == "platt" else r
        for r in found.comparison.results
    )
    assert not improves(replace(cautious, comparison=replace(cautious.comparison, results=results)))


def test_one_outcome(found, one_sided):
    assert one_outcome(one_sided)
    assert not one_outcome(found)


def test_segments_that_are_off(segmented):
    assert segments_off(segmented, "before") == ["south"]


def test_the_distance_to_the_best(found):
    losses = {r.name: r.log_loss.value for r in found.comparison.results}
    behind = replace(found, name="isotonic", comparison=replace(found.comparison, recommended="platt", tied=()))
    assert behind_best(behind)[0] == pytest.approx(losses["isotonic"] - losses["platt"])
    assert not is_tied(behind)
    assert behind_best(replace(behind, name="platt")) is None
