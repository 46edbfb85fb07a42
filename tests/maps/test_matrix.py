import json
from dataclasses import replace

import numpy as np
import pytest

import calibrant
from calibrant.errors import InvalidInputError, ModelFileError
from calibrant.maps.matrix import MatrixMap, MatrixMember, log_scores

LN = np.log


def full_map():
    """A map with every part, for labels that are strings."""
    rng = np.random.default_rng(0)
    members = tuple(
        MatrixMember(
            weight,
            0.1,
            rng.normal(size=4),
            rng.normal(size=3) / 9,
            rng.normal(size=3),
            rng.normal(size=3) / 5,
            rng.normal(size=(3, 2)),
            rng.normal(size=(3, 3)) / 5,
            rng.normal(size=(3, 3)),
        )
        for weight in (0.25, 0.75)
    )
    knots = np.array([-6.0, -4.0, -1.0, -0.1]), np.array([-5.0, -0.2]), np.array([-1.0, 0.5, 3.0])
    return MatrixMap(("a", "b", "c"), "probability", 1.3, members, 1e-6, -7.0, -0.01, *knots, method="Test")


def test_bias_by_hand():
    """Odds 1 : 1 : 2 with the biases ln 2, 0, 0 become 2 : 1 : 2."""
    map_ = MatrixMap((0, 1, 2), "probability", 1.0, (MatrixMember(1.0, bias=np.array([LN(2.0), 0.0, 0.0])),))
    np.testing.assert_allclose(map_([[0.25, 0.25, 0.5]]), [[0.4, 0.2, 0.4]])


def test_temperature_vector_and_pool_by_hand():
    """Inverse temperature 2 squares the odds; the second member undoes that for the first class alone."""
    plain, second = MatrixMember(0.5), MatrixMember(0.5, vector=np.array([-0.5, 0.0]))
    map_ = MatrixMap((0, 1), "probability", 2.0, (plain, second))
    # p = (1/3, 2/3): odds 1 : 4 after the temperature, ℓ = ln(1/5), ln(4/5); the second member: √(1/5) : 4/5.
    second_first = np.sqrt(0.2) / (np.sqrt(0.2) + 0.8)
    np.testing.assert_allclose(map_([[1 / 3, 2 / 3]])[0, 0], 0.5 * 0.2 + 0.5 * second_first)


def test_matrix_rows_belong_to_the_logit_that_they_change():
    matrix = np.array([[0.0, 1.0], [0.0, 0.0]])
    map_ = MatrixMap((0, 1), "probability", 1.0, (MatrixMember(1.0, matrix=matrix),))
    p = np.array([0.2, 0.8])
    z = LN(p) + np.array([LN(0.8), 0.0])
    np.testing.assert_allclose(map_([p])[0], np.exp(z) / np.exp(z).sum())


def test_logits_and_probabilities_are_the_same_scores():
    logits = np.random.default_rng(1).normal(size=(5, 3))
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    made = full_map()
    from_logits = MatrixMap(**{**made.__dict__, "space": "decision"})
    np.testing.assert_allclose(from_logits(logits), made(p))


def test_exact_zeros_are_read_as_the_floor():
    made = full_map()
    np.testing.assert_allclose(made([[0.0, 0.5, 0.5]]), made([[1e-6, 0.5, 0.5]]), rtol=1e-5)
    assert log_scores(np.array([[0.0, 1.0]]), "probability", 0.5).tolist() == [[LN(0.5), 0.0]]


def test_permuted_members_give_permuted_probabilities():
    made, order = full_map(), np.array([2, 0, 1])
    p = np.random.default_rng(2).dirichlet(np.ones(3), size=7)
    moved = MatrixMap(**{**made.__dict__, "members": tuple(member.permuted(order) for member in made.members)})
    np.testing.assert_allclose(moved(p[:, order]), made(p)[:, order])


def test_a_saved_map_is_the_same_map(tmp_path):
    made, path = full_map(), tmp_path / "map.json"
    made.save(path)
    loaded = calibrant.load(path)
    p = np.random.default_rng(2).dirichlet(np.ones(3), size=7)
    assert (loaded(p) == made(p)).all()
    assert loaded.classes == ("a", "b", "c")
    assert loaded.to_dict() == made.to_dict()


def test_unbounded_maps_are_saved_too(tmp_path):
    made = MatrixMap((0, 1), "decision", 1.0, (MatrixMember(1.0),))
    made.save(tmp_path / "map.json")
    assert calibrant.load(tmp_path / "map.json").high == np.inf


def test_damaged_files_are_refused(tmp_path):
    path = tmp_path / "map.json"
    full_map().save(path)
    document = json.loads(path.read_text())
    for change, message in (
        ({"format": "other"}, "not a model that calibrant saved"),
        ({"version": 99}, "file version 99"),
        ({"map": document["map"] | {"inverse_temperature": 2.0}}, "checksum"),
    ):
        path.write_text(json.dumps(document | change))
        with pytest.raises(ModelFileError, match=message):
            calibrant.load(path)
    path.write_text("{")
    with pytest.raises(ModelFileError, match="not a calibrant model"):
        calibrant.load(path)
    with pytest.raises(ModelFileError, match="`members`"):
        MatrixMap.from_dict(full_map().to_dict() | {"members": []})


def test_another_number_of_columns_is_refused():
    for row in ([0.5, 0.5], [0.3, 0.4]):  # whether or not the columns that came sum to 1
        with pytest.raises(InvalidInputError, match="3 columns"):
            full_map()([row])


def test_the_names_of_score_columns_are_saved(tmp_path):
    replace(full_map(), columns=("p_a", "p_b", "p_c")).save(tmp_path / "m.json")
    assert calibrant.load(tmp_path / "m.json").columns == ("p_a", "p_b", "p_c")
    with pytest.raises(ModelFileError, match="`columns`"):
        MatrixMap.from_dict(full_map().to_dict() | {"columns": ["p_a"]})


def test_rows_that_are_accepted():
    rows = np.array([[0.2, 0.3, 0.5], [0.5, 0.5, 0.5], [-0.1, 0.6, 0.5], [np.nan, 0.5, 0.5], [np.inf, 0.0, 0.0]])
    assert full_map().accepts(rows).tolist() == [True, False, False, False, False]
    assert replace(full_map(), space="decision").accepts(rows).tolist() == [True, True, True, False, False]
