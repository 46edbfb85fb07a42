"""estimate: rows without labels."""

import json

import pytest

import calibrant
from calibrant import simulate
from calibrant.adjust.prior import estimate_prior
from calibrant.estimates import QUANTITIES


@pytest.fixture
def files(cli, tmp_path):
    """A saved model, and scores without labels; both as files."""
    data = simulate.bayes_iso(1000, rng=0)
    rows = [f"{s},{int(y)}" for s, y in zip(data.scores[:200], data.labels[:200], strict=True)]
    (tmp_path / "labelled.csv").write_text("\n".join(["score,label", *rows]) + "\n")
    (tmp_path / "new.csv").write_text("\n".join(["id,score", *(f"{i},{s}" for i, s in enumerate(data.scores[200:]))]))
    assert cli("fit", tmp_path / "labelled.csv", "-o", tmp_path / "model.json").code == 0
    return tmp_path / "model.json", tmp_path / "new.csv", data.scores[200:]


def test_it_prints_what_the_loaded_model_estimates(cli, files):
    model, new, scores = files
    answers = json.loads(cli("estimate", model, new, "--json").out)["estimates"]
    assert [answer["quantity"] for answer in answers] == list(QUANTITIES)
    loaded = calibrant.load(model)
    assert answers[0]["value"] == pytest.approx(loaded.estimate(scores).value)
    text = cli("estimate", model, new, "--what", "mean,f1", "--threshold", "0.4", "--level", "0.8")
    assert text.code == 0
    mean, against, f1 = text.out.splitlines()
    assert [line.partition(" 0.")[0] for line in (mean, f1)] == ["mean outcome", "F1"]
    assert all(line.endswith("level 0.8, 800 rows") for line in (mean, f1))
    assert f"would give {loaded.estimate(scores, level=0.8).counted}, 1." in against
    assert f"{loaded.estimate(scores, 'f1', threshold=0.4).value:.4f}" in text.out


def test_the_share_of_positives_may_have_changed_alone(cli, files):
    model, new, scores = files
    answer = json.loads(cli("estimate", model, new, "--prior", "--json").out)
    assert answer == estimate_prior(calibrant.load(model), scores).to_dict()
    assert "share of positives" in cli("estimate", model, new, "--prior").out


def test_weights_count_as_rows(cli, files, tmp_path):
    model, _, _ = files
    (tmp_path / "weighted.csv").write_text("score,times\n0.2,1000000\n0.8,3000000\n")
    (answer,) = json.loads(
        cli("estimate", model, tmp_path / "weighted.csv", "-w", "times", "--what", "mean", "--json").out
    )["estimates"]
    assert answer["rows"] == 4e6


def test_rows_outside_the_labelled_range_are_warned_of(cli, files, tmp_path):
    model, _, _ = files
    (tmp_path / "far.csv").write_text("score\n0.00001\n0.99999\n0.5\n")
    assert "outside" in cli("estimate", model, tmp_path / "far.csv", "--what", "mean").err


def test_what_it_cannot_do_is_said(cli, refused, files, tmp_path):
    _, new, _ = files
    cli("fit", tmp_path / "labelled.csv", "-m", "isotonic", "-o", tmp_path / "iso.json")
    assert "needs a posterior over maps" in refused("estimate", tmp_path / "iso.json", new)
    prior = ("estimate", tmp_path / "model.json", new, "--prior")
    for more in (["--what", "mean"], ["--threshold", "0.4"]):
        assert "--prior estimates the share of positives alone; leave out" in refused(*prior, *more)
    assert "--threshold has no part in the mean outcome" in refused(*prior[:-1], "--what", "mean", "--threshold", "0.4")
    assert "got 'recal'" in refused("estimate", tmp_path / "model.json", new, "--what", "recal")
    assert "--score" in refused("estimate", tmp_path / "model.json", new, "--score", "absent")
    (tmp_path / "percent.csv").write_text("score\n20\n50.5\n")
    message = refused("estimate", tmp_path / "model.json", tmp_path / "percent.csv")
    assert message.endswith(
        "--score must lie in [0, 1]; got 20. Pass probabilities; divide percentages by 100; for decision scores, such "
        "as logits, fit a model to such scores first."
    )


def test_a_model_of_several_classes_is_refused_for_what_it_is(cli, refused, animals, tmp_path):
    cli("fit", animals, "-s", "p_cat,p_dog,p_fox", "-l", "animal", "-m", "temperature", "-o", tmp_path / "m.json")
    assert "is a model of 3 classes; estimates are for models of one score or of several." in refused(
        "estimate", tmp_path / "m.json", animals
    )
