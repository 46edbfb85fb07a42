"""Several scores per row: what the fit promises, against refits and against Blend."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import calibrant
from calibrant import Blend, PanelCalibrator
from calibrant.calibrators import registry
from calibrant.calibrators.base import Estimator
from calibrant.errors import InvalidInputError


def expit(z):
    return 1.0 / (1.0 + np.exp(-z))


def draw(n, seed=0):
    """Two judges, a verdict, and a number that is missing in part of the rows; labels and their probabilities."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, 3))
    verdict = rng.integers(0, 3, n)
    logits = z[:, 0] + 0.5 * z[:, 1] + 0.8 * (verdict - 1.0)
    frame = pd.DataFrame(
        {
            "anna": expit(1.5 * z[:, 0]),
            "ben": expit(z[:, 1] + 0.3 * z[:, 2]),
            "length": np.where(rng.random(n) < 0.2, np.nan, 100.0 + 30.0 * z[:, 2]),
            "verdict": np.array(["no", "tie", "yes"])[verdict],
        }
    )
    return frame, (rng.random(n) < expit(logits)).astype(int), expit(logits)


SPACE = {"length": "decision"}


def fit(frame, y, **options):
    return PanelCalibrator(space=SPACE).fit(frame, y, **options)


@pytest.fixture(scope="module")
def fitted():
    frame, y, _ = draw(400)
    return fit(frame, y)


def log_loss(p, y):
    return -np.mean(np.where(y > 0, np.log(p), np.log1p(-p)))


def test_it_recovers_a_known_truth():
    frame, y, _ = draw(3000)
    new, _, truth = draw(2000, 1)
    panel = fit(frame, y)
    p = panel.predict(new)
    assert np.abs(p - truth).mean() < 0.03
    low, high = panel.predict_interval(new, level=0.9)
    assert 0.85 < np.mean((low <= truth) & (truth <= high)) <= 1.0
    alone = Blend().fit(frame["anna"], y).predict(new["anna"])
    assert np.mean((p - truth) ** 2) < 0.5 * np.mean((alone - truth) ** 2)


def test_leaving_a_row_out_is_a_refit_without_it():
    frame, y, _ = draw(120)
    panel = fit(frame, y)
    some = np.arange(0, 120, 4)
    refits = []
    for row in some:
        others = np.arange(120) != row
        refits.append(fit(frame[others], y[others]).predict(frame.iloc[[row]])[0])
    said = panel._pool.left_out(panel._pool.columns, panel._pool.apart) @ panel._pool.weights
    assert -np.log(said[some]).mean() == pytest.approx(log_loss(np.array(refits), y[some]), abs=0.005)
    assert panel.log_loss_ > log_loss(panel.predict(frame), y)


@pytest.mark.parametrize("seed", [2, 12, 18])
def test_one_good_score_is_found_among_useless_ones(seed):
    """Rows on which a search that tries curves before centres kept the mean of all ten scores, .05 to .1 too high."""
    rng = np.random.default_rng([seed, 50])

    def rows(n):
        z = rng.standard_normal((n, 10))
        p = expit(1.5 * z[:, 0])
        return {f"score {j}": expit(1.5 * z[:, j]) for j in range(10)}, (rng.random(n) < p).astype(float), p

    (train, y, _), (test, _, p) = rows(50), rows(2000)
    found, alone = (
        PanelCalibrator().fit(train, y).predict(test),
        Blend().fit(train["score 0"], y).predict(test["score 0"]),
    )
    loss, best = (-np.mean(p * np.log(q) + (1.0 - p) * np.log1p(-q)) for q in (found, alone))
    assert loss < best + 0.02


@pytest.mark.parametrize("seed", [4, 6, 9])
def test_a_score_that_holds_all_that_others_know_is_found(seed):
    """Fifty labels are nearer to the mean score: only that others share nothing given one score says which it is."""
    rng = np.random.default_rng([seed, 50])

    def rows(n):
        z = rng.standard_normal((n, 5))
        scores = {"all": expit(2.0 * z[:, 0])} | {f"part {j}": expit(z[:, 0] + 1.5 * z[:, j]) for j in range(1, 5)}
        return scores, (rng.random(n) < scores["all"]).astype(float)

    (train, y), (test, _) = rows(50), rows(2000)
    p = test["all"]
    found, alone = PanelCalibrator().fit(train, y).predict(test), Blend().fit(train["all"], y).predict(p)
    loss, best = (-np.mean(p * np.log(q) + (1.0 - p) * np.log1p(-q)) for q in (found, alone))
    assert loss < best + 0.025


