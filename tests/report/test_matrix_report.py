import re

import numpy as np
import pytest

from calibrant.errors import InvalidInputError
from calibrant.report import write_matrix_report

pytest.importorskip("jinja2", reason="jinja2 is in the extra `report`")


def draw(n=240):
    rng = np.random.default_rng(0)
    truth = rng.dirichlet(np.ones(3), n)
    y = (truth.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
    return 2.0 * np.log(truth), y


def test_a_page_on_logits(tmp_path, hostile):
    logits, y = draw()
    path = tmp_path / "page.html"
    write_matrix_report(path, logits, y, space="decision", classes=["ant", "bee", hostile], method="temperature")
    text = path.read_text("utf-8")
    assert "<script>alert(1)" not in text
    assert "bee where ant is predicted" in text
    assert "Of the predicted class: its probability, and whether it was right." in text
    assert '<td role="cell" data-head="How often">' in text  # beside each value where the screen is narrow
    assert "Calibrated with Temperature scaling" in text
    code = re.search(r'id="code-python">(.*?)</pre>', text, re.DOTALL)[1]
    assert "predict_proba(new_scores)" in code
    assert "MatrixTemperature(space=" in code
    assert "Is the model calibrated?" in text


def test_labels_are_needed(tmp_path):
    with pytest.raises(InvalidInputError):
        write_matrix_report(tmp_path / "page.html", draw()[0], space="decision")
    assert not list(tmp_path.iterdir())
