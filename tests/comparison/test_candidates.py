import numpy as np
import pytest

from calibrant import IsotonicCalibration, PlattScaling
from calibrant.calibrators import registry
from calibrant.calibrators.blend import Blend
from calibrant.comparison.candidates import MatrixView, create, name_candidates, title_of
from calibrant.errors import InvalidInputError
from calibrant.multiclass.blend import MatrixBlend
from calibrant.multiclass.scaling import VectorScaling


class Mine(IsotonicCalibration):
    title = "isotonic regression of my own"


def test_only_methods_that_can_be_told_are_told_of_decision_scores():
    assert create("platt", space="decision").space == "decision"
    assert create("platt").space != "decision"
    assert "space" not in create("isotonic", space="decision").get_params()


def test_the_raw_score_comes_first_and_objects_are_left_as_they_are():
    own = PlattScaling(target_correction=False)
    named = name_candidates({"mine": own}, space="decision")
    assert list(named) == ["identity", "mine"]
    assert named["mine"] is own
    assert np.array_equal(list(name_candidates(None)), list(registry.names()))


def test_names_and_titles():
    assert list(name_candidates([PlattScaling(), Mine()])) == ["identity", "platt", "Mine"]
    assert title_of(Mine(), "Mine") == "isotonic regression of my own"
    assert title_of(PlattScaling(), "platt") == getattr(registry.get("platt"), "title", "platt")


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    p = rng.dirichlet([1.0, 1.0, 1.0], size=150)
    return p, np.array([rng.choice(3, p=row) for row in p])


def test_one_vs_rest_by_hand(data):
    p, y = data
    columns = np.column_stack([Blend().fit(p[:, k], y == k).predict(p[:, k]) for k in range(3)])
    expected = columns / columns.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(MatrixView("one_vs_rest").fit(p, y).predict_proba(p), expected)


def test_top_label_calibrates_the_confidence_and_keeps_the_order_of_the_rest(data):
    p, y = data
    got = MatrixView("top_label", "platt").fit(p, y).predict_proba(p)
    np.testing.assert_allclose(got.sum(axis=1), 1.0)
    assert not np.allclose(got, p)


def test_logits_are_read_as_the_probabilities_that_they_are(data):
    p, y = data
    from_logits = MatrixView("one_vs_rest", "platt", space="decision").fit(np.log(p) + 3.0, y)
    expected = MatrixView("one_vs_rest", "platt").fit(p, y).predict_proba(p)
    np.testing.assert_allclose(from_logits.predict_proba(np.log(p)), expected, atol=1e-9)
    np.testing.assert_allclose(create("identity", "matrix", "decision").fit(p, y).predict_proba(np.log(p)), p)


def test_an_unknown_view_is_refused(data):
    with pytest.raises(InvalidInputError, match="`view` must be one of one_vs_rest, top_label"):
        MatrixView("sideways").fit(*data)


def test_names_and_objects_of_several_classes_mix_and_the_raw_scores_come_first():
    methods = ["temperature", VectorScaling(), VectorScaling(), MatrixView("top_label")]
    named = name_candidates(methods, "matrix", "decision", 3)
    assert list(named) == ["identity", "temperature", "vector_scaling", "vector_scaling 2", "top_label"]
    assert named["temperature"].space == "decision"
    assert list(name_candidates({"mine": MatrixBlend()}, "matrix")) == ["identity", "mine"]


def test_by_default_all_and_fewer_for_many_classes():
    few, many = (list(name_candidates(None, "matrix", n_classes=k)) for k in (3, 100))
    assert set(few) == {*many, "matrix_scaling", "dirichlet"}
    assert len(few) == len(many) + 2
    assert "blend" in many


def test_what_is_no_method_is_refused():
    with pytest.raises(InvalidInputError, match="`method` must be one of blend, dirichlet, identity"):
        name_candidates(["nonsense"], "matrix")
    with pytest.raises(InvalidInputError, match="calibrators of several classes; got 7"):
        name_candidates([7], "matrix")


@pytest.fixture
def judges():
    rng = np.random.default_rng(3)
    truth = rng.normal(size=120)
    scores = {name: 1.0 / (1.0 + np.exp(-truth - rng.normal(size=120))) for name in ("anna", "ben")}
    return scores, rng.random(120) < 1.0 / (1.0 + np.exp(-2.0 * truth))


def test_one_score_alone_is_what_blend_makes_of_it(judges):
    scores, y = judges
    got = create("ben alone", "panel").fit(scores, y).predict_proba(scores)[:, 1]
    np.testing.assert_allclose(got, Blend().fit(scores["ben"], y).predict(scores["ben"]), atol=1e-12)


def test_the_mean_logit_by_hand(judges):
    scores, y = judges
    logits = np.log(scores["anna"] / (1.0 - scores["anna"])), np.log(scores["ben"] / (1.0 - scores["ben"]))
    mean = 1.0 / (1.0 + np.exp(-0.5 * (logits[0] + logits[1])))
    got = create("mean_logit", "panel").fit(scores | {"verdict": np.where(y, "yes", "no")}, y).predict_proba(scores)
    np.testing.assert_allclose(got[:, 1], Blend().fit(mean, y).predict(mean), atol=1e-12)
    gap = {"anna": np.array([0.3, np.nan, np.nan]), "ben": np.array([np.nan, 0.3, np.nan])}
    one, other, none = create("mean_logit", "panel").fit(scores, y).predict_proba(gap)[:, 1]
    assert one == other
    assert 0.0 < none < 1.0


def test_a_mean_needs_probabilities_and_a_score_must_be_there(judges):
    scores, y = judges
    with pytest.raises(InvalidInputError, match="needs scores that are probabilities; got none"):
        create("mean_logit", "panel", {"anna": "decision", "ben": "decision"}).fit(scores, y)
    with pytest.raises(InvalidInputError, match="'carl' of carl is not there"):
        create("carl alone", "panel").fit(scores, y)


def test_candidates_of_several_scores():
    named = name_candidates(None, "panel", {"ben": "decision"}, scores=["anna", "ben"])
    assert list(named) == ["panel", "mean_logit", "anna alone", "ben alone"]
    assert all(one.space == {"ben": "decision"} for one in named.values())
    assert list(name_candidates(["mean_logit"], "panel")) == ["panel", "mean_logit"]
    with pytest.raises(InvalidInputError, match="calibrators of several scores; got 7"):
        name_candidates([7], "panel")