def test_the_order_of_columns_and_rows_does_not_matter(fitted):
    frame, y, _ = draw(400)
    new, _, _ = draw(50, 1)
    p = fitted.predict(new)
    order = np.random.default_rng(1).permutation(400)
    turned = fit(frame[["verdict", "ben", "length", "anna"]].iloc[order], y[order])
    np.testing.assert_allclose(turned.predict(new[["length", "anna", "verdict", "ben"]]), p, atol=1e-9)
    np.testing.assert_allclose(turned.predict_interval(new), fitted.predict_interval(new), atol=1e-9)


def test_a_sample_of_many_rows_does_not_depend_on_their_order(monkeypatch):
    monkeypatch.setattr("calibrant.panel.fit.SAMPLE_ROWS", 300)
    frame, y, _ = draw(700)
    new, _, truth = draw(50, 1)
    order = np.random.default_rng(1).permutation(700)
    p = fit(frame, y).predict(new)
    np.testing.assert_allclose(fit(frame.iloc[order], y[order]).predict(new), p, atol=1e-9)
    assert np.abs(p - truth).mean() < 0.08


@pytest.mark.parametrize(("n", "every"), [(150, 3), (480, 10)])  # 480 rows with 528 in all are not fitted as 480 are
def test_a_weight_of_two_is_a_row_twice(monkeypatch, n, every):
    """Not all rows are there twice: then every label is proved by its twin, and chance decides between steps.

    Whether a map may fall is decided by draws, of which the last digit of a score can turn one: here none may.
    """
    monkeypatch.setattr("calibrant.calibrators.decreases.CERTAIN", 2.0)
    frame, y, _ = draw(n)
    new, _, _ = draw(50, 1)
    counts = np.where(np.arange(n) % every == 0, 2, 1)
    counts[1::every] -= every == 3
    twice = np.repeat(np.arange(n), counts)
    weighted, repeated = fit(frame, y, sample_weight=counts), fit(frame.iloc[twice], y[twice])
    np.testing.assert_allclose(weighted.predict(new), repeated.predict(new), atol=1e-9)
    assert weighted.log_loss_ == pytest.approx(repeated.log_loss_, abs=1e-9)


@pytest.mark.parametrize("space", ["probability", "decision"])
def test_one_column_gives_what_blend_gives(space, tmp_path):
    frame, y, _ = draw(300)
    column = frame["anna"] if space == "probability" else np.log(frame["anna"] / (1.0 - frame["anna"]))
    panel, blend = PanelCalibrator(space=space).fit(column.to_frame(), y), Blend(space=space).fit(column, y)
    np.testing.assert_array_equal(panel.predict(column.to_frame()), blend.predict(column))
    np.testing.assert_array_equal(panel.predict_interval(column.to_frame()), blend.predict_interval(column))
    np.testing.assert_array_equal(panel.sample_maps(column.to_frame(), 5), blend.sample_maps(column, 5))
    assert panel.log_loss_ == blend.left_out_log_loss()
    panel.save(tmp_path / "map.json")
    loaded = calibrant.load(tmp_path / "map.json")
    np.testing.assert_array_equal(loaded.predict(column.to_frame()), panel.predict(column.to_frame()))
    assert np.abs(np.subtract(loaded.predict_interval(column.to_frame()), blend.predict_interval(column))).max() < 0.02


def test_one_categorical_column_has_rates_between_their_own_and_the_mean():
    verdict = np.repeat(["a", "b"], 50)
    y = np.concatenate((np.arange(50) % 5 == 0, np.arange(50) % 5 > 0))
    p = PanelCalibrator().fit({"verdict": verdict}, y).predict({"verdict": ["a", "b", "new"]})
    assert 0.2 < p[0] < 0.35
    assert 0.65 < p[1] < 0.8
    assert p[2] == pytest.approx(0.5, abs=0.02)


