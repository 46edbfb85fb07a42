"""What every method of the registry refuses, and how the message reads."""

import numpy as np
import pytest
from scipy import sparse

from calibrant import Tally
from calibrant.calibrators import registry
from calibrant.errors import InvalidInputError, NotFittedError

SCORES, LABELS = np.array([0.1, 0.4, 0.35, 0.8, 0.7, 0.2]), np.array([0, 0, 1, 1, 1, 0])


@pytest.fixture(params=list(registry.METHODS["score"]))
def name(request):
    return request.param


def spoiled(values, bad, index=2):
    out = np.array(values, dtype=object if bad is None else float)
    out[index] = bad
    return out


BAD_FITS = {
    "NaN score": ({"scores": spoiled(SCORES, np.nan)}, "`scores` must be finite; got NaN at index 2"),
    "infinite score": ({"scores": spoiled(SCORES, np.inf)}, "`scores` must be finite; got inf at index 2"),
    "missing score": ({"scores": spoiled(SCORES, None)}, "`scores`"),
    "text scores": ({"scores": list("abcdef")}, "`scores` must be numbers"),
    "complex scores": ({"scores": SCORES * 1j}, "Complex data not supported: `scores`"),
    "sparse scores": ({"scores": sparse.csr_array(SCORES[:, None])}, "`scores` must be a dense array"),
    "cube of scores": ({"scores": SCORES.reshape(1, 2, 3)}, "`scores`"),
    "scalar score": ({"scores": 0.5}, "`scores`"),
    "rows that do not sum to 1": ({"scores": np.column_stack((SCORES, SCORES))}, "`scores`.*sum to 1"),
    "NaN label": ({"y": spoiled(LABELS, np.nan)}, "`y` must be finite"),
    "missing label": ({"y": spoiled(LABELS, None)}, "`y` must have no missing labels; got None at index 2"),
    "three classes": ({"y": [0, 1, 2, 0, 1, 2]}, "`y` must have two classes; got 3"),
    "three words": ({"y": list("abcabc")}, "`y` must have two classes; got 3"),
    "mixed labels": ({"y": np.array([0, "a", 1, "a", 0, 1], dtype=object)}, "`y` must hold labels of one type"),
    "table of labels": ({"y": np.zeros((6, 2))}, "`y` must have shape"),
    "too few labels": ({"y": LABELS[:4]}, "`y` must have as many rows"),
    "no labels": ({"y": None}, "requires y to be passed"),
    "nothing": ({"scores": [], "y": []}, "`scores` must have at least one row"),
    "negative weight": ({"sample_weight": spoiled(np.ones(6), -1.0)}, "`sample_weight` must not be negative"),
    "NaN weight": ({"sample_weight": spoiled(np.ones(6), np.nan)}, "`sample_weight` must be finite; got NaN"),
    "infinite weight": ({"sample_weight": spoiled(np.ones(6), np.inf)}, "`sample_weight` must be finite; got inf"),
    "all weights zero": ({"sample_weight": np.zeros(6)}, "`sample_weight` must have a positive entry"),
    "too few weights": ({"sample_weight": np.ones(5)}, "`sample_weight` must have as many rows"),
    "table of weights": ({"sample_weight": np.ones((6, 2))}, "`sample_weight` has shape"),
}


@pytest.mark.parametrize("case", list(BAD_FITS))
def test_fit_refuses(name, case):
    change, message = BAD_FITS[case]
    calibrator = registry.create(name)
    with pytest.raises(InvalidInputError, match=message):
        calibrator.fit(**({"scores": SCORES, "y": LABELS} | change))
    assert not hasattr(calibrator, "map_")


def test_fit_refuses_three_columns(name):
    with pytest.raises(InvalidInputError, match=r"`scores`|`y`"):
        registry.create(name).fit(np.ones((6, 3)), LABELS)


def test_fit_tally_refuses_the_empty_tally(name):
    with pytest.raises(InvalidInputError, match="the tally is empty"):
        registry.create(name).fit_tally(Tally.empty())


OUTSIDE = [-0.1, 1.0 + 1e-9, 17.0]
OF_PROBABILITIES = [name for name in registry.METHODS["score"] if registry.create(name).space == "probability"]


@pytest.mark.parametrize("outside", OUTSIDE)
@pytest.mark.parametrize("name", sorted(set(registry.METHODS["score"]) - set(OF_PROBABILITIES)))
def test_other_methods_take_any_finite_score(name, outside):
    registry.create(name).fit(spoiled(SCORES, outside), LABELS)


@pytest.mark.parametrize("outside", OUTSIDE)
@pytest.mark.parametrize("name", OF_PROBABILITIES)
def test_probability_methods_refuse_other_scores(name, outside):
    calibrator = registry.create(name)
    message = r"needs probabilities: `scores` must lie in \[0, 1\]; got [-0-9.e]+ at index \d"
    with pytest.raises(InvalidInputError, match=message):
        calibrator.fit(spoiled(SCORES, outside), LABELS)
    calibrator.fit(SCORES, LABELS)
    with pytest.raises(InvalidInputError, match=message):
        calibrator.predict([outside])


PREDICTING = [
    (name, method)
    for name in registry.METHODS["score"]
    for method in ("predict", "predict_proba", "predict_interval", "sample_maps")
    if hasattr(registry.get(name), method)
]


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([0.5, np.nan], "`scores` must be finite; got NaN at index 1"),
        ([0.5, -np.inf], "`scores` must be finite; got -inf at index 1"),
        (["a"], "`scores` must be numbers"),
        (np.ones((2, 3)), "`scores` must have shape"),
    ],
)
def test_predict_refuses(name, scores, message):
    calibrator = registry.create(name).fit(SCORES, LABELS)
    for _, method in (pair for pair in PREDICTING if pair[0] == name):
        with pytest.raises(InvalidInputError, match=message):
            getattr(calibrator, method)(scores)


@pytest.mark.parametrize(("name", "method"), PREDICTING)
def test_an_unfitted_calibrator_says_so(name, method):
    with pytest.raises(NotFittedError, match=r"is not fitted yet; call `fit`"):
        getattr(registry.create(name), method)(SCORES)


def test_an_unfitted_calibrator_is_not_saved(name, tmp_path):
    with pytest.raises(NotFittedError, match=r"is not fitted yet; call `fit`"):
        registry.create(name).save(tmp_path / "map.json")
    assert not (tmp_path / "map.json").exists()
