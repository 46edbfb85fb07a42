from dataclasses import replace

import numpy as np
import pytest

from calibrant import Tally
from calibrant.report.score_meaning import meaning_section, pick_scores, weighted_quantiles


def test_scores_mean_what_the_map_says(data):
    (table,) = meaning_section(data).tables
    assert [score for score, _ in table.rows] == ["20 %", "50 %", "80 %", "90 %"]
    probabilities = data.calibrator.predict(np.array([0.2, 0.5, 0.8, 0.9]))
    assert [float(cell.text[:-2]) for _, cell in table.rows] == pytest.approx(100 * probabilities, abs=0.06)
    low, high = data.calibrator.predict_interval(np.array([0.2]), level=data.level)
    ends = [float(end) for end in table.rows[0][1].small.removesuffix(" %").split(" to ")]
    assert ends == pytest.approx([100 * low[0], 100 * high[0]], abs=0.06)


def test_the_score_of_one_half_is_that_of_the_map(data):
    start = float(data.calibrator.map_.inverse(np.array([0.5]))[0])
    (sentence,) = meaning_section(data).sentences
    assert sentence.startswith(f"From a score of {100 * start:.3g} % up, the event is more likely than not. ")
    (sentence,) = meaning_section(replace(data, top_label=True)).sentences
    assert "the predicted class is more likely right than wrong." in sentence


def test_scores_that_are_no_probabilities_have_no_percent_sign(unbounded):
    section = meaning_section(unbounded)
    assert not any("%" in score for score, _ in section.tables[0].rows)
    assert not any(cell.small for _, cell in section.tables[0].rows)  # Platt scaling has no interval
    assert "%" not in section.sentences[0]


def test_rows_that_cannot_be_compared_give_no_meaning(one_sided, classes):
    assert meaning_section(one_sided) is None
    assert meaning_section(classes) is None  # the other classes have a say in it


class Flat:
    def __init__(self, value):
        self.value = value
        self.map_ = self

    def predict(self, scores):
        return np.full(len(scores), self.value)

    def inverse(self, probabilities):
        return np.where(np.asarray(probabilities) > self.value, np.inf, 0.0)


def test_one_half_may_never_or_always_be_reached(data):
    (never,) = meaning_section(replace(data, calibrator=Flat(0.1))).sentences
    assert never.startswith("No score in these rows reaches one half: the highest probability is 10.0 %. ")
    (always,) = meaning_section(replace(data, calibrator=Flat(0.7))).sentences
    assert always.startswith("At every score in these rows, the event is more likely than not. ")


def test_quantiles_count_rows():
    tally = Tally.from_arrays([0.1] * 9 + [0.9], [0] * 10)
    assert weighted_quantiles(tally, np.array([0.0, 0.5, 0.9, 0.95, 1.0])).tolist() == [0.1, 0.1, 0.1, 0.9, 0.9]


def test_rare_events_have_scores_of_their_own():
    assert np.all(pick_scores(np.linspace(0.0, 0.01, 99), probabilities=True) <= 0.01)
    assert pick_scores(np.array([2.5, 2.5]), probabilities=False).tolist() == [2.5]