def test_a_constant_and_a_doubled_score_do_no_harm(fitted):
    frame, y, _ = draw(400)
    new, labels, _ = draw(2000, 1)
    p = fitted.predict(new)
    constant = fit(frame.assign(always=0.5, word="same"), y)
    np.testing.assert_allclose(constant.predict(new.assign(always=0.1, word="other")), p, atol=1e-9)
    doubled = fit(frame.assign(again=frame["anna"]), y).predict(new.assign(again=new["anna"]))
    assert log_loss(doubled, labels) < log_loss(p, labels) + 0.005


def test_what_was_not_there_in_the_fit(fitted):
    new, labels, _ = draw(2000, 1)
    unseen = fitted.predict(new.assign(verdict="abstains"))
    # An unseen level has no effect: between those of the levels, and nearer to the middle one.
    levels = {level: fitted.predict(new.assign(verdict=level)) for level in ("no", "tie", "yes")}
    assert ((levels["no"] < unseen) & (unseen < levels["yes"])).all()
    # A score that is missing at prediction only is as good as a fit without it.
    frame, y, _ = draw(400)
    without = fit(frame.drop(columns="ben"), y).predict(new)
    missing = fitted.predict(new.assign(ben=np.nan))
    assert log_loss(missing, labels) == pytest.approx(log_loss(without, labels), abs=0.006)
    assert np.isfinite(fitted.predict(new.assign(anna=np.nan, ben=np.nan, length=None, verdict=None))).all()


def test_a_column_that_is_never_there_is_a_constant():
    frame, y, _ = draw(200)
    p = fit(frame.assign(never=np.nan), y).predict(frame.assign(never=0.5))
    np.testing.assert_allclose(p, fit(frame, y).predict(frame), atol=1e-9)


DRESSES = {
    "polars": pl.from_pandas,
    "pyarrow": lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
    "category": lambda frame: frame.astype({"verdict": "category"}),
    "polars enum": lambda frame: pl.from_pandas(frame).with_columns(pl.col("verdict").cast(pl.Categorical)),
    "dictionary": lambda frame: {name: frame[name].tolist() for name in frame},
    "None": lambda frame: {name: [None if value != value else value for value in frame[name]] for name in frame},
    "nullable": lambda frame: frame.convert_dtypes(),
}


@pytest.mark.parametrize("dress", DRESSES)
def test_frames_of_any_kind(fitted, dress):
    frame, y, _ = draw(400)
    dressed = DRESSES[dress]
    panel = fit(dressed(frame), y)
    np.testing.assert_allclose(panel.predict(dressed(frame)), fitted.predict(frame), atol=1e-12)
    np.testing.assert_allclose(panel.predict(frame), fitted.predict(frame), atol=1e-12)


def test_an_array_has_the_order_of_the_fit():
    frame, y, _ = draw(200)
    numbers = frame[["anna", "ben"]]
    panel = PanelCalibrator().fit(numbers, y)
    np.testing.assert_array_equal(panel.predict(numbers.to_numpy()), panel.predict(numbers))


def test_categories_of_numbers_and_booleans_are_levels():
    rng = np.random.default_rng(0)
    grade = rng.integers(1, 4, 300)
    y = rng.random(300) < grade / 4
    as_levels = PanelCalibrator().fit(pd.DataFrame({"grade": pd.Categorical(grade), "flag": grade > 2}), y)
    assert {worth.kind for worth in as_levels.scores_} == {"category"}
    with pytest.raises(InvalidInputError, match=r"'grade' must be a probability.*space=\{'grade': 'decision'\}"):
        PanelCalibrator().fit(pd.DataFrame({"grade": grade, "flag": grade > 2}), y)


