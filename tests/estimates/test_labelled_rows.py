import numpy as np
import pytest

from calibrant import BayesIso, Tally
from calibrant.estimates.rows import LabelledRows, count_labels, count_scores, labelled_rows, outside


def test_the_range_is_that_of_the_rows_not_of_their_cells():
    rng = np.random.default_rng(0)
    scores = rng.random(5000)
    rows = LabelledRows.of(Tally.from_arrays(scores, scores > 0.5))
    assert (rows.low, rows.high) == (scores.min(), scores.max())
    assert len(rows.cells) <= 512


@pytest.mark.parametrize(("n_labelled", "share", "warns"), [(50, 0.05, False), (50, 0.2, True), (1000, 0.02, True)])
def test_a_warning_comes_where_chance_does_not_explain_the_share(n_labelled, share, warns):
    scores = np.linspace(0.2, 0.8, n_labelled)
    rows = LabelledRows.of(Tally.from_arrays(scores, scores > 0.5))
    assert bool(rows.warn_of(share)) == warns


def test_chance_leaves_rows_outside_without_a_warning():
    """Labelled and unlabelled rows of one kind: one warning in a hundred."""
    rng = np.random.default_rng(1)
    warned = 0
    for _ in range(300):
        scores = rng.random(60)
        rows = LabelledRows.of(Tally.from_arrays(scores, scores > 0.5))
        warned += bool(rows.warn_of(rows.share_outside(count_scores(rng.random(2000)))))
    assert warned <= 12


def test_models_without_memory_have_no_share():
    assert labelled_rows(object()) is None
    assert outside(object(), count_scores([0.5])) == (None, "")


def test_all_rows_outside_are_a_hundred_per_cent():
    rows = LabelledRows.of(Tally.from_arrays([0.4, 0.6], [0, 1]))
    assert rows.warn_of(1.0).startswith("100 % of the rows")


def test_counting_few_labels_stays_a_share():
    for labels in ([0, 0, 1], [1, 1, 1]):
        counted = count_labels(BayesIso().fit([0.2, 0.5, 0.8], labels), 0.9, 1.0)
        assert 0.0 <= counted.low <= counted.value <= counted.high <= 1.0
