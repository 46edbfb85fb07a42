"""Optimism against R's rms::validate, a calculation by hand and a simulated truth."""

import csv
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

import calibrant
from calibrant._numerics import links
from calibrant.classifier.internal_validation import _Modelling, _weigh
from calibrant.errors import InvalidInputError
from calibrant.metrics import calibration_slope, validation_summary

DATA = Path(__file__).parents[1] / "data" / "internal_validation"
PLAIN = LogisticRegression(C=1e8, max_iter=1000)


def table(name):
    rows = np.loadtxt(DATA / f"{name}.csv", delimiter=",", skiprows=1)
    return rows[:, 1:], rows[:, 0]


def simulated(n, seed, d=8):
    rng = np.random.default_rng(seed)
    X = rng.normal(0, 1, (n, d))
    return X, rng.random(n) < links.expit(X[:, 0] - 0.5 * X[:, 1] - 0.6)


@pytest.mark.parametrize("name", ["simulated", "breast"])
def test_agrees_with_rms(name):
    with (DATA / "figures.csv").open(encoding="utf-8") as file:
        theirs = {row["measure"]: row for row in csv.DictReader(file) if row["data"] == name}
    found = calibrant.validate(PLAIN, *table(name), n_resamples=100, rng=1)
    # Dxy is 2 AUC − 1.
    for ours, own, scale in (("auc", "Dxy", 2.0), ("slope", "Slope", 1.0), ("brier_score", "B", 1.0)):
        noise = 4.0 * scale * found.columns["noise"][ours]
        assert scale * found.columns["optimism"][ours] == pytest.approx(float(theirs[own]["optimism"]), abs=noise)
        assert noise < 0.1
    assert found.columns["apparent"]["slope"] == pytest.approx(1.0, abs=1e-3)
    assert found.columns["apparent"]["brier_score"] == pytest.approx(float(theirs["B"]["index.orig"]), abs=1e-5)


def test_632_plus_by_hand():
    # R = .4 / .5 = .8, so the weight of rows not drawn is .632 / (1 − .368 · .8) = .89579.
    found = _weigh(np.array([0.0, 0.2, 1.0]), np.array([0.4, 0.9, 1.1]), np.array([0.5, 0.5, 0.0]))
    assert found[0] == pytest.approx(0.4 * 0.632 / (1 - 0.368 * 0.8))
    assert found[1] == pytest.approx(0.5)  # worse than no information counts as none
    assert found[2] == pytest.approx(0.368 * 1.0 + 0.632 * 1.1)  # better than apparent: no overfitting