def test_scores_and_summary_say_what_each_is_worth(fitted):
    worth = {row.name: row for row in fitted.scores_}
    assert [row.alone for row in fitted.scores_] == sorted(row.alone for row in fitted.scores_)
    assert worth["length"].missing == pytest.approx(0.2, abs=0.06)
    assert worth["anna"].cost > 0.02 > abs(worth["length"].cost)
    assert worth["verdict"].kind == "category"
    assert all(name in fitted.summary() for name in worth)
    frame, y, _ = draw(400)
    cost = fit(frame.drop(columns="anna"), y).log_loss_ - fitted.log_loss_
    assert worth["anna"].cost == pytest.approx(cost, abs=0.02)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda frame: frame.drop(columns="ben"), "`X` must have the columns of the fit; 'ben'"),
        (lambda frame: frame.assign(ben=2.0), "'ben' must be a probability in .0, 1.; got 2 at index 0"),
        (lambda frame: frame.assign(length=np.inf), "'length' must be finite or missing; got inf at index 0"),
        (lambda frame: frame.assign(ben="high"), "'ben' held numbers in the fit"),
        (lambda _: np.zeros((5, 3)), "`X` must have the columns of the fit"),
        (lambda _: np.zeros((5, 3, 2)), r"`X` must have shape \(n, J\)"),
    ],
)
def test_what_is_refused(fitted, change, message):
    frame, _, _ = draw(20, 1)
    with pytest.raises(InvalidInputError, match=message):
        fitted.predict(change(frame))


def test_a_method_of_another_package_can_be_registered(fitted):
    class Chairman(Estimator):
        shape, name = "panel", "chairman"

        def fit(self, X, y):
            self.map_ = PanelCalibrator().fit(X[["anna"]], y).map_
            return self

    try:
        calibrant.register(Chairman)
        assert "chairman" in registry.names("panel")
        frame, y, _ = draw(100)
        assert registry.create("chairman", "panel").fit(frame, y).predict(frame).shape == (100,)
        with pytest.raises(InvalidInputError, match="takes several scores for each row"):
            registry.get("chairman", "score")
    finally:
        registry._REGISTERED.pop(("panel", "chairman"), None)


def test_segments_are_one_more_categorical_score():
    rng = np.random.default_rng(0)
    team, z = rng.integers(0, 6, 1500), rng.normal(size=(1500, 2))
    truth = expit(z[:, 0] + 0.5 * z[:, 1] + np.linspace(-1.5, 1.5, 6)[team])
    y, scores = (rng.random(1500) < truth).astype(int), {"anna": expit(z[:, 0]), "ben": expit(z[:, 1])}
    panel = PanelCalibrator().fit(scores, y, segment=team)
    p = panel.predict(scores, segment=team)
    named = PanelCalibrator().fit(scores | {"segment": team.astype(str)}, y)
    np.testing.assert_allclose(named.predict(scores | {"segment": team}), p, atol=1e-12)
    np.testing.assert_array_equal(panel.predict_proba(scores, team)[:, 1], p)
    low, high = panel.predict_interval(scores, segment=team)
    assert np.mean((low <= truth) & (truth <= high)) > 0.85
    np.testing.assert_array_equal(
        panel.sample_maps(scores, 3, segment=team), panel.frozen_map().sample_maps(scores | {"segment": team}, 3)
    )
    pooled = PanelCalibrator().fit(scores, y).predict(scores)
    each = np.empty(1500)
    for k in range(6):
        own = {name: column[team == k] for name, column in scores.items()}
        each[team == k] = PanelCalibrator().fit(own, y[team == k]).predict(own)
    errors = [np.mean((q - truth) ** 2) for q in (p, pooled, each)]
    assert errors[0] < 0.5 * min(errors[1:])
    new = panel.predict({"anna": [0.5], "ben": [0.5]}, segment=["new"])
    assert p[team == 0].mean() < new[0] < p[team == 5].mean()
    with pytest.raises(InvalidInputError, match="'segment' of anna, ben, segment is not there"):
        panel.predict(scores)
    with pytest.raises(InvalidInputError, match="`segment` must have names that no score has; got 'anna' twice"):
        PanelCalibrator().fit(scores, y, segment={"anna": team})


def test_scores_a_subnormal_number_apart_are_taken():
    rng = np.random.default_rng(0)
    tiny = np.repeat([0.0, 5e-324, 1e-310, 1e-300, 1.0], 60)
    other = rng.random(300)
    y = rng.random(300) < np.where(tiny == 1.0, 0.9, 0.2)
    p = PanelCalibrator().fit({"tiny": tiny, "other": other}, y).predict({"tiny": tiny, "other": other})
    assert np.isfinite(p).all()
    assert p[tiny == 1.0].mean() > 0.7
