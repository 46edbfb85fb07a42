import numpy as np
import pytest

from calibrant import ABB, simulate
from calibrant.calibrators.published.printed_abb import PrintedABB
from calibrant.errors import InvalidInputError


def test_the_printed_average_is_close_to_the_exact_one_and_not_equal():
    data = simulate.bayes_iso(600, rng=0)
    exact, printed = (method(lam=8.0).fit(data.scores, data.labels) for method in (ABB, PrintedABB))
    difference = np.abs(exact.predict(data.scores) - printed.predict(data.scores))
    assert 1e-6 < difference.mean() < 0.05
    assert printed.evidence_ == exact.evidence_


def test_the_cache_is_the_map_at_the_centres_of_equal_cells():
    data = simulate.bayes_iso(300, rng=0)
    exact = ABB().fit(data.scores, data.labels)
    cached = PrintedABB(averaging="sum", n_cache=10).fit(data.scores, data.labels)
    np.testing.assert_array_equal(cached.predict([0.31, 0.39, 0.4]), np.repeat(exact.predict([0.35]), 3))
    with pytest.raises(InvalidInputError, match="n_cache"):
        PrintedABB(n_cache=10).fit([-3.0, 5.0], [0, 1])
