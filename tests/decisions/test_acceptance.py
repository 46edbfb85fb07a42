"""Gates keep their promise on simulated truths, accept what can be accepted, and say true sentences."""

import json

import numpy as np
import pytest
from scipy import stats

from calibrant import ABB, PlattScaling, Tally
from calibrant.decisions import accepted_ranks
from calibrant.decisions.gate_rows import GateRows
from calibrant.decisions.gates import acceptance
from calibrant.errors import InvalidInputError


def draw(n_rows: int, seed: int = 0, slope: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Labels and scores; with a slope below 1 the scores say too much."""
    rng = np.random.default_rng(seed)
    scores = rng.beta(4, 1.2, n_rows)
    odds = slope * (np.log(scores) - np.log1p(-scores))
    return rng.random(n_rows) < 1.0 / (1.0 + np.exp(-odds)), scores


def keeps_a_limit(limits: np.ndarray, counts: np.ndarray, right: np.ndarray) -> bool:
    """Whether a walk keeps one of the limits, row by row."""
    n_right, errors = np.cumsum(right), np.cumsum(~right)
    inside = (n_right >= counts[0]) & (n_right <= counts[-1])
    block = np.searchsorted(counts, n_right, side="right") - 1
    return bool((inside & (errors <= limits[block])).any())


def test_a_single_limit_is_an_exact_binomial_test() -> None:
    for right, errors in ((22, 0), (60, 3)):
        chance = accepted_ranks.chance_of_keeping(np.array([errors]), np.array([right]), 0.9)
        assert chance == pytest.approx(stats.binom.sf(right - 1, right + errors, 0.9))


def test_the_chance_of_keeping_limits_is_that_of_simulated_walks() -> None:
    counts, rng = np.array([5, 20, 40, 60]), np.random.default_rng(0)
    limits = np.array([0, 1, 2, 4])
    walks = rng.random((4000, 150)) < 0.9
    share = np.mean([keeps_a_limit(limits[[i]], counts[[i]], walk) for walk in walks for i in range(1)])
    assert accepted_ranks.chance_of_keeping(limits[:1], counts[:1], 0.9) == pytest.approx(0.9**5)
    assert share == pytest.approx(0.9**5, abs=0.03)
    reached = np.mean([any(keeps_a_limit(limits[[i]], counts[[i]], walk) for i in range(4)) for walk in walks])
    assert accepted_ranks.chance_of_keeping(limits, counts, 0.9) == pytest.approx(reached, abs=0.03)


@pytest.mark.parametrize(("n_rows", "precision"), [(60, 0.5), (500, 0.9), (30_000, 0.95)])
def test_limits_spend_no_more_than_alpha_and_only_rise(n_rows: int, precision: float) -> None:
    counts = accepted_ranks.limit_counts(n_rows)
    before = accepted_ranks.error_limits(n_rows, precision, 0.1, -1)
    assert 0.09 < accepted_ranks.chance_of_keeping(before, counts, precision) <= 0.1
    for start in range(0, len(counts), max(len(counts) // 6, 1)):
        limits = accepted_ranks.error_limits(n_rows, precision, 0.1, start)
        assert accepted_ranks.chance_of_keeping(limits[start:], counts[start:], precision) <= 0.1
        assert (limits >= before).all()
        before = limits


def test_limits_with_a_step_convolved_by_fourier_are_those_of_plain_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = np.array([50_000, 100_000, 200_000])
    limits = np.array([5_450, 10_980, 22_050])
    fast = accepted_ranks.chance_of_keeping(limits, counts, 0.9)
    monkeypatch.setattr(accepted_ranks.signal, "fftconvolve", np.convolve)
    assert accepted_ranks.chance_of_keeping(limits, counts, 0.9) == pytest.approx(fast, abs=1e-12)


@pytest.mark.parametrize("below", [0.0, 0.2])
def test_a_flat_truth_is_the_worst_and_breaks_the_promise_no_more_often_than_allowed(below: float) -> None:
    rng, broken, runs = np.random.default_rng(1), 0, 400
    for _ in range(runs):
        scores = rng.random(300)
        right = rng.random(300) < np.where(scores >= below, 0.9, 0.2) - 1e-9
        broken += GateRows.read(right, scores)[None].exact_threshold(0.9, 0.1) is not None
    assert broken / runs <= 0.1 + 2.0 * np.sqrt(0.09 / runs)


def test_truths_that_cross_the_precision_several_times_break_the_promise_no_more_often() -> None:
    # Cumulative precision just below .9 down to the first share and from the third on, above it in between.
    shares, right = np.array([0.0, 0.15, 0.35, 0.37, 1.0]), np.array([0.0, 0.15 * 0.9, 0.35 * 0.93, 0.37 * 0.9, 0.9])
    truth, rng, broken, runs = np.diff(right) / np.diff(shares), np.random.default_rng(5), 0, 600
    truth = np.clip(truth, 0.0, 1.0)
    right = np.append(0.0, np.cumsum(truth * np.diff(shares)))
    for _ in range(runs):
        rank = rng.random(400)  # of the population, from the highest score down
        labels = rng.random(400) < truth[np.searchsorted(shares, rank) - 1]
        threshold = GateRows.read(labels, 1.0 - rank)[None].exact_threshold(0.9, 0.1)
        if threshold is not None:
            broken += np.interp(1.0 - threshold, shares, right) < (0.9 + 1e-9) * (1.0 - threshold)
    assert 0.02 < broken / runs <= 0.1 + 2.0 * np.sqrt(0.09 / runs)


def test_rows_with_one_score_are_accepted_together() -> None:
    scores = np.repeat([0.9, 0.8, 0.3], 60)
    right = np.r_[np.ones(60), np.ones(58), np.zeros(2), np.zeros(60)]
    gate = acceptance(right, scores, precision=0.9)
    assert gate.threshold == 0.8
    assert gate.share == pytest.approx(2 / 3)
    assert gate.precision.value == pytest.approx(118 / 120)
    shuffled = np.random.default_rng(0).permutation(180)
    assert acceptance(right[shuffled], scores[shuffled], precision=0.9).threshold == 0.8


def test_more_is_accepted_with_less_confidence_and_with_less_precision() -> None:
    labels, scores = draw(1500)
    shares = [acceptance(labels, scores, precision=0.9, confidence=c).share for c in (0.99, 0.9, 0.6)]
    assert shares == sorted(shares)
    assert shares[0] > 0.0
    assert acceptance(labels, scores, precision=0.8).share > shares[1]


def test_the_posterior_accepts_more_and_names_the_probability_at_the_threshold() -> None:
    labels, scores = draw(1500, seed=3)
    exact, more = (acceptance(labels, scores, precision=0.9, guarantee=g) for g in ("finite_sample", "posterior"))
    assert more.threshold < exact.threshold
    assert more.guarantee == "posterior"
    assert more.precision.low < more.precision.value < more.precision.high
    assert 0.6 < more.probability < 0.9
    assert exact.probability is None
    assert "if the truth is one that the posterior can draw" in str(more)


def test_a_fitted_calibrator_or_a_saved_map_gives_the_draws() -> None:
    labels, scores = draw(800)
    fitted = ABB().fit(scores, labels)
    options = {"precision": 0.85, "guarantee": "posterior"}
    given = acceptance(labels, scores, calibrator=fitted, **options)
    assert given.threshold == acceptance(labels, scores, calibrator=ABB(), **options).threshold
    assert acceptance(labels, scores, calibrator=fitted.frozen_map(), **options).threshold is not None
    platt = PlattScaling().fit(scores, labels)
    gate = acceptance(labels, scores, precision=0.85, calibrator=platt)
    assert gate.probability == pytest.approx(platt.predict([gate.threshold])[0])
    with pytest.raises(InvalidInputError, match="posterior"):
        acceptance(labels, scores, calibrator=platt.map_, **options)


def test_nothing_can_be_accepted_and_how_many_rows_would_do() -> None:
    labels, scores = draw(100)
    gate = acceptance(labels, scores, precision=0.93)
    assert gate.threshold is None
    assert gate.share == 0.0
    assert gate.errors is None
    assert not gate.passes([1.0, 0.0]).any()
    assert gate.rows_needed > 100
    assert f"About {gate.rows_needed} labelled rows" in str(gate)
    assert f"Had {100 * gate.instead:g} % or less been asked for, some rows would pass." in str(gate)
    passing = [p for p in np.arange(100, 186) / 200 if acceptance(labels, scores, precision=p).threshold is not None]
    assert gate.instead == max(passing)
    assert len(passing) == round(200 * gate.instead) - 99  # all below it
    often = [acceptance(*draw(gate.rows_needed, s), precision=0.93).threshold is not None for s in range(20)]
    assert sum(often) >= 4
    assert "would let some pass in most cases." in str(gate)  # where the truth is what the labelled rows show
    rng, again = np.random.default_rng(0), []
    for _ in range(12):
        rows = rng.integers(0, len(scores), gate.rows_needed)
        again.append(acceptance(labels[rows], scores[rows], precision=0.93).threshold is not None)
    assert sum(again) > 6


def test_no_number_of_rows_helps_where_no_part_has_the_precision() -> None:
    scores = np.linspace(0.0, 1.0, 400)
    gate = acceptance(np.arange(400) % 2, scores, precision=0.9)
    assert gate.threshold is None
    assert gate.rows_needed is None
    assert "No part of the labelled rows" in str(gate)
    assert acceptance(np.zeros(50), np.linspace(0, 1, 50), precision=0.9).threshold is None


def test_a_budget_gives_the_precision_of_the_rest() -> None:
    labels, scores = draw(1000)
    gate = acceptance(labels, scores, budget=0.4)
    kept = scores >= gate.threshold
    assert kept.sum() == 600
    assert gate.wanted is None
    assert gate.precision.value == pytest.approx(labels[kept].mean())
    assert gate.precision.low < gate.precision.value < gate.precision.high
    assert acceptance(labels, scores, budget=400).threshold == gate.threshold
    assert gate.errors.value == pytest.approx((~labels[kept]).sum())
    smooth = acceptance(labels, scores, budget=0.4, guarantee="posterior")
    assert abs(smooth.precision.value - gate.precision.value) < 0.05
    assert "of rows. Of the labelled rows that pass" in str(gate)
    with pytest.raises(InvalidInputError, match="leave rows to accept"):
        acceptance(labels, scores, budget=1000)


def test_unlabelled_rows_are_counted() -> None:
    labels, scores = draw(2000)
    others = np.random.default_rng(5).random(5000)
    for guarantee in ("finite_sample", "posterior"):
        gate = acceptance(labels, scores, precision=0.9, guarantee=guarantee, unlabelled=others)
        assert gate.n_rows == 5000
        assert gate.n_accepted == pytest.approx(gate.passes(others).sum())
        assert gate.errors.value == pytest.approx(gate.n_accepted * (1.0 - gate.precision.value))


def test_unlabelled_rows_on_another_scale_are_refused() -> None:
    rng = np.random.default_rng(0)
    scores = rng.random(300)
    right = rng.random(300) < scores
    with pytest.raises(InvalidInputError, match=r"`unlabelled` must lie in .*divide percentages by 100"):
        acceptance(right, scores, precision=0.7, unlabelled=100.0 * scores)
    margins = 8.0 * scores - 4.0
    assert acceptance(right, margins, precision=0.7, unlabelled=margins, space="decision").threshold is not None


def test_several_classes_are_judged_by_their_top_class() -> None:
    rng = np.random.default_rng(0)
    matrix = rng.dirichlet([0.3, 0.3, 0.3], 900)
    labels = np.array([rng.choice(3, p=row) for row in matrix])
    gate = acceptance(labels, matrix, precision=0.85)
    top, right = matrix.max(axis=1), matrix.argmax(axis=1) == labels
    assert gate.threshold == acceptance(right, top, precision=0.85).threshold
    assert (gate.passes(matrix) == (top >= gate.threshold)).all()
    assert acceptance(labels, matrix, precision=0.85, unlabelled=matrix).share == gate.share


def test_tallies_weights_and_decision_scores_are_read() -> None:
    labels, scores = draw(700)
    gate = acceptance(labels, scores, precision=0.85)
    assert acceptance(Tally.from_arrays(scores, labels), precision=0.85).threshold == gate.threshold
    assert acceptance(labels, scores * 7 - 3, precision=0.85, space="decision").share == gate.share
    twice = acceptance(labels, scores, precision=0.85, sample_weight=np.full(700, 2))
    assert twice.n_rows == 1400
    with pytest.raises(InvalidInputError, match="whole numbers"):
        acceptance(labels, scores, precision=0.85, sample_weight=np.full(700, 0.5))
    assert acceptance(labels, scores, precision=0.8, sample_weight=np.full(700, 0.9), guarantee="posterior").share > 0


def test_results_are_plain_and_the_curve_is_a_frame() -> None:
    labels, scores = draw(3000)
    gate = acceptance(labels, scores, precision=0.9)
    assert json.loads(json.dumps(gate.to_dict()))["threshold"] == gate.threshold
    frame = gate.curve.to_frame()
    assert frame["shares"].is_monotonic_increasing
    assert len(frame) <= 1024
    assert (frame["low"] <= frame["precision"]).all()
    assert "scores" in repr(gate.curve)
    assert repr(gate).startswith("Acceptance(Accept from a score of")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "either `precision`"),
        ({"precision": 0.9, "budget": 0.1}, "either `precision`"),
        ({"precision": 1.0}, "both excluded"),
        ({"precision": 0.9, "confidence": 2}, "`confidence`"),
        ({"precision": 0.9, "guarantee": "hope"}, "finite_sample, posterior"),
    ],
)
def test_bad_options_are_refused(options: dict, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        acceptance([0, 1, 1], [0.1, 0.5, 0.9], **options)


def in_segments(n_rows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    scores, segment = rng.beta(4, 1.2, n_rows), rng.choice(["de", "en", "fr"], n_rows)
    return rng.random(n_rows) < scores - 0.08 * (segment == "fr"), scores, segment


@pytest.mark.parametrize("guarantee", ["finite_sample", "posterior"])
def test_segments_have_gates_of_their_own(guarantee: str) -> None:
    right, scores, segment = in_segments(3600)
    joint = acceptance(right, scores, segment=segment, precision=0.8, guarantee=guarantee, calibrator="spline")
    assert list(joint.gates) == ["de", "en", "fr"]
    assert joint.gates["fr"].threshold > joint.gates["en"].threshold
    assert all(0.9 <= gate.confidence <= 1.0 - 0.1 / 3 + 1e-12 for gate in joint.gates.values())
    passed = joint.passes(scores, segment)
    assert right[passed].mean() > 0.8
    assert joint.to_frame()["segment"].tolist() == ["de", "en", "fr"]
    assert "of every segment are right" in str(joint)
    assert repr(joint) == "SegmentAcceptance(3 segments)"


def test_a_segment_is_tested_by_its_own_rows_at_its_part_of_the_level() -> None:
    right, scores, segment = in_segments(1500)
    joint = acceptance(right, scores, segment=segment, precision=0.8)
    tallies = {name: Tally.from_arrays(scores[segment == name], right[segment == name]) for name in ("en", "de", "fr")}
    assert acceptance(tallies, precision=0.8).gates["de"].threshold == joint.gates["de"].threshold
    own = segment == "en"
    alone = acceptance(right[own], scores[own], precision=0.8, confidence=1.0 - 0.1 / 3)
    assert joint.gates["en"].threshold == alone.threshold
    few = np.r_[np.flatnonzero(own), np.flatnonzero(segment == "de")[:5]]
    starved = acceptance(right[few], scores[few], segment=segment[few], precision=0.8)
    assert starved.gates["de"].threshold is None
    assert not starved.passes([0.99], ["de"]).any()
    assert "nothing" in str(starved)


def test_segments_of_several_keys_and_several_classes() -> None:
    rng = np.random.default_rng(3)
    matrix = rng.dirichlet([0.2, 0.2, 0.2], 2400)
    labels = np.array([rng.choice(3, p=row) for row in matrix])
    keys = {"language": rng.choice(["de", "en"], 2400), "day": rng.choice([1, 2], 2400)}
    for guarantee in ("finite_sample", "posterior"):
        joint = acceptance(labels, matrix, segment=keys, precision=0.8, guarantee=guarantee, calibrator="abb")
        assert list(joint.gates) == [("de", 1), ("de", 2), ("en", 1), ("en", 2)]
        own = (keys["language"] == "en") & (keys["day"] == 2)
        passed = joint.passes(matrix, keys)
        assert (passed[own] == (matrix[own].max(axis=1) >= joint.gates["en", 2].threshold)).all()
        assert joint.gates["en", 2].probability > 0.3
    weighted = acceptance(labels, matrix, segment=keys["day"], precision=0.8, sample_weight=np.full(2400, 2))
    assert weighted.gates[1].n_rows == 2 * (keys["day"] == 1).sum()


def test_a_single_segment_is_one_gate() -> None:
    right, scores, _ = in_segments(1500)
    for guarantee in ("finite_sample", "posterior"):
        options = {"precision": 0.8, "guarantee": guarantee, "calibrator": "spline"}
        alone = acceptance(right, scores, segment=["all"] * 1500, **options).gates["all"]
        assert alone.threshold == acceptance(right, scores, **options).threshold
        assert alone.confidence == 0.9


@pytest.mark.parametrize("segment", [["de", None] * 2, ["de"] * 3])
def test_rows_without_a_segment_are_refused(segment: list) -> None:
    with pytest.raises(InvalidInputError, match="`segment`"):
        acceptance([0, 1, 1, 1], [0.2, 0.4, 0.6, 0.8], segment=segment, precision=0.5)


def test_words_name_what_a_refusal_rests_on_and_what_a_low_gate_lets_through():
    rng = np.random.default_rng(3)
    scores = rng.random(60)
    labels = rng.random(60) < 0.5
    assert "with a confidence of 90 %, without a model of the truth, that 95 %" in str(
        acceptance(labels, scores, precision=0.95)
    )
    by_posterior = acceptance(labels, scores, precision=0.95, guarantee="posterior")
    assert "with a probability of 90 % by the posterior, that 95 %" in str(by_posterior)
    # Nine rows in ten have the highest score and are right; so few others pass along that the promise holds with them.
    scores = np.r_[np.full(1800, 0.95), np.full(200, 0.1)]
    labels = np.r_[rng.random(1800) < 0.98, rng.random(200) < 0.15]
    gate = acceptance(labels, scores, precision=0.8, guarantee="posterior")
    assert gate.threshold == pytest.approx(0.1)
    assert gate.probability < 0.5
    assert "those with the lowest scores are mostly wrong" in str(gate)
    assert "mostly wrong" not in str(acceptance(labels, scores, precision=0.95, guarantee="posterior"))
