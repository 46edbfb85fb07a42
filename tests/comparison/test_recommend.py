"""The rule of recommendation, on predictions made up so that every difference is known."""

import numpy as np
import pytest

from calibrant.comparison.compare import lower_log_loss, recommend
from calibrant.metrics.folds import OutOfFold

LABELS = np.arange(400) % 2.0


def predictions_of(**shifts):
    """Methods whose log-loss is lower than that of 0.5 by 0.01 z in the mean, with a standard error of 0.01.

    The scatter of a method is that of the first pattern, or of the pattern given: methods of one pattern differ by a
    constant, so their difference is certain.
    """
    patterns = [np.where(np.arange(400) // step % 2, 0.2, -0.2) for step in (2, 4, 8, 16, 50)]

    def one(z, pattern=0):
        of_label = 0.5 * np.exp(0.01 * z + patterns[pattern])
        return OutOfFold.of_cells(np.where(LABELS == 1.0, of_label, 1.0 - of_label), LABELS, np.ones(400))

    raw = OutOfFold.of_cells(np.full(400, 0.5), LABELS, np.ones(400))
    return {"identity": raw} | {
        name: one(*shift) if isinstance(shift, tuple) else one(shift) for name, shift in shifts.items()
    }


def choose(predictions, barred=()):
    def loss(name):
        return -lower_log_loss(predictions[name], predictions["identity"], 0.9).value

    return recommend(sorted(predictions, key=loss), predictions, "identity", 0.9, barred)


def test_the_construction_has_the_differences_that_it_claims():
    predictions = predictions_of(one=3.0)
    gain = lower_log_loss(predictions["one"], predictions["identity"], 0.9)
    assert gain.value == pytest.approx(0.03)
    assert gain.high - gain.value == pytest.approx(0.01 * 1.645, rel=0.01)


@pytest.mark.parametrize(
    ("name", "z", "chosen"),
    [("blend", 2.0, "blend"), ("spline", 2.0, "identity"), ("spline", 3.0, "spline"), ("blend", 1.0, "identity")],
)
def test_the_default_is_judged_alone_and_others_as_the_best_of_many(name, z, chosen):
    others = {f"other_{i}": -20.0 for i in range(15)}
    choice = choose(predictions_of(**{name: z}, **others))
    assert choice.name == chosen
    assert (choice.gain.low > 0.0) is (chosen != "identity")
    assert choice.reason.startswith("do nothing" if chosen == "identity" else f"{chosen}: its log-loss is ")


def test_the_default_is_recommended_when_the_rows_cannot_tell_it_from_the_best():
    choice = choose(predictions_of(platt=(4.0, 1), blend=(3.5, 0), beta=(-9.0, 2)))
    assert (choice.name, choice.tied) == ("blend", ("platt",))
    assert choice.reason.endswith("these rows cannot tell it from platt.")


def test_a_method_that_is_clearly_better_than_the_default_is_recommended():
    choice = choose(predictions_of(platt=(5.0, 0), blend=(3.0, 0)))
    assert (choice.name, choice.tied) == ("platt", ())
    assert choice.reason.endswith("the lowest of all.")


def test_a_curve_for_measuring_is_never_recommended_nor_tied():
    choice = choose(predictions_of(bpm=(9.0, 0), platt=(5.0, 1), beta=(4.9, 2)), barred=["bpm"])
    assert (choice.name, choice.tied) == ("platt", ("beta",))
    assert choice.notes == ("bpm is a curve for measuring, so it is never recommended.",)


def test_a_reader_of_the_ranking_is_told_why_a_method_above_the_last_tied_one_is_not_tied():
    # abb differs from platt by a constant, so it is certainly worse; histogram is worse still, but not certainly.
    choice = choose(predictions_of(platt=(5.0, 0), abb=(4.8, 0), histogram=(4.0, 3)))
    assert (choice.name, choice.tied) == ("platt", ("histogram",))
    (note,) = choice.notes
    assert note.startswith("abb: not among the tied, though ranked above histogram, because paired row by row")


def test_one_certain_mistake_of_the_raw_score_does_not_hide_what_the_other_rows_say():
    """It costs 36 nats, by which the standard error grows more than the mean does."""
    p = np.where(LABELS == 1.0, 0.6, 0.4)  # each row is said with 0.6; the raw score says 0.5, and of one row 0
    better, raw = OutOfFold.of_cells(p, LABELS, np.ones(400)), np.full(400, 0.5)
    raw[1] = 0.0
    predictions = {"identity": OutOfFold.of_cells(raw, LABELS, np.ones(400)), "platt": better}
    assert choose(predictions).name == "platt"
    gain = lower_log_loss(better, predictions["identity"], 0.9)
    assert 0.15 < gain.low < np.log(1.2) < gain.value < gain.high
    assert lower_log_loss(predictions["identity"], better, 0.9) == -gain


def test_nothing_to_compare():
    choice = choose(predictions_of())
    assert (choice.name, choice.gain, choice.tied) == ("identity", None, ())
