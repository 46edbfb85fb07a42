"""Blend, compare, evaluate and the report judge the same rows by one verdict, and fit each method once."""

from collections import Counter

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from calibrant import Blend, Tally, compare, evaluate, simulate
from calibrant.calibrators import registry
from calibrant.calibrators.base import Calibrator
from calibrant.report.data import make_report_data
from calibrant.report.verdict import answer, next_steps

METHODS = ["platt", "isotonic", "spline", "blend"]
SETS = {"cancer": load_breast_cancer, "digits": load_digits}
MODELS = {
    "bayes": GaussianNB(),
    "line": LogisticRegression(C=1e-4, max_iter=5000),
    "tree": DecisionTreeClassifier(min_samples_leaf=5, random_state=0),
}
# A gain that folds and rows left out find to be positive, at the edge of what 100 rows can show.
BORDERLINE = {"underconfident 100"}
TRUTHS = ("D1", "underconfident", "asymmetric", "wave")


def simulated(name, rows):
    if name == "calibrated":
        return simulate.binomial_process(rows, lambda s: s, (1.0, 1.0), rng=rows).tally
    return simulate.from_truth(name, rows, rng=rows).tally


def trained(data, model):
    X, y = SETS[data](return_X_y=True)
    y = y > np.median(y) if len(np.unique(y)) > 2 else y
    X, y = (X[::3], y[::3]) if data == "digits" else (X, y)
    scores = cross_val_predict(MODELS[model], X, y, cv=5, method="predict_proba")[:, 1]
    return Tally.from_arrays(scores, y)


TABLES = {f"{name} {rows}": (simulated, name, rows) for name in (*TRUTHS, "calibrated") for rows in (100, 600)}
TABLES |= {f"{data} {model}": (trained, data, model) for data in SETS for model in MODELS}


@pytest.mark.parametrize("name", TABLES)
def test_all_places_draw_the_same_conclusion(name):
    make, *arguments = TABLES[name]
    tally = make(*arguments)
    table = compare(tally, methods=METHODS)
    data = make_report_data(tally, comparison=table)
    verdict = table.verdict
    # The recommendation follows from the verdict, and the page says what was recommended.
    assert (table.recommended != "identity") is verdict.calibrate
    assert data.verdict.state == verdict.state
    assert data.calibrate is verdict.calibrate
    assert not verdict.calibrate or data.name == table.recommended
    assert next_steps(data)[0].startswith("Calibrat") is verdict.calibrate
    assert (answer(data).tone in ("bad", "fair")) is (verdict.strength > 0)
    # Without a fit there is the test alone: it is the same test, and its conclusion the part that it can see.
    alone = evaluate(tally, n_resamples=2).verdict
    assert alone.p_value == verdict.p_value
    assert (alone.state == "miscalibrated") is verdict.rejected
    # Blend knows its gain on rows left out without refits: another estimate of what the folds of a comparison measure.
    blend = table.fit("blend")
    assert isinstance(blend, Blend)
    needed = blend._verdict().calibrate
    assert blend.summary().startswith("Calibration was needed") is needed
    if name in BORDERLINE:
        gains = (blend._verdict().gain, -table["blend"].log_loss_difference)
        assert all(gain.low < 0.01 and gain.high > 0.0 for gain in gains)
    else:
        assert needed is verdict.calibrate


def count_fits(monkeypatch):
    """Count the fits of each class from here on, those inside of other methods among them."""
    fits = Counter()
    plain = Calibrator.fit_tally

    def counted(self, tally):
        fits[type(self).__name__] += 1
        return plain(self, tally)

    monkeypatch.setattr(Calibrator, "fit_tally", counted)
    return fits


def test_a_whole_report_fits_every_method_once(monkeypatch, tally):
    names = [name for name in registry.METHODS["score"] if name != "identity"]
    fits = count_fits(monkeypatch)
    data = make_report_data(tally)
    shown, inside_others = (
        type(data.calibrator).__name__,
        {
            "SplineCalibration",
            "BayesianTemperature",
            "BayesIso",
            "ABB",
            "TemperatureScaling",
        },
    )
    for cls in (registry.get(name).__name__ for name in names):
        # Five folds, and all rows for the method shown; the members of Blend, and that of ETS, in each of its fits.
        expected = 5 + (cls == shown) + 5 * (cls in inside_others)
        # The judge of the probabilities before and after.
        expected += 2 * (cls == "SplineCalibration")
        # Blend runs Bayes-Iso again, with full chains, where that turns out to have weight.
        again = 7 if cls == "BayesIso" else 2 * (cls in inside_others)
        assert expected <= fits[cls] <= expected + again, cls


def test_a_given_comparison_is_not_fitted_again(monkeypatch, tally):
    table = compare(tally, methods=["platt", "isotonic", "spline"])
    fits = count_fits(monkeypatch)
    make_report_data(tally, comparison=table, method="platt")
    assert fits == {"PlattScaling": 1, "SplineCalibration": 2}
    make_report_data(tally, comparison=table, method="platt")
    assert fits == {"PlattScaling": 1, "SplineCalibration": 4}
