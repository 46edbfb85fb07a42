import numpy as np
from sklearn.metrics import log_loss

from calibrant import Tally, compare
from calibrant.report.data import ClassPredictions, make_report_data
from calibrant.report.part_sections import class_sections


def draw(n_classes, n=240):
    rng = np.random.default_rng(n_classes)
    after = rng.dirichlet(np.ones(n_classes), n)
    labels = (after.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1).clip(max=n_classes - 1)
    before = after**2 / (after**2).sum(axis=1, keepdims=True)
    return ClassPredictions(tuple(f"class {k}" for k in range(n_classes)), labels, np.ones(n), before, after)


def test_the_sections_say_what_the_measures_say():
    rows = draw(3)
    whole, each = class_sections(rows)
    loss = log_loss(rows.labels, rows.before)
    assert f"the log-loss from {loss:.4f} to" in whole.sentences[0]
    assert whole.tables[0].rows[0][0] == "Log-loss"
    assert whole.tables[0].rows[0][1].text.startswith(f"{loss:.3f}"[:4])
    assert len(each.figures) == len(each.tables[0].rows) == 3
    gaps = [float(row[5].split()[0]) for row in each.tables[0].rows]
    assert gaps == sorted(gaps, reverse=True)
    assert each.tables[0].rows[0][0] == each.figures[0].caption.partition(":")[0]
    assert not each.tables[0].folded
    assert (rows.predicted == rows.after.argmax(axis=1)).all()
    assert "changes the predicted class in 0 %" in whole.sentences[1]
    assert any(row[0] == "Accuracy" for row in whole.tables[0].rows)


def test_many_classes_show_the_worst():
    _, each = class_sections(draw(25, 120))
    assert len(each.figures) == 12
    assert "furthest off" in each.sentences[0]
    assert each.tables[0].folded
    assert len(each.tables[0].rows) == 25


def test_the_rows_of_a_comparison(class_rows, class_comparison):
    scores, y = class_rows
    rows = make_report_data(scores, y, comparison=class_comparison, method="temperature").classes
    assert rows.names == ("ant", "bee", "cow")
    np.testing.assert_allclose(rows.before, scores, rtol=1e-12)
    np.testing.assert_array_equal(rows.predicted, scores.argmax(axis=1))
    np.testing.assert_array_equal(np.array(rows.names)[rows.labels], y)
    np.testing.assert_array_equal(rows.after, class_comparison.fits["temperature"].out_of_fold.probabilities)
    assert rows.tally(1, "before") == Tally.from_arrays(rows.before[:, 1], y == "bee")
    named = make_report_data(scores, y, comparison=class_comparison, classes=[1, 2, 3])
    assert named.classes.names == ("1", "2", "3")


def test_repeats_are_shown_once(class_rows):
    scores, y = (part[:60] for part in class_rows)
    comparison = compare(scores, y, methods=["temperature"], repeats=3, sample_weight=np.arange(60) % 3)
    rows = make_report_data(scores, y, comparison=comparison, method="temperature").classes
    assert rows.after.shape == (40, 3)
    assert rows.weights.sum() == 60.0
