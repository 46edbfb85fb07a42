from dataclasses import replace

import numpy as np
import pytest

from calibrant.report.calibration_sections import meaning_section, score_reaching


def test_scores_mean_what_the_map_says(data):
    (table,) = meaning_section(data).tables
    scores = np.array([float(score.removesuffix(" %")) / 100 for score, _ in table.rows])
    assert len(scores) >= 5
    shown = [float(cell.text[:-2]) for _, cell in table.rows]
    assert shown == pytest.approx(100 * data.calibrator.predict(scores), abs=0.06)
    low, high = data.calibrator.predict_interval(scores[:1], level=data.level)
    ends = [float(end.removesuffix(" %")) for end in table.rows[0][1].small.split(" to ")]
    assert ends == pytest.approx([100 * low[0], 100 * high[0]], abs=0.06)


def test_the_score_of_one_half_is_that_of_the_map(data):
    start = data.calibrator.map_.inverse(0.5)
    assert score_reaching(data, 0.5) == start
    assert (
        meaning_section(data).sentences[0]
        == f"From a score of {100 * start:.3g} % up, the event is more likely than not."
    )
    sentence = meaning_section(replace(data, top_label=True)).sentences[0]
    assert "the predicted class is more likely right than wrong." in sentence


def test_scores_that_are_no_probabilities_have_no_percent_sign(unbounded):
    section = meaning_section(unbounded)
    assert not any("%" in score for score, _ in section.tables[0].rows)
    assert not any(cell.small for _, cell in section.tables[0].rows)  # Platt scaling has no interval
    assert "%" not in section.sentences[0]


def test_the_map_of_classes_is_an_average(classes):
    (sentence,) = meaning_section(classes).sentences
    assert "the probability of the predicted class becomes" in sentence
    assert "on average" in sentence


class Fake:
    """A map of the given values at the scores of the rows."""

    def __init__(self, values):
        self.values, self.map_ = values, self

    def predict(self, scores):
        return np.resize(self.values, len(scores))

    __call__ = predict

    def inverse(self, probability):
        return 0.2 if probability <= max(self.values) else np.inf


def test_one_half_may_never_or_always_or_not_only_above_be_reached(data):
    def first(*values):
        return meaning_section(replace(data, calibrator=Fake(values))).sentences[0]

    assert first(0.1) == "No score in these rows reaches one half: the highest probability is 10.0 %."
    assert first(0.7) == "At every score in these rows, the event is more likely than not."
    assert first(0.7, 0.1).startswith("No single score parts the rows where the event is more likely than not")
