"""The recommendation follows proper scores, does nothing when nothing helps, and survives methods that break."""

import numpy as np
import pytest

from calibrant import HistogramBinning, Identity, PlattScaling, Tally, compare, metrics, simulate
from calibrant.calibrators import registry
from calibrant.errors import InvalidInputError

QUICK = ["platt", "isotonic", "beta"]


class Broken(Identity):
    def fit_map(self, tally):  # noqa: ARG002
        raise RuntimeError("disk on fire")


class Worried(Identity):
    def fit_map(self, tally):
        import warnings

        warnings.warn("not converged", UserWarning, stacklevel=1)
        return super().fit_map(tally)


def test_all_methods_by_default_and_do_nothing_among_them():
    data = simulate.from_truth("underconfident", 400)
    table = compare(data.scores, data.labels, cv=2)
    assert {result.name for result in table.results} == set(registry.METHODS)
    losses = [r.log_loss.value for r in table.results if r.log_loss]
    assert losses == sorted(losses)


def test_a_miscalibrated_score_gets_a_method_and_a_calibrated_one_none():
    data = simulate.from_truth("underconfident", 3000)
    table = compare(data.scores, data.labels, methods=QUICK)
    assert table.recommended in QUICK
    assert "lower than that of the raw score" in table.reason
    rng = np.random.default_rng(0)
    scores = rng.beta(1, 1, 3000)
    honest = compare(scores, rng.random(3000) < scores, methods=QUICK)
    assert honest.recommended == "identity"
    assert honest.reason.startswith("do nothing")


def test_methods_that_the_rows_cannot_tell_apart_are_tied():
    data = simulate.from_truth("underconfident", 3000)
    table = compare(data.scores, data.labels, methods={"one": PlattScaling(), "two": PlattScaling()})
    assert {table.recommended, *table.tied} == {"one", "two"}
    assert f"cannot tell it from {', '.join(table.tied)}" in table.reason
    alone = compare(data.scores, data.labels, methods=["platt"])
    assert (alone.recommended, alone.tied) == ("platt", ())
    assert "the lowest of all" in alone.reason
    # Histogram binning into many bins is clearly worse than the raw score of a calibrated model; another copy is not.
    rng = np.random.default_rng(0)
    scores = rng.random(3000)
    rivals = {"copy": Identity(), "noisy": HistogramBinning(n_bins=500)}
    honest = compare(scores, rng.random(3000) < scores, methods=rivals)
    assert (honest.recommended, honest.tied) == ("identity", ("copy",))


def test_doing_nothing_is_rarely_beaten_by_chance():
    changed = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        scores = rng.beta(1, 2, 300)
        table = compare(scores, rng.random(300) < scores, methods=QUICK, rng=seed)
        changed += table.recommended != "identity"
    assert changed <= 4


def test_the_raw_score_has_exactly_its_own_scores():
    data = simulate.from_truth("D1", 500)
    row = compare(data.scores, data.labels, methods=["platt"], repeats=2)["identity"]
    assert row.log_loss.value == pytest.approx(metrics.log_loss(data.labels, data.scores))
    assert row.brier_score.value == pytest.approx(metrics.brier_score(data.labels, data.scores))
    assert row.log_loss_difference is None


def test_a_tally_is_the_same_as_its_rows_and_seeds_decide():
    data = simulate.from_truth("D1", 500)
    tally = Tally.from_arrays(data.scores, data.labels)
    first = compare(data.scores, data.labels, methods=["isotonic"])
    again = compare(tally, methods=["isotonic"])
    other = compare(tally, methods=["isotonic"], rng=1)
    assert first["isotonic"].log_loss == again["isotonic"].log_loss
    assert first["isotonic"].log_loss != other["isotonic"].log_loss


def test_large_data_are_joined_to_cells():
    rng = np.random.default_rng(0)
    scores = rng.random(50_000)
    table = compare(scores, rng.random(50_000) < scores**2, methods=["platt", "isotonic"])
    assert table.n_rows == 50_000
    assert table["isotonic"].log_loss.value == pytest.approx(0.5, abs=0.1)
    assert table.recommended in {"platt", "isotonic"}


def test_decision_scores_drop_what_needs_probabilities_with_a_reason():
    rng = np.random.default_rng(0)
    margin = rng.normal(size=500)
    table = compare(margin, rng.random(500) < 1 / (1 + np.exp(-2 * margin)), methods=[*QUICK, "temperature"])
    assert table.reference == "platt"
    assert "outside [0, 1]" in table["identity"].note
    assert "needs probabilities" in table["beta"].note
    assert table["temperature"].log_loss is not None
    assert table.recommended == "platt"
    assert "platt" in table.headers[4]


def test_own_calibrators_failures_and_warnings_become_rows():
    data = simulate.from_truth("D1", 300)
    methods = {"mine": PlattScaling(target_correction=False), "broken": Broken(), "worried": Worried()}
    seen = []
    table = compare(data.scores, data.labels, methods=methods, progress=seen.append)
    assert seen == ["identity", "mine", "broken", "worried"]
    assert table["broken"].note == "failed (RuntimeError: disk on fire)"
    assert table["worried"].note == "not converged"
    assert table["worried"].log_loss_difference.value == 0.0
    assert table.results[-1].name == "broken"


