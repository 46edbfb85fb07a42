import numpy as np
import pytest

from calibrant import Tally, simulate
from calibrant.errors import InvalidInputError
from calibrant.metrics.skill import brier_skill_score


def test_by_hand():
    # Brier (.01 + .04 + .09 + .04) / 4 = .045; always saying 1/4 gives 3/16.
    assert brier_skill_score([0, 0, 0, 1], [0.1, 0.2, 0.3, 0.8]) == pytest.approx(1 - 0.045 / 0.1875)


def test_references_of_every_kind():
    data = simulate.from_truth("D1", 400)
    loss = np.mean((data.labels - data.scores) ** 2)
    assert brier_skill_score(data.tally, reference=0.3) == pytest.approx(1 - loss / np.mean((data.labels - 0.3) ** 2))
    other = data.scores**2
    expected = 1 - loss / np.mean((data.labels - other) ** 2)
    assert brier_skill_score(data.labels, data.scores, reference=other) == pytest.approx(expected)
    assert brier_skill_score(data.labels, data.scores, reference=data.scores) == 0.0


def test_weights_reach_the_reference():
    weights, y = np.array([2, 1, 3]), np.array([0, 1, 1])
    p, other = np.array([0.2, 0.6, 0.7]), np.array([0.5, 0.4, 0.9])
    many_y, many_p, many_other = (np.repeat(column, weights) for column in (y, p, other))
    repeated = brier_skill_score(many_y, many_p, reference=many_other)
    assert brier_skill_score(y, p, reference=other, sample_weight=weights) == pytest.approx(repeated)


def test_refuses_references_without_error_or_rows():
    with pytest.raises(InvalidInputError, match="make some error"):
        brier_skill_score([1, 1], [0.5, 0.6])
    with pytest.raises(InvalidInputError, match="one number"):
        brier_skill_score(Tally.from_arrays([0.1, 0.9], [0, 1]), reference=[0.1, 0.9])
    with pytest.raises(InvalidInputError, match=r"\[0, 1\]"):
        brier_skill_score([0, 1], [0.5, 0.6], reference=1.5)
