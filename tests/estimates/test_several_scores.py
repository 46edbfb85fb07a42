"""Rows without labels that have several scores: the panel's draws averaged over rows of like probability."""

import numpy as np
import pytest

import calibrant
from calibrant import Blend, PanelCalibrator
from calibrant.errors import InvalidInputError
from calibrant.estimates import estimate_several, labels_needed
from calibrant.estimates.rows import make_cells


def draw(n, seed):
    """Two scores of a truth, one with gaps, and a verdict; the truth itself is P(positive) given what was drawn."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=n)
    scores = {name: 1.0 / (1.0 + np.exp(-truth - rng.normal(size=n))) for name in ("anna", "ben")}
    scores["ben"][rng.random(n) < 0.2] = np.nan
    right = rng.random(n) < 1.0 / (1.0 + np.exp(-1.5 * truth))
    return scores | {"verdict": np.where(rng.random(n) < 0.3, right, rng.random(n) < 0.5)}, right


@pytest.fixture(scope="module")
def panel():
    return PanelCalibrator().fit(*draw(300, 0))


def test_the_mean_of_each_world_is_the_mean_of_its_map(panel):
    """By the slow way: all draws of all rows."""
    rows, _ = draw(700, 1)
    answer = panel.estimate(rows, sampling_noise=False, n_draws=50, rng=3)
    seed = int(np.random.default_rng(3).integers(2**31))
    np.testing.assert_allclose(answer.draws, panel.sample_maps(rows, 50, seed).mean(axis=1), atol=1e-12)
    assert answer.value == pytest.approx(panel.predict(rows).mean())
    assert (answer.rows, answer.outside, answer.warning) == (700.0, None, "")


def test_cells_part_the_rows_that_are_called_positive(panel):
    rows, _ = draw(5000, 2)
    p = panel.predict(rows)
    cells = make_cells(panel, rows, [calibrant.estimates.QUANTITIES["accuracy"]], "probabilities", 0.4)
    np.testing.assert_array_equal(cells.called[cells.owner], p >= 0.4)
    assert len(cells.totals) <= 512
    assert np.abs(cells.values[cells.owner] - p).max() < 0.02
    answer = panel.estimate(rows, "recall", threshold=0.4, sampling_noise=False, n_draws=20, rng=0)
    draws = panel.sample_maps(rows, 20, int(np.random.default_rng(0).integers(2**31)))
    np.testing.assert_allclose(answer.draws, draws[:, p >= 0.4].sum(axis=1) / draws.sum(axis=1), atol=1e-9)


def test_what_chunks_give_is_what_all_rows_give(panel, monkeypatch):
    rows, _ = draw(700, 1)
    whole = panel.estimate(rows, "auc")
    monkeypatch.setattr("calibrant.maps.panel.CHUNK_ROWS", 64)
    assert panel.estimate(rows, "auc").draws == pytest.approx(whole.draws, abs=1e-12)


def test_a_saved_model_answers_as_the_fit_does(panel, tmp_path):
    rows, _ = draw(200, 4)
    panel.save(tmp_path / "panel.json")
    loaded = calibrant.load(tmp_path / "panel.json")
    mine, saved = (estimate_several(model, rows, threshold=0.5) for model in (panel, loaded))
    for name, answer in mine.items():
        assert (saved[name].value, saved[name].low) == pytest.approx((answer.value, answer.low), abs=1e-9)


def test_two_sets_are_compared_on_the_same_maps(panel):
    rows, _ = draw(400, 5)
    same = panel.estimate_difference(rows, rows, sampling_noise=False)
    assert (same.value, same.low, same.high) == (0.0, 0.0, 0.0)
    higher = {name: column[panel.predict(rows) > 0.5] for name, column in rows.items()}
    assert panel.estimate_difference(higher, rows).low > 0.0


def test_intervals_hold_the_truth():
    """Of 90 % intervals at least 33 of 45 hold it: fewer happen once in 10⁴ times."""
    held = []
    for seed in range(15):
        fitted, (rows, right) = PanelCalibrator().fit(*draw(150, 100 + seed)), draw(1500, 200 + seed)
        p = fitted.predict(rows)
        truth = {
            "mean": right.mean(),
            "accuracy": ((p >= 0.5) == right).mean(),
            "brier_score": ((p - right) ** 2).mean(),
        }
        answers = estimate_several(fitted, rows, truth, threshold=0.5, n_draws=200)
        held += [answers[name].low <= value <= answers[name].high for name, value in truth.items()]
    assert sum(held) >= 33


def test_one_score_is_close_to_what_blend_says():
    rows, right = draw(300, 6)
    new, _ = draw(1000, 7)
    of_panel = PanelCalibrator().fit({"anna": rows["anna"]}, right).estimate({"anna": new["anna"]})
    of_blend = Blend().fit(rows["anna"], right).estimate(new["anna"])
    assert of_panel.value == pytest.approx(of_blend.value, abs=0.01)
    assert of_panel.width == pytest.approx(of_blend.width, rel=0.3)


def test_what_makes_no_sense_is_refused(panel):
    rows, _ = draw(20, 8)
    with pytest.raises(InvalidInputError, match="`target` must be 'probabilities' for rows with several scores"):
        panel.estimate(rows, "accuracy", target="scores")
    with pytest.raises(InvalidInputError, match="must be a fitted one of one score"):
        labels_needed(panel, rows, width=0.1)
    with pytest.raises(InvalidInputError, match=r"'ben' of .* is not there"):
        panel.estimate({"anna": [0.1], "verdict": [True]})
    with pytest.raises(InvalidInputError, match="needs a posterior"):
        panel.map_.estimate(rows)
    with pytest.raises(TypeError, match="sampling"):
        panel.estimate(rows, sampling=True)
    with pytest.raises(InvalidInputError, match="at least one"):
        panel.estimate({"anna": [], "ben": [], "verdict": []})
