import numpy as np
import pytest

from calibrant import Tally
from calibrant.estimates.rows import LabelledRows, count_scores, labelled_rows, outside


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
