import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from benchmarks.unlabelled import ours, splits, summary


@pytest.fixture
def run():
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 20, 300) / 20
    labels = (rng.random(300) < scores).astype(int)
    return splits.Run("made", 100, 0, scores[:100], labels[:100], scores[100:], labels[100:])


def test_the_area_is_that_of_all_pairs(run):
    value, error = splits.area(run.scores, run.labels)
    assert value == pytest.approx(roc_auc_score(run.labels, run.scores))
    assert 0.0 < error < 0.1


def test_counting_labels_and_blend_answer_all_questions(run):
    answers = ours.answer(run)
    assert {name.partition("/")[2] for name in answers} == set(splits.WHAT)
    assert all(low <= value <= high for value, low, high in answers.values())
    assert answers["counting labels/mean"][0] == run.labels.mean()


def test_a_summary_compares_with_counting_on_the_same_runs():
    rows = pd.DataFrame(
        [
            ("counting labels", "a", 50, 0, "mean", 0.5, 0.3, 0.7, 0.4),
            ("calibrant", "a", 50, 0, "mean", 0.45, 0.42, 0.52, 0.4),
            ("calibrant", "a", 50, 1, "mean", 0.45, 0.35, 0.45, 0.4),  # not counted, so not compared
        ],
        columns=["method", "task", "n", "rep", "what", "value", "low", "high", "truth"],
    )
    table = summary.summarise(rows).loc[("mean", 50, "calibrant")]
    assert table["coverage"] == 0.0
    assert table["width ratio"] == pytest.approx(0.25)
    assert table["error ratio"] == pytest.approx(0.5)
