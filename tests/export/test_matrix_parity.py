import json

import numpy as np
import pytest

from calibrant.errors import ModelFileError
from calibrant.export import matrix_parity


def test_probe_has_rows_that_the_map_accepts_and_exact_zeros(map_of_probabilities):
    rows = matrix_parity.probe(map_of_probabilities)
    assert map_of_probabilities(rows).shape == rows.shape
    assert (rows == 0.0).any()


def test_a_wrong_export_is_refused_with_the_row(full_map):
    with pytest.raises(ModelFileError, match=r"refused: for the row \[.*\] it gives .* to class"):
        matrix_parity.check(full_map, lambda x: full_map(x) + 1e-9, "Cobol")


def test_a_missing_number_and_a_wrong_shape_are_refused(full_map):
    with pytest.raises(ModelFileError, match="it gives nan"):
        matrix_parity.check(full_map, lambda x: np.full(x.shape, np.nan), "Cobol")
    with pytest.raises(ModelFileError, match="it gives shape"):
        matrix_parity.check(full_map, lambda x: full_map(x)[:, :2], "Cobol")


def test_the_test_vector_is_what_the_map_computes(full_map):
    vector = json.loads(matrix_parity.vector_text(full_map))
    np.testing.assert_allclose(full_map(vector["scores"]), vector["probabilities"], atol=1e-15)
