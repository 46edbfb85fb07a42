import numpy as np
import pytest

from calibrant import SBB, simulate


def test_two_rows_by_hand():
    # One bin: e^-λ · 1!1!/3! = e^-λ / 6. Two bins: (1 − e^-λ) · 1/2 · 1/2. They are equal at e^-λ = 3/5.
    below, above = SBB(lam=0.51).fit([0.2, 0.4], [0, 1]), SBB(lam=0.52).fit([0.2, 0.4], [0, 1])
    assert below.bins_["mean"].tolist() == [0.5]
    np.testing.assert_allclose(above.bins_["mean"], [1 / 3, 2 / 3])
    np.testing.assert_allclose(np.exp(above.log_score_), (1.0 - np.exp(-0.52)) / 4.0)
    np.testing.assert_allclose(np.exp(below.log_score_), np.exp(-0.51) / 6.0)
    np.testing.assert_allclose(above.predict([0.0, 0.29, 0.31, 1.0]), [1 / 3, 1 / 3, 2 / 3, 2 / 3])


def test_the_table_of_bins_adds_up():
    data = simulate.from_truth("hump", 1500, rng=1)
    calibrator = SBB().fit(data.scores, data.labels)
    bins = calibrator.bins_
    assert bins.dtype.names == ("lower", "upper", "positives", "total", "mean", "log_evidence")
    assert bins["total"].sum() == 1500
    assert bins["positives"].sum() == data.labels.sum()
    assert (bins["lower"][1:] > bins["upper"][:-1]).all()
    np.testing.assert_allclose(bins["mean"], (bins["positives"] + 1) / (bins["total"] + 2))
    np.testing.assert_allclose(calibrator.predict(bins["upper"]), bins["mean"])
    # Score = priors of the boundaries, eq. 2.6, times the evidence of the bins, eq. 2.4.
    width = data.scores.max() - data.scores.min()
    gaps = (bins["lower"][1:] - bins["upper"][:-1]) / width
    log_prior = np.log(-np.expm1(-calibrator.lam_ * gaps)).sum() - calibrator.lam_ * (1.0 - gaps.sum())
    assert len(bins) > 4
    assert calibrator.log_score_ == pytest.approx(log_prior + bins["log_evidence"].sum(), abs=1e-9)


def test_recovers_a_step():
    rng = np.random.default_rng(0)
    scores = rng.random(4000)
    truth = np.select([scores < 0.3, scores < 0.6], [0.2, 0.8], 0.4)
    calibrator = SBB().fit(scores, rng.random(4000) < truth)
    np.testing.assert_allclose(calibrator.map_.function.edges, [0.3, 0.6], atol=0.01)
    np.testing.assert_allclose(calibrator.bins_["mean"], [0.2, 0.8, 0.4], atol=0.04)


def test_best_takes_the_best_lambda():
    data = simulate.from_truth("wave", 500, rng=0)
    best = SBB().fit(data.scores, data.labels)
    alone = [SBB(lam=lam).fit(data.scores, data.labels).log_score_ for lam in 2.0 ** np.arange(9)]
    assert best.log_score_ == pytest.approx(max(alone), abs=1e-9)
    assert best.lam_ == 2.0 ** int(np.argmax(alone))
