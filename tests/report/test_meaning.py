from dataclasses import replace

import numpy as np
import pytest

from calibrant import Tally
from calibrant.report.meaning import fitted_scores, pick_scores, score_meaning, weighted_quantiles


def test_scores_mean_what_the_map_says(study):
    shown = score_meaning(study)
    assert shown.scores == ("20 %", "50 %", "80 %", "90 %")
    probabilities = study.calibrator.predict(np.array([0.2, 0.5, 0.8, 0.9]))
    assert [float(text[:-2]) for text in shown.probabilities] == pytest.approx(100 * probabilities, abs=0.06)
    low, high = study.calibrator.predict_interval(np.array([0.2]), level=study.level)
    ends = [float(end) for end in shown.intervals[0].removesuffix(" %").split(" to ")]
    assert ends == pytest.approx([100 * low[0], 100 * high[0]], abs=0.06)


def test_the_score_of_one_half_is_that_of_the_map(study):
    start = float(study.calibrator.map_.inverse(np.array([0.5]))[0])
    assert score_meaning(study).half == f"From a score of {100 * start:.3g} % up, the event is more likely than not."
    classes = score_meaning(replace(study, top_label=True)).half
    assert classes.endswith("the predicted class is more likely right than wrong.")


def test_scores_that_are_no_probabilities_have_no_percent_sign(unbounded):
    shown = score_meaning(unbounded)
    assert not any("%" in text for text in shown.scores)
    assert shown.intervals == ()  # Platt scaling has none
    assert "%" not in shown.half


def test_rows_that_cannot_be_compared_give_no_meaning(one_sided):
    assert score_meaning(one_sided) is None


class Flat:
    def __init__(self, value):
        self.value = value
        self.map_ = self

    def predict(self, scores):
        return np.full(len(scores), self.value)

    def inverse(self, probabilities):
        return np.where(np.asarray(probabilities) > self.value, np.inf, 0.0)


def test_one_half_may_never_or_always_be_reached(study):
    never = score_meaning(replace(study, calibrator=Flat(0.1))).half
    assert never == "No score in these rows reaches one half: the highest probability is 10.0 %."
    always = score_meaning(replace(study, calibrator=Flat(0.7))).half
    assert always == "At every score in these rows, the event is more likely than not."


def test_quantiles_count_rows():
    tally = Tally.from_arrays([0.1] * 9 + [0.9], [0] * 10)
    assert weighted_quantiles(tally, np.array([0.0, 0.5, 0.9, 0.95, 1.0])).tolist() == [0.1, 0.1, 0.1, 0.9, 0.9]


def test_rare_events_have_scores_of_their_own(study):
    scores = fitted_scores(study)
    assert (scores[0], scores[-1]) == (study.before.tally.scores[0], study.before.tally.scores[-1])
    assert np.all(pick_scores(scores * 0.01, probabilities=True) <= 0.01)