class Published(LogisticRegression):
    """A model that learns nothing from its rows."""

    def fit(self, _, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        p = links.expit(X[:, 0] - 0.6)
        return np.column_stack((1 - p, p))


def test_what_learns_nothing_has_no_optimism():
    X, y = simulated(300, 0)
    found = calibrant.validate(Published(), X, y, n_resamples=100, thresholds=[0.3])
    own = validation_summary(y, Published().fit(X, y).predict_proba(X)[:, 1], thresholds=[0.3])
    for name in ("observed_expected", "slope", "auc", "brier_score", "net_benefit_0.3"):
        assert found[name].width == pytest.approx(own[name].width, rel=0.3)  # 100 replicates vary by 0.07
    for name, optimism in found.columns["optimism"].items():
        if name not in ("ici", "e50", "e90", "emax"):  # a replicate has their noise twice
            assert abs(optimism) < 4 * found.columns["noise"][name]
    crossed = calibrant.validate(Published(), X, y, method="cross_validation", n_resamples=3)
    assert crossed["slope"].value == pytest.approx(crossed.columns["apparent"]["slope"])
    assert crossed["auc"].value == pytest.approx(roc_auc_score(y, X[:, 0]))


def test_corrected_measures_are_those_of_new_rows():
    others, outcomes = simulated(20_000, 10**6)
    numbers = {"bootstrap": 15, "632+": 15, "cross_validation": 2}
    off = []
    for seed in range(5):
        X, y = simulated(200, seed)
        truth = roc_auc_score(outcomes, PLAIN.fit(X, y).predict_proba(others)[:, 1])
        found = [calibrant.validate(PLAIN, X, y, method=method, n_resamples=n) for method, n in numbers.items()]
        off.append([one["auc"].value - truth for one in found])
    assert (np.abs(np.mean(off, axis=0)) < 0.04).all()


class Spy(LogisticRegression):
    seen: ClassVar[list] = []

    def fit(self, X, y):
        self.units_ = X[:, 0]
        return super().fit(X[:, 1:], y)

    def predict_proba(self, X):
        self.seen.append((self.units_, X[:, 0]))
        return super().predict_proba(X[:, 1:])


@pytest.mark.parametrize("method", ["bootstrap", "cross_validation"])
def test_groups_are_kept_together(method):
    X, y = simulated(200, 3)
    unit = np.arange(200) % 40
    Spy.seen.clear()
    found = calibrant.validate(Spy(), np.column_stack((unit, X)), y, method=method, n_resamples=2, cv=5, groups=unit)
    assert found.remarks == ("Rows are in 40 groups, which are kept together.",)
    folds = [train for train, _ in Spy.seen[1:] if len(train) < 200]
    assert len(folds) == (10 if method == "cross_validation" else 0)
    assert all((np.unique(train, return_counts=True)[1] == 5).all() for train in folds)
    drawn = [train for train, _ in Spy.seen[1:] if len(train) == 200]
    assert len(drawn) == 2
    assert all((np.unique(train, return_counts=True)[1] % 5 == 0).all() for train in drawn)


def test_folds_have_equally_many_cases():
    X, y = simulated(200, 3)
    Spy.seen.clear()
    row = np.arange(200)
    calibrant.validate(Spy(), np.column_stack((row, X)), y, method="cross_validation", n_resamples=2, cv=5)
    cases = [y[train.astype(int)].sum() for train, _ in Spy.seen if len(train) < 200]
    assert len(cases) == 10
    assert max(cases) - min(cases) <= 1


def test_folds_take_back_what_fewer_rows_cost():
    X, y = simulated(200, 3)
    Spy.seen.clear()
    columns = np.column_stack((np.arange(200), X))
    found = calibrant.validate(Spy(), columns, y, method="cross_validation", n_resamples=2, cv=4)
    optimism = []
    for one in (slice(0, 4), slice(4, 8)):
        left_out, of_all = np.empty(200), []
        for train in [train.astype(int) for train, _ in Spy.seen if len(train) < 200][one]:
            p = LogisticRegression().fit(X[train], y[train]).predict_proba(X)[:, 1]
            of_all.append(calibration_slope(y, p).slope.value)
            others = np.setdiff1d(np.arange(200), train)
            left_out[others] = p[others]
        optimism.append(np.mean(of_all) - calibration_slope(y, left_out).slope.value)
    assert found.columns["optimism"]["slope"] == pytest.approx(np.mean(optimism), abs=1e-6)


@pytest.mark.parametrize(
    ("method", "names", "n_resamples"),
    [("bootstrap", ("slope", "auc", "ici"), 15), ("632+", ("auc", "ici"), 15), ("cross_validation", ("auc", "ici"), 5)],
)
def test_intervals_hold_the_measures_of_the_fitted_model(method, names, n_resamples):
    others, outcomes = simulated(20_000, 10**6)
    held = dict.fromkeys(names, 0)
    for seed in range(20):
        X, y = simulated(200, 100 + seed)
        truth = validation_summary(outcomes, PLAIN.fit(X, y).predict_proba(others)[:, 1], n_resamples=2)
        found = calibrant.validate(PLAIN, X, y, method=method, n_resamples=n_resamples, cv=5)
        for name in held:
            held[name] += found[name].low <= truth[name].value <= found[name].high
    assert min(held.values()) >= 14  # 18 are expected of 90 % intervals


def test_errors_by_folds_are_those_of_their_mean_curve():
    X, y = simulated(150, 2)
    found = calibrant.validate(PLAIN, X, y, method="cross_validation", n_resamples=3)
    gaps = np.abs(found.curve["corrected"] - found.curve["score"])
    assert found["emax"].value == pytest.approx(gaps.max())
    assert found["ici"].value == pytest.approx(gaps.mean())


def test_errors_of_rows_not_drawn_are_those_of_their_mean_curve():
    names = ["slope", "ici", "e50", "e90", "emax"]
    modelling = _Modelling(PLAIN, None, None, None, np.empty(0), np.array([0.1, 0.3, 0.5, 0.7]))
    found = modelling.smooth(np.array([0.8, 9.0, 9.0, 9.0, 9.0, 0.2, 0.4, 0.4, 0.4]), names)
    # The curve is off by .1, .1, .1 and .3.
    assert found == pytest.approx([0.8, 0.15, 0.1, 0.24, 0.3, 0.2, 0.4, 0.4, 0.4])


def test_tells_its_progress():
    told = []
    calibrant.validate(PLAIN, *simulated(150, 1), n_resamples=40, progress=told.append)
    assert (len(told), told[0], told[-1]) == (20, "2 of 40 replicates", "40 of 40 replicates")


def test_does_not_depend_on_the_number_of_processes():
    X, y = simulated(150, 1)
    with parallel_config(backend="threading"):
        one, two = (calibrant.validate(PLAIN, X, y, n_resamples=4, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert one == two


def test_reads_as_a_table():
    X, y = simulated(150, 1)
    found = calibrant.validate(PLAIN, X, np.where(y, "ill", "well"), pos_label="ill", n_resamples=10, level=0.95)
    slope, optimism = found["slope"], found.columns["optimism"]["slope"]
    assert slope.value == found.columns["apparent"]["slope"] - optimism
    lines = str(found).splitlines()
    assert "corrected for optimism by 10 bootstrap replicates of the modelling; 95 % intervals" in lines[0]
    assert f"{optimism:.2f}" in next(line for line in lines if line.startswith("  Slope"))
    assert found.to_frame().columns.tolist()[-3:] == ["apparent", "optimism", "noise"]
    assert set(found.curve) == {"score", "apparent", "corrected"}
    assert np.abs(found.curve["corrected"] - found.curve["score"]).mean() < 0.2
    assert repr(found).startswith("ValidationSummary(150 rows")


def test_refuses_what_cannot_be_validated():
    X, y = simulated(50, 1)
    with pytest.raises(InvalidInputError, match="`method`"):
        calibrant.validate(PLAIN, X, y, method="jackknife")
    with pytest.raises(InvalidInputError, match="`y`"):
        calibrant.validate(PLAIN, X, y[:-1])
    with pytest.raises(InvalidInputError, match="slope needs classes that overlap"):
        calibrant.validate(PLAIN, np.column_stack((y, X[:, 0])), y)


def test_replicates_without_a_slope_are_counted():
    X, y = simulated(30, 1, d=4)
    found = calibrant.validate(PLAIN, X, y, n_resamples=30)
    assert found.remarks[0].endswith("of 30 replicates had no calibration slope and were left out.")
