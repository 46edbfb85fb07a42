import numpy as np
import pytest

from calibrant import ABB, CalibrationMap, simulate
from calibrant.errors import InvalidInputError
from calibrant.export.case_tree import MOST_PIECES, _pieces, thin
from calibrant.maps.functions import Chain, Linear, LogitLinear, Sigmoid, Step

GRID = np.linspace(0.0, 1.0, 5001)


def test_a_short_map_stays_as_it_is():
    map_ = CalibrationMap(Linear([0.0, 1.0], [0.2, 0.6]), "probability", True)
    assert thin(map_) == (map_, 0.0)


X, Z = np.linspace(0.0, 1.0, 3001), np.linspace(-10.0, 10.0, 3001)
LONG = {
    "linear": Linear(X, X**3),
    "logit_linear": LogitLinear(Z, Z + np.sin(Z), 0.0, 0.0),
    "step": Step(X[1:-1], (X**2)[1:]),
    "chain": Chain((Sigmoid(2.0, -1.0, "identity"), LogitLinear(Z, 0.5 * Z, 0.0, 0.0))),
}


@pytest.mark.parametrize("name", LONG)
def test_a_long_map_is_shortened_within_the_distance_that_is_told(name):
    map_ = CalibrationMap(LONG[name], "decision" if name == "chain" else "probability", True)
    short, off = thin(map_)
    assert _pieces(short.function) <= MOST_PIECES < _pieces(map_.function)
    assert np.abs(short(GRID) - map_(GRID)).max() <= off + 1e-9
    assert off < 5e-3
    assert np.diff(short(GRID)).min() >= 0.0


def test_the_map_of_a_bayesian_method():
    data = simulate.bayes_iso(3000, rng=0)
    map_ = ABB().fit(data.scores, data.labels).map_
    short, off = thin(map_)
    assert _pieces(short.function) <= MOST_PIECES
    assert np.abs(short(GRID) - map_(GRID)).max() <= off + 1e-6


def test_what_no_few_pieces_can_tell_is_refused():
    wild = np.random.default_rng(0).random(2000)
    with pytest.raises(InvalidInputError, match="has 2000 pieces"):
        thin(CalibrationMap(Step(np.arange(1999.0), wild)))
