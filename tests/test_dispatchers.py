"""Every keyword of a function that hands its work on reaches its target, or is refused in a sentence.

A function is called once plainly and once with another value of each keyword; the answer must change, or
`InvalidInputError` be raised. Add a line to `DISPATCHERS` for every such function.
"""

import inspect
import warnings

import numpy as np
import pytest

import calibrant
from calibrant import metrics
from calibrant.errors import InvalidInputError

RNG = np.random.default_rng(0)
N = 150
SCORES = RNG.random(N)
LABELS = (RNG.random(N) < SCORES**2).astype(int)
MATRIX = RNG.dirichlet(np.ones(3), N)
CLASSES = (MATRIX.cumsum(axis=1) < RNG.random((N, 1))).sum(axis=1)
WEIGHTS, GROUPS = RNG.integers(1, 4, N), np.arange(N) // 5

SEEN = []  # what `progress` was told


def spread(y_true, y_prob):
    return float(np.std(y_prob))


COMPARE = {
    "sample_weight": WEIGHTS,
    "pos_label": 0,
    "methods": ["temperature"],
    "space": "decision",
    "cv": 3,
    "repeats": 2,
    "groups": GROUPS,
    "level": 0.5,
    "rng": 1,
    "progress": SEEN.append,
    "time": np.arange(N) // 25,
}
EVALUATE = {
    "metrics": ["log_loss", spread],
    "level": 0.5,
    "n_resamples": 7,
    "groups": GROUPS,
    "rng": 1,
    "sample_weight": WEIGHTS,
    "pos_label": 0,
}
SCORE = {"sample_weight": WEIGHTS, "pos_label": 0}

# Name: the function, its data, and another value of each of its keywords.
DISPATCHERS = {
    "compare one score": (calibrant.compare, (SCORES, LABELS), {"methods": ["platt"]}, COMPARE),
    "compare a matrix": (calibrant.compare, (MATRIX, CLASSES), {"methods": ["vector_scaling"]}, COMPARE),
    "evaluate one score": (calibrant.evaluate, (LABELS, SCORES), {"n_resamples": 5}, EVALUATE),
    "evaluate a matrix": (calibrant.evaluate, (CLASSES, MATRIX), {"n_resamples": 5}, EVALUATE),
    "log-loss of one score": (metrics.log_loss, (LABELS, SCORES), {}, SCORE),
    "log-loss of a matrix": (metrics.log_loss, (CLASSES, MATRIX), {}, SCORE),
    "Brier score of one score": (metrics.brier_score, (LABELS, SCORES), {}, SCORE),
    "Brier score of a matrix": (metrics.brier_score, (CLASSES, MATRIX), {}, SCORE),
}
CASES = [(name, keyword) for name, (_, _, _, others) in DISPATCHERS.items() for keyword in others]


def without_times(answer):
    """The answer as plain values, without what a clock says."""
    plain = answer.to_dict() if hasattr(answer, "to_dict") else answer
    if isinstance(plain, dict):
        return {key: without_times(value) for key, value in plain.items() if key != "seconds"}
    return [without_times(value) for value in plain] if isinstance(plain, list | tuple) else plain


@pytest.mark.parametrize("name", DISPATCHERS)
def test_every_keyword_has_another_value_here(name):
    function, _, _, others = DISPATCHERS[name]
    keywords = [p.name for p in inspect.signature(function).parameters.values() if p.kind is p.KEYWORD_ONLY]
    assert set(keywords) == set(others)


@pytest.mark.parametrize(("name", "keyword"), CASES, ids=[f"{name}: {keyword}" for name, keyword in CASES])
def test_every_keyword_reaches_its_target_or_is_refused(name, keyword):
    function, data, quick, others = DISPATCHERS[name]
    SEEN.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = without_times(function(*data, **quick))
        try:
            other = without_times(function(*data, **(quick | {keyword: others[keyword]})))
        except InvalidInputError as error:
            other = str(error)
    refused = isinstance(other, str)
    assert f"`{keyword}`" in other if refused else other != plain or (keyword == "progress" and len(SEEN) == 2)
