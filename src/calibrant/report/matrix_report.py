"""The report on several classes: the page of the predicted class, with sections on the whole matrix."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from calibrant._typing import ArrayLike
from calibrant.comparison import Comparison, compare
from calibrant.report.matrix_sections import matrix_sections
from calibrant.report.matrix_study import make_matrix_study, read_matrices
from calibrant.report.page import write_study
from calibrant.report.study import FOLDS, LEVEL

COMMANDS = (
    "calibrant fit data.parquet --score a,b,c --method {method} -o calibration.json\n"
    "calibrant apply calibration.json new.parquet -o calibrated.parquet"
)


def write_matrix_report(
    path: str | os.PathLike[str],
    scores: ArrayLike | Comparison,
    y: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    space: str = "probability",
    classes: Sequence[Any] | None = None,
    method: str | None = None,
    title: str = "Calibration report",
    commands: str | None = None,
) -> None:
    """Write a report on the class probabilities or logits of a model as one HTML file that needs nothing else.

    It says whether the model is calibrated, shows the predicted class before and after calibration, compares the
    methods for several classes, and then shows the whole matrix: its proper scores, a small diagram of each class,
    those furthest off first, and which classes are confused. What comes after calibration is cross-fitted.

    Parameters
    ----------
    path : path-like
        Where to write; an existing file is replaced only when the new one is complete.
    scores : array-like of shape (n, K), or Comparison
        A column for each class; or a comparison, which has the rows and all predictions already.
    y : array-like of shape (n,)
        Labels; the columns are the sorted labels, or 0 … K − 1 where some classes have no rows.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights, counted as numbers of rows.
    space : {"probability", "decision"}
        What the scores are.
    classes : sequence, optional
        Names of the columns; by default the labels.
    method : str, optional
        The method to show; by default the one that the comparison recommends.
    title : str
        The heading of the page.
    commands : str, optional
        What the page shows for the command line, with ``{method}`` for the method; by default for any table.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from calibrant import compare
    >>> from calibrant.report import write_matrix_report
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.dirichlet(np.ones(3), 200)
    >>> y = (truth.cumsum(axis=1) < rng.random((200, 1))).sum(axis=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "report.html"
    ...     write_matrix_report(path, compare(truth, y, methods=["temperature"]), classes=["cat", "dog", "fox"])
    ...     "fox where cat is predicted" in path.read_text(encoding="utf-8")
    True
    """
    if isinstance(scores, Comparison):
        comparison = scores
    else:
        options: dict[str, Any] = {"sample_weight": sample_weight, "space": space, "level": LEVEL, "cv": FOLDS}
        comparison = compare(scores, y if y is not None else [], **options)
    study = make_matrix_study(comparison, method)
    sections = matrix_sections(read_matrices(comparison, study.name, classes))
    write_study(path, study, title, commands=commands or COMMANDS, sections=sections)