def test_labels_of_any_kind_and_weights():
    data = simulate.from_truth("D1", 300)
    words = np.where(data.labels, "yes", "no")
    plain = compare(data.scores, data.labels, methods="platt")
    with pytest.raises(InvalidInputError, match="Say which one is the positive class"):
        compare(data.scores, words)
    named = compare(data.scores, words, methods="platt", pos_label="yes")
    assert named["platt"].log_loss == plain["platt"].log_loss
    doubled = compare(data.scores, words, methods="platt", pos_label="yes", sample_weight=np.full(300, 2.0))
    assert doubled.n_rows == 600


def test_swapped_classes_are_remarked_once():
    data = simulate.from_truth("D1", 300)
    table = compare(data.scores, ~data.labels.astype(bool), methods=["platt", "isotonic"])
    assert sum("Were the classes swapped?" in note for note in table.notes) == 1
    assert not any("swapped" in note for note in compare(data.scores, data.labels, methods="platt").notes)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([0.1, 0.9],), {}, "`y` must be given"),
        (([0.1, 0.9], [0, 1]), {}, "at least 2 rows of each class"),
        (([0.1, 0.9] * 3, [0, 1] * 3), {"cv": 1}, "`cv` must be an integer of at least 2"),
        (([0.1, 0.9] * 3, [0, 1] * 3), {"repeats": 0}, "`repeats`"),
        (([0.1, 0.9] * 3, [0, 1] * 3), {"level": 2}, "`level`"),
        (([0.1, 0.9] * 3, [0, 1] * 3), {"methods": ["nonsense"]}, "`method` must be one of"),
        (([-1, 2] * 3, [0, 1] * 3), {"methods": ["beta"]}, "No method could be fitted"),
    ],
)
def test_bad_input(arguments, options, message):
    with pytest.raises(InvalidInputError, match=message):
        compare(*arguments, **options)


def test_the_function_is_the_public_name():
    import calibrant
    import calibrant.comparison

    assert calibrant.compare is calibrant.comparison.compare


def test_names_and_objects_mixed():
    data = simulate.from_truth("D1", 300)
    mine = HistogramBinning(n_bins=3)
    methods = ["platt", mine, Worried(), HistogramBinning(n_bins=5), "platt"]
    table = compare(data.scores, data.labels, methods=methods)
    assert list(table.fits) == ["identity", "platt", "histogram", "Worried", "histogram 2"]
    assert table.fits["histogram"].calibrator is mine
    assert table.fit("histogram 2").n_bins == 5
    assert table["Worried"].title == getattr(Worried, "title", "Worried")
    assert compare(data.scores, data.labels, methods=mine)["histogram"].log_loss == table["histogram"].log_loss
    with pytest.raises(InvalidInputError, match="must be names of methods or calibrators; got 7"):
        compare(data.scores, data.labels, methods=[7])


def test_the_fit_of_the_recommended_method_is_made_once_and_equals_a_fit_to_the_rows(monkeypatch):
    data = simulate.from_truth("underconfident", 500)
    table = compare(data.scores, data.labels, methods=["platt"])
    fits = []
    monkeypatch.setattr(PlattScaling, "fit_map", counting(PlattScaling.fit_map, fits))
    assert table.fit() is table.fit("platt")
    assert len(fits) == 1
    assert np.array_equal(
        table.fit().predict([0.2, 0.7]), PlattScaling().fit(data.scores, data.labels).predict([0.2, 0.7])
    )
    with pytest.raises(InvalidInputError, match="`name` must be one of identity, platt"):
        table.fit("beta")


def counting(function, calls):
    def counted(self, tally):
        calls.append(self)
        return function(self, tally)

    return counted


def test_decision_scores_are_named_in_a_note():
    z = np.linspace(-2.0, 2.0, 60)
    table = compare(z, z + np.sin(9 * z) > 0, methods=["platt"])
    assert table.notes[0] == "Some scores lie outside [0, 1], so all are taken as decision scores."
    assert table.verdict.state == "not_probabilities"
    assert table.fits["platt"].calibrator.space == "decision"


def test_groups_stay_in_one_fold_and_differences_are_clustered():
    data = simulate.from_truth("underconfident", 150)
    scores, y, groups = (np.repeat(column, 10) for column in (data.scores, data.labels, np.arange(150)))
    plain, grouped = (compare(scores, y, methods=["platt", "isotonic"], groups=g) for g in (None, groups))
    # Copies of a row in both parts flatter the method that follows single rows; folds of groups do not.
    assert plain["isotonic"].log_loss_difference.value < grouped["isotonic"].log_loss_difference.value - 0.02
    widths = [one["identity"].log_loss.high - one["identity"].log_loss.low for one in (grouped, plain)]
    assert widths[0] == pytest.approx(np.sqrt(10) * widths[1], rel=0.05)
    widths = [one["platt"].log_loss_difference.high - one["platt"].log_loss_difference.low for one in (grouped, plain)]
    assert widths[0] > 2.5 * widths[1]
    assert grouped.verdict.p_value > plain.verdict.p_value


def test_groups_need_rows_and_name_the_columns():
    with pytest.raises(InvalidInputError, match="no longer knows"):
        compare(simulate.from_truth("D1", 50).tally, groups=[1, 2])
    with pytest.raises(InvalidInputError, match="`scores`"):
        compare([0.1, np.nan, 0.3, 0.9], [0, 1, 0, 1], groups=[1, 2, 3, 4])
    with pytest.raises(InvalidInputError, match="number of groups"):
        compare([0.1, 0.2, 0.3, 0.9], [0, 1, 0, 1], groups=[1, 1, 2, 2])
