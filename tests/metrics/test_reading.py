import inspect
import pickle

import numpy as np
import pytest

from calibrant import Tally, adjust, decisions, metrics
from calibrant.errors import InvalidInputError
from calibrant.metrics.samples import read_sample

RNG = np.random.default_rng(0)
P = RNG.random(200)
Y = np.where(RNG.random(200) < P**2, "yes", "no")
W = RNG.integers(1, 4, 200).astype(float)
GROUPS = np.arange(200) // 5


def test_rows_tally_and_repeated_rows_are_one():
    rows = metrics.expected_calibration_error(Y, P, n_bins=5, sample_weight=W, pos_label="yes")
    repeated = metrics.expected_calibration_error(
        y_true=np.repeat(Y == "yes", W.astype(int)), y_prob=np.repeat(P, W.astype(int)), n_bins=5
    )
    tally = Tally.from_arrays(P, Y, W, pos_label="yes")
    assert rows == pytest.approx(repeated, rel=1e-12)
    assert rows == metrics.expected_calibration_error(tally, n_bins=5)
    assert rows != pytest.approx(metrics.expected_calibration_error(Y, P, n_bins=5, pos_label="yes"))


def test_groups_reach_the_sample():
    plain = metrics.calibration_slope(Y, P, pos_label="yes")
    grouped = metrics.calibration_slope(Y, P, groups=GROUPS, pos_label="yes")
    assert grouped.slope.value == plain.slope.value
    assert grouped.slope.width != plain.slope.width
    assert grouped == metrics.calibration_slope(read_sample(Y, P, None, "yes", GROUPS))


@pytest.mark.parametrize(
    ("measure", "names"),
    [
        (metrics.ks_calibration_error, ["sample_weight", "pos_label"]),
        (metrics.tce_bpm, ["p", "sample_weight", "pos_label"]),
        (metrics.kuiper_test, ["rng", "sample_weight", "pos_label", "groups"]),
        (metrics.full_calibration_test, ["n_simulations", "rng", "sample_weight"]),
        (decisions.net_benefit, ["thresholds", "sample_weight", "pos_label"]),
        (adjust.choose_update, ["largest", "alpha", "sample_weight", "pos_label", "groups"]),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_the_signature_says_what_can_be_passed(measure, names):
    parameters = inspect.signature(measure).parameters
    assert list(parameters) == ["y_true", "y_prob", *names]
    assert [name for name, one in parameters.items() if one.kind is one.KEYWORD_ONLY] == names
    assert measure.__module__.startswith("calibrant.")
    assert pickle.loads(pickle.dumps(measure)) is measure


def test_what_is_not_in_it_is_refused_by_the_name_of_the_measure():
    with pytest.raises(TypeError, match=r"ks_calibration_error.*'groups'"):
        metrics.ks_calibration_error(Y == "yes", P, groups=GROUPS)
    with pytest.raises(TypeError, match="positional"):
        metrics.ks_calibration_error(Y == "yes", P, W)
    with pytest.raises(InvalidInputError, match="A tally holds all"):
        metrics.ks_calibration_error(Tally.from_arrays(P, Y == "yes"), P)
